#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tree of `make dist` takes every library but glibc's from itself, wherever it is moved.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make -s -o all -C "$SOURCE_DIR" dist BUILD="$BUILD_DIR" DIST="$work/made" >"$work/log" 2>&1 || {
	cat "$work/log"
	exit 1
}
mv "$work/made" "$work/else where"
dist="$work/else where"

"$dist/bin/cuprobe" --version >/dev/null
if ldd "$dist/bin/cuprobe" | grep '=> /' |
	grep -vE '^\s*(libc|libm|libdl|libpthread|librt)\.so|=> '"$dist/bin/\.\./lib/"; then
	echo "the command takes these from the machine"
	exit 1
fi
[ -e "$dist/lib/libcuprobe.so" ]
[ -e "$dist/include/cuprobe/abi.h" ]
[ -e "$dist/share/man/man1/cuprobe.1" ]
grep -qE 'glibc 2\.([0-9]|[12][0-9]|3[0-6]) or newer' "$work/log" || {
	echo "needs a newer glibc than Debian 12 has:"
	cat "$work/log"
	exit 1
}
