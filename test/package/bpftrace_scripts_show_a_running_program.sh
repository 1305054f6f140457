#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bpftrace alone, on a program that has the library: kernels by name, launches by API, NVTX ranges,
# and the probes of the provider parcagpu.
set -eu
command -v bpftrace >/dev/null || { echo "SKIP: no bpftrace"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "SKIP: bpftrace needs root"; exit 77; }
work=$(mktemp -d)
app=
trap 'kill ${app:-} 2>/dev/null || true; rm -rf "$work"' EXIT

CUDA_INJECTION64_PATH=$BUILD_DIR/src/inject/libcuprobe.so \
	"$BUILD_DIR/mock/mock_app" loop --quiet --rate=2000 --kernels=1 --name=first_kernel \
	--seconds=100 &
app=$!

has() # REGEX...: the output has such lines
{
	for line in "$@"; do
		grep -qE "$line" "$work/out" || return 1
	done
}

shows() # SCRIPT REGEX...: the script prints such lines within a few seconds
{
	name=$1
	shift
	timeout -s INT 60 bpftrace -I "$SOURCE_DIR/include" -p $app -o "$work/out" \
		"$SOURCE_DIR/scripts/$name" >"$work/err" 2>&1 &
	script=$!
	for _ in $(seq 300); do
		! has "$@" 2>/dev/null || break
		sleep 0.1
	done
	kill -INT $script
	wait $script || true
	has "$@" || {
		echo "$name does not show '$*':"
		cat "$work/out" "$work/err"
		exit 1
	}
}

ends_with() # SCRIPT REGEX: such a line is there when it has been ended after some seconds
{
	timeout -s INT 4 bpftrace -p $app -o "$work/out" "$SOURCE_DIR/scripts/$1" >"$work/err" 2>&1 || true
	grep -qE "$2" "$work/out" || {
		echo "$1 ends without '$2':"
		cat "$work/out" "$work/err"
		exit 1
	}
}

shows kernels.bt '^@us\[.*first_kernel.*\]:'
shows launches.bt '^@ns\[cudaLaunchKernel.*\]: .*count (= )?[0-9]+'
shows parcagpu.bt '^cuda_correlation +[0-9]+ +correlation [0-9]+ cbid 211 cudaLaunchKernel$' \
	'^kernel_executed .* correlation [0-9]+ device 0 stream [0-9]+ graph 0 node 0 [0-9]+ ns first_kernel$' \
	'^activity_batch +[0-9]+ +[0-9]+ kernels$' '^ .* correlation [0-9]+ [0-9]+ ns first_kernel$'
! grep -E ' (cbid [0-9]+|ns) *$' "$work/out" || { echo "parcagpu.bt misses a name"; exit 1; }
ends_with gpu-time-by-ustack.bt '^, first_kernel\]: [0-9]+$'
kill -0 $app

[ -x "$BUILD_DIR/test/nvtx/nvtx_stress" ] || exit 0
kill $app
NVTX_INJECTION64_PATH=$BUILD_DIR/src/inject/libcuprobe.so \
	"$BUILD_DIR/test/nvtx/nvtx_stress" steady 100 &
app=$!
shows nvtx.bt '^@us\[steady\]:'
shows nvtx-parca.bt '^@us\[steady\]:'
kill -0 $app
