#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every instruction of a cubin has the source lines that nvdisasm says: in the cubin that lies here
# those that it said once; where nvcc and nvdisasm are, in cubins made in other ways too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
lines=$BUILD_DIR/test/cubin/cubin_lines
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

sort "$here/kernels.lines" >"$folder/expected"
"$lines" "$here/kernels.cubin" | sort >"$folder/ours"
diff -u "$folder/expected" "$folder/ours"
[ "$(grep -c . "$folder/ours")" -gt 400 ]

find_tool() # NAME
{
	command -v "$1" || { [ ! -x "/usr/local/cuda/bin/$1" ] || echo "/usr/local/cuda/bin/$1"; }
}
nvcc=$(find_tool nvcc)
nvdisasm=${NVDISASM:-$(find_tool nvdisasm)}
if [ -z "$nvcc" ] || [ -z "$nvdisasm" ]; then
	echo "the cubin at hand is right; no nvcc and nvdisasm to try others"
	exit 0
fi
for flags in "-arch=sm_90 -lineinfo" "-arch=sm_80 -lineinfo" "-arch=sm_90 -G" "-arch=sm_90" \
	"-arch=sm_90 -lineinfo -rdc=true"; do
	# shellcheck disable=SC2086 # several flags
	"$nvcc" $flags -cubin -o "$folder/try.cubin" "$here/kernels.cu"
	python3 "$here/nvdisasm_lines.py" "$nvdisasm" "$folder/try.cubin" | sort >"$folder/expected"
	"$lines" "$folder/try.cubin" | sort >"$folder/ours"
	diff -u "$folder/expected" "$folder/ours"
	echo "equal: $flags: $(grep -c . "$folder/ours") instructions"
done
