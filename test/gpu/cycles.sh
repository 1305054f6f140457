#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A recorder that is attached and detached again and again while a program works: no leak, no hang, no
# crash, and the speed of before afterwards.
#
#	cycles.sh DIST SCRATCH CYCLES RECORD_OPTIONS PROGRAM [ARGUMENT...]
#
# PROGRAM prints "ready" when it is, and "round US", the microseconds of each round of its work. Each
# cycle takes a second; the program is ended. SLOWER_PERCENT and LEFT_KB say how much slower a round
# may be afterwards (1), and how much memory a cycle may leave behind (64 kB); with "any" it is only
# printed.
set -eu
dist=$1 scratch=$2 cycles=$3 options=$4
shift 4
slower=${SLOWER_PERCENT:-1} left=${LEFT_KB:-64}

CUDA_INJECTION64_PATH=$dist/lib/libcuprobe.so "$@" >"$scratch/cycles.out" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || true' EXIT
until grep -q ready "$scratch/cycles.out"; do
	kill -0 $pid || { echo "FAIL the program ends early"; exit 1; }
	sleep 0.2
done

resident()
{
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status"
}

# Microseconds, the median of the rounds in the SECONDS to come.
round_us() # SECONDS
{
	from=$(wc -l <"$scratch/cycles.out")
	sleep "$1"
	sed -n "1,${from}d; s/^round //p" "$scratch/cycles.out" | sort -n |
		awk '{ us[NR] = $1 } END { print us[int((NR + 1) / 2)] }'
}

wrong=0
# shellcheck disable=SC2086 # words of test
claim() # CONDITION TEXT
{
	if [ "$1" = any ]; then
		echo "     $2"
	elif test $1; then
		echo "PASS $2"
	else
		echo "FAIL $2"
		wrong=1
	fi
}

before=$(round_us 4)
done=0 failed=0 warm=0 sizes=''
while [ $done -lt "$cycles" ] && kill -0 $pid 2>/dev/null; do
	rm -f "$scratch/cycle.cup"
	# shellcheck disable=SC2086 # options
	timeout 30 "$dist/bin/cuprobe" record -q $options -d 0.5 -o "$scratch/cycle.cup" -p $pid \
		>/dev/null || failed=$((failed + 1))
	done=$((done + 1))
	[ $((done % 10)) != 0 ] || sizes="$sizes $(resident)"
	[ $done != $((cycles / 5)) ] || warm=$(resident)
done
sleep 1
kill -0 $pid 2>/dev/null && alive=1 || alive=0
claim "$alive = 1" "the program runs on after $done of $cycles recorders, of which $failed failed"
[ $alive = 1 ] || { tail -3 "$scratch/cycles.out"; exit 1; }
claim "$failed = 0" "no recorder failed"
after=$(round_us 4)
claim "${after:-none} != none" "its work goes on"
[ -n "$after" ] || exit 1
last=$(resident)
[ "$left" = any ] || left="$((last - warm)) -le $((left * (cycles - cycles / 5)))"
[ "$slower" = any ] || slower="${after%.*} -le $((${before%.*} * (100 + slower) / 100))"
claim "$left" \
	"resident memory: $warm kB after a fifth of them, $last kB after all; every tenth:$sizes"
claim "$slower" "a round takes $before us before the first, $after us after the last"
exit $wrong
