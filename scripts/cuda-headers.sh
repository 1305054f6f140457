#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches NVIDIA's CUDA, CUPTI and NVTX headers from PyPI into DIR/include, for machines without a CUDA
# toolkit. Only headers are kept: nothing of NVIDIA's is linked or shipped.
#
#	scripts/cuda-headers.sh DIR
set -eu

# One release of the toolkit: 13.0.
packages="nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88
	nvidia-nvtx==13.0.85"

if [ $# != 1 ]; then
	echo "usage: cuda-headers.sh DIR" >&2
	exit 2
fi
dir=$1
[ ! -e "$dir/include/cupti.h" ] || exit 0
if ! python3 -m pip --version >/dev/null 2>&1; then
	echo "cuda-headers.sh: no pip: apt-get install python3-pip" >&2
	exit 1
fi

# shellcheck disable=SC2086 # a list of packages
echo "cuda-headers.sh: fetching from PyPI:" $packages
mkdir -p "$dir"
work=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086 # a list of packages
python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$work" $packages
python3 - "$work" <<'PYTHON'
import glob, os, sys, zipfile

work = sys.argv[1]
for wheel in glob.glob(os.path.join(work, "*.whl")):
    with zipfile.ZipFile(wheel) as z:
        z.extractall(work, [n for n in z.namelist() if "/include/" in n])
PYTHON
mv "$work/nvidia/cu13/include" "$dir/include"
