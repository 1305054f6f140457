#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PC sampling attached and detached again and again while kernels run: no leak, no hang, and the speed
# of before afterwards.
#
#	stalls_cycles.sh DIST SCRATCH [CYCLES]
set -eu
dist=$1 scratch=$2 cycles=${3:-100}

CUDA_INJECTION64_PATH=$dist/lib/libcuprobe.so "$dist/bench/stalls" --seconds $((cycles * 2 + 40)) \
	>"$scratch/cycles.out" &
pid=$!
trap 'kill $pid 2>/dev/null || true' EXIT
until grep -q ready "$scratch/cycles.out"; do
	kill -0 $pid || { echo "FAIL stalls ends early"; exit 1; }
	sleep 0.2
done

resident()
{
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status"
}

sleep 2
done=0 warm=0 hung=0
while [ $done -lt "$cycles" ]; do
	rm -f "$scratch/cycle.cup"
	timeout 30 "$dist/bin/cuprobe" record -q --kinds=pc_sample -d 0.5 -o "$scratch/cycle.cup" -p $pid \
		>/dev/null || hung=$((hung + 1))
	done=$((done + 1))
	[ $done != $((cycles / 5)) ] || warm=$(resident)
done
sleep 3
last=$(resident)
[ $hung = 0 ] && echo "PASS $cycles recorders came and went" || echo "FAIL $hung of $cycles recorders failed"
if [ $((last - warm)) -le 16384 ]; then
	echo "PASS resident memory: $warm kB after a fifth of them, $last kB after all"
else
	echo "FAIL resident memory grows: $warm kB after a fifth of them, $last kB after all"
	hung=1
fi
kill -0 $pid && echo "PASS the program runs on" || { echo "FAIL the program is gone"; hung=1; }
[ $hung = 0 ]
