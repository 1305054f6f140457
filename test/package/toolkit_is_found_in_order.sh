#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The places that may hold the CUDA toolkit, each hidden in turn, in both of CUPTI's layouts.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CUPROBE_CUDA_PATH CUDAToolkit_ROOT CUDA_HOME CUDA_PATH
cd "$SOURCE_DIR"

search() # STEPS [CMAKE_FLAG...]: what the search says
{
	steps=$1
	shift
	cmake "$@" "-DCUPROBE_TOOLKIT_SEARCH=$steps" -P scripts/cmake/CuprobeToolkit.cmake 2>&1
}

toolkit() # NAME LAYOUT: makes a toolkit of empty headers
{
	mkdir -p "$work/$1/include" "$work/$1/$2" "$work/$1/bin"
	: >"$work/$1/include/cuda.h"
	: >"$work/$1/$2/cupti.h"
	printf '#!/bin/sh\n' >"$work/$1/bin/nvcc"
	chmod +x "$work/$1/bin/nvcc"
}

says() # EXPECTED OUTPUT
{
	echo "$2" | tr -s '\n ' ' ' | grep -qF -- "$1" || {
		printf 'wanted: %s\ngot: %s\n' "$1" "$2"
		exit 1
	}
}

toolkit named include
toolkit root extras/CUPTI/include
toolkit home include
toolkit path include
mkdir -p "$work/empty/include"
all="path;root;environment;nvcc"
export CUDA_HOME="$work/home" CUDAToolkit_ROOT="$work/root" PATH="$work/path/bin:$PATH"

says "(path): $work/named/include" "$(search "$all" "-DCUPROBE_CUDA_PATH=$work/named")"
says "(root): $work/root/include;$work/root/extras/CUPTI/include" "$(search "$all")"
unset CUDAToolkit_ROOT
says "(environment): $work/home/include" "$(search "$all")"
unset CUDA_HOME
says "(nvcc): $work/path/include" "$(search "$all")"

says "'$work/empty' has no cuda.h and cupti.h; looking elsewhere" \
	"$(search "$all" "-DCUPROBE_CUDA_PATH=$work/empty")"
if output=$(search "path;root;environment"); then
	echo "no toolkit, and configure went on: $output"
	exit 1
fi
says "-DCUPROBE_CUDA_PATH=/path/to/cuda, or fetch the headers" "$output"
