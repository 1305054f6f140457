#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What cuprobe costs on a real GPU, beside the bare program, CUPTI's floor and torch.profiler:
# all cells take turns for several rounds, and one table of medians and ratios comes out.
# Needs root, a GPU, and a tree made by `make dist`; options: see bench_gpu.py --help.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dist=${CUPROBE_DIST:-$here/../dist}
bench=$dist/bench
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)

[ "$(id -u)" = 0 ] || { echo "SKIP: needs root for BPF"; exit 77; }
[ -e /dev/nvidiactl ] || { echo "SKIP: needs an NVIDIA GPU"; exit 77; }
[ -x "$dist/bin/cuprobe" ] || { echo "bench-gpu.sh: no '$dist/bin/cuprobe': run 'make dist'" >&2; exit 2; }
for name in launch graph; do
	[ -x "$bench/$name" ] && continue
	mkdir -p "$bench"
	"$nvcc" -O2 -arch=native -cudart static -I"$here/../microbenchmarks" -o "$bench/$name" \
		"$here/../microbenchmarks/$name.cu" "$here/../microbenchmarks/bench.c"
done
exec python3 "$here/bench_gpu.py" --dist "$dist" "$@"
