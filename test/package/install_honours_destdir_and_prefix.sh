#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make install` puts each file where packagers expect it, and nothing anywhere else.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make -s -o all -C "$SOURCE_DIR" install BUILD="$BUILD_DIR" DESTDIR="$work" prefix=/usr >"$work.log" 2>&1 || {
	cat "$work.log"
	exit 1
}
rm -f "$work.log"
(cd "$work" && find . ! -type d | sort) >"$work/found"
sed -i '/^\.\/found$/d' "$work/found"
cat >"$work/expected" <<'FILES'
./usr/bin/cuprobe
./usr/include/cuprobe/abi.h
./usr/lib/libcuprobe.so
./usr/share/cuprobe/gpu-time-by-ustack.bt
./usr/share/cuprobe/kernels.bt
./usr/share/cuprobe/launches.bt
./usr/share/cuprobe/nvtx-parca.bt
./usr/share/cuprobe/nvtx.bt
./usr/share/cuprobe/parcagpu.bt
./usr/share/man/man1/cuprobe.1
FILES
diff -u "$work/expected" "$work/found"
"$work/usr/bin/cuprobe" --version >/dev/null
