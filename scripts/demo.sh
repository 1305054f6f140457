#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records a program with cuprobe and shows what was recorded: a real CUDA program where there is a
# GPU and a compiler for it, else a model's inference on the simulator. With BPF where that is
# allowed, without it elsewhere.
#
#	scripts/demo.sh BUILD
set -eu

build=$(realpath "${1:-build}")
out=$build/demo
cuprobe=$build/src/collector/cuprobe

mkdir -p "$out"
source=$(cd "$(dirname "$0")/.." && pwd)
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -e /dev/nvidiactl ] && "$nvcc" -O2 -arch=native -cudart static \
	-I"$source/microbenchmarks" -o "$out/mix" "$source/test/gpu/mix.cu" \
	"$source/microbenchmarks/bench.c"; then
	echo "demo: a CUDA program on this machine's GPU"
	set -- "$out/mix"
else
	echo "demo: no GPU or no nvcc here: a model's inference on the simulator"
	set -- env "LD_LIBRARY_PATH=$build/mock" "$build/mock/mock_app" llm
fi

capture=$out/cuprobe.cup
trace=$out/trace.json.gz
flame=$out/flame.html
"$cuprobe" record -o "$capture" -- "$@"
"$cuprobe" export -q -f chrome -o "$trace" "$capture"
"$cuprobe" flame -q -o "$flame" "$capture"

echo
echo "capture:      $capture   (cuprobe report, cuprobe export, cuprobe flame)"
echo "flame graph:  $flame   (open it in a browser)"
echo "Chrome trace: $trace   (open it in ui.perfetto.dev or chrome://tracing)"
