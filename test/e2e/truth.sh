#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What was recorded is what happened, in every way to launch, to end, and for CUPTI to be difficult;
# and where something is missing the ledger says so.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"

# whole STATUS ORDERS MODE...
whole() {
	status=$1 orders=$2 got=0
	shift 2
	MOCK_DO=$orders recorded -- "$app" "$@" || got=$?
	[ $got = "$status" ] || { cat err; fail "$*: exit status $got"; }
	expect "Nothing was lost: " out
	is_true || fail "$* ($orders)"
}

for mode in "loop -t2 -g2 -s2 --api=mixed --copy-every=7" "soak -n 100" "llm -n 8" "all -n 3" \
	"modules" "loop --hostile-names" "loop -k2 --name-bytes=200000" \
	fork-before fork-after fork-after-exit fork-exec fork-workers \
	exit-handler exit-static exit-thread exit-main-thread; do
	# shellcheck disable=SC2086
	whole 0 "" $mode -q -n 200
done
MOCK_TEARDOWN=late whole 0 "" loop -q -n 2000 -t2
whole 0 "complete threads=8 order=random" loop -q -n 10000 -t4 -r 10000
whole 0 "complete late=40 threads=3 order=random" loop -q -n 3000 -t3 --copy-every=7

# What the library itself calls is not what the program did.
recorded -- "$app" loop -q -n 10 || fail "loop"
grep -q "cuLaunchKernel" out || fail "no calls"
grep -q "cuDriverGetVersion" out && fail "the library's own calls are told"

# What CUDA still took at the end had no time to be done: no record of it was made.
recorded -- "$app" exit-busy -q -n 200 -t2 || fail "exit-busy"
is_accounted_for || fail "exit-busy"
MOCK_DO="fail cudaLaunchKernel 719 nth=50" recorded -- "$app" loop -q -n 100
expect "mock_app: cudaLaunchKernel.*(719)" err
is_accounted_for || fail "a program that ends in the middle"

MOCK_DO="drop kernel every=10" recorded -- "$app" loop -q -n 1000 || fail "drop"
expect "100 of [0-9]* records were lost:" out
expect "  100 in CUPTI itself" out
is_accounted_for || fail "drop"
MOCK_DO="set kernel every=10 start=0 end=0" recorded -- "$app" loop -q -n 1000 || fail "set"
expect "Left out: 100 records with impossible times" out
is_accounted_for || fail "set"

# What CUPTI never gives back is counted, though not of how many records it was.
MOCK_DO="complete late=20000" recorded -- "$app" loop -q -n 1000 || fail "late"
grep -q "CUPTI kept [1-9][0-9]* written buffers at the end" out || fail "kept buffers are not told"
grep -q "^Nothing was lost" out && fail "kept buffers are no loss"

for mode in exit-quick exit-signal; do
	recorded -- "$app" $mode -q -n 200
	expect "Killed, or left with _exit: 1 of the processes" out
	grep -q "^Nothing was lost" out && fail "$mode: claims that nothing was lost"
done
exit 0
