#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program that profiles itself with CUPTI, as with torch.profiler: nobody's trace is taken away. It
# launches for 3 s, profiles itself for 3 s, and launches for 3 s more.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"
whole="rival: 1500 kernel records of 1500 launches"

# start RATE
start() {
	"$app" rival -d 0 -n 1500 -r "$1" >out 2>err &
	target=$!
	cleanup="kill -KILL $target 2>/dev/null"
}

# record_after SECONDS_BEFORE SECONDS: what came is in summary and a.cup
record_after() {
	rm -f a.cup
	sleep "$1"
	timeout 60 "$cuprobe" record -q --kinds=kernel -d "$2" -o a.cup -p $target >summary 2>&1 ||
		{ cat summary; fail "record"; }
}

kernels() {
	"$cuprobe" report --json a.cup >report.json
	value report.json "sum(row['calls'] for row in it['kernels'])"
}

# The library sleeps.
start 5000
wait $target || { cat out err; fail "with nobody attached: $?"; }
expect "$whole" out

# A reader has left before.
start 500
record_after 0.5 1
[ "$(kernels)" -gt 250 ] || fail "before: $(kernels) kernels"
wait $target || { cat out err; fail "after a reader: $?"; }
expect "$whole" out

# A reader that comes meanwhile waits, is told for whom, and gets what comes then.
start 500
record_after 4 20
wait $target || { cat out err; fail "beside a reader: $?"; }
expect "$whole" out
grep -q "CUPTI is in use by torch.profiler" summary || { cat summary; fail "not told"; }
[ "$(kernels)" -gt 250 ] || fail "after: $(kernels) kernels"

# CUPTI serves one libcupti of a process: one that the program loads beside ours is told of.
CUPROBE_CUPTI_PATH=$BUILD_DIR/mock/cupti-12.9 timeout 60 "$cuprobe" record -q --kinds=kernel -o a.cup -- \
	env -u MOCK_STRICT "$app" rival -d 0 -n 500 -r 500 >summary 2>&1
grep -q "loaded a libcupti beside ours, .*/libcupti.so.13" summary || { cat summary; fail "not told"; }
