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

# Microseconds, the median of the rounds in the SECONDS to come.
round_us() # SECONDS
{
	from=$(grep -c round "$scratch/cycles.out")
	sleep "$1"
	sed -n "1,${from}d; s/^round //p" "$scratch/cycles.out" | sort -n |
		awk '{ us[NR] = $1 } END { print us[int((NR + 1) / 2)] }'
}

wrong=0
# shellcheck disable=SC2086 # words of test
claim() # CONDITION TEXT
{
	if test $1; then
		echo "PASS $2"
	else
		echo "FAIL $2"
		wrong=1
	fi
}

before=$(round_us 4)
done=0 failed=0 warm=0 sizes=''
while [ $done -lt "$cycles" ]; do
	rm -f "$scratch/cycle.cup"
	timeout 30 "$dist/bin/cuprobe" record -q --kinds=pc_sample -d 0.5 -o "$scratch/cycle.cup" -p $pid \
		>/dev/null || failed=$((failed + 1))
	done=$((done + 1))
	[ $((done % 10)) != 0 ] || sizes="$sizes $(resident)"
	[ $done != $((cycles / 5)) ] || warm=$(resident)
done
sleep 1
after=$(round_us 4)
last=$(resident)
claim "$failed = 0" "$failed of $cycles recorders failed"
claim "$((last - warm)) -le 4096" \
	"resident memory: $warm kB after a fifth of them, $last kB after all; every tenth:$sizes"
claim "${after%.*} -le $((${before%.*} * 101 / 100))" \
	"a round of kernels takes $before us before the first, $after us after the last"
kill -0 $pid && alive=1 || alive=0
claim "$alive = 1" "the program runs on"
exit $wrong
