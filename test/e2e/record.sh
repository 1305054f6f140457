#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `record` and `stat`: what they write, how they end, and what is left when they cannot.
. "$(dirname "$0")/common"
cd "$tmp" || exit 1

# record ARGUMENT...: for 60 s at most
record() {
	timeout 60 "$cuprobe" record --via=$via --library "$CUDA_INJECTION64_PATH" "$@"
}

# kernels FILE: how many a capture holds
kernels() {
	"$cuprobe" report --json --kinds=kernel "$1" |
		sed -n 's/.*"calls":\([0-9]*\),.*"name":.*/\1/p'
}

# The command's exit status and output pass; the table says what the capture holds.
status=0
record -o a.cup -- "$fire" say batches:30:10 exit:5 >out 2>err || status=$?
[ $status = 5 ] || fail "exit status $status, not the command's"
expect "wanted" out
expect "Nothing was lost: " out
expect "cuprobe: wrote 'a.cup', 300 events" err
[ "$(kernels a.cup)" = 300 ] || fail "$(kernels a.cup) kernels in the capture"
[ "$(stat -c %a a.cup)" = 600 ] || fail "others can read the capture"
[ ! -e a.cup.partial ] || fail "the partial file is left"

# A name of its own each time, when none is given.
record -q -- "$fire" batches:1:1 >out 2>err || fail "no default name"
ls cuprobe-fire-*.cup >names || fail "no default name"
[ ! -s err ] || fail "-q is not quiet"

# Nothing to run: the shell's exit status, and no file.
status=0
record -o none.cup -- ./not-there >out 2>err || status=$?
[ $status = 127 ] || fail "exit status $status for a command that is not there"
[ "$(wc -l <err)" = 1 ] || fail "more than one line"
[ -z "$(find . -name 'none*')" ] || fail "a file of nothing"

# stat gives the same sums, and JSON.
timeout 60 "$cuprobe" stat --via=$via --library "$CUDA_INJECTION64_PATH" --json -- "$fire" batches:7:10 >out ||
	fail "stat"
grep -q '"calls":70,' out || fail "stat sums up something else"
[ "$(find . -name '*.cup' | wc -l)" = 2 ] || fail "stat wrote a capture"

if [ $via = bpf ]; then
	# A running process, from the middle on, for a while.
	# (A semaphore rises a moment before the breakpoint is in place.)
	"$fire" wanted sleep:300 batches:20:10 sleep:30000 &
	other=$!
	cleanup="kill $other 2>/dev/null"
	sleep 0.3
	record -d 1 -o pid.cup -p $other >out 2>err || fail "record -p"
	[ "$(kernels pid.cup)" = 200 ] || fail "attached late: $(kernels pid.cup) kernels"
	expect "Recorded .* 1\.[0-9]* s: " out

	# ^C ends in good order; so does SIGTERM.
	for signal in INT TERM; do
		"$cuprobe" record -o $signal.cup -p $other >out 2>err &
		recorder=$!
		until [ -n "$(consumed $other)" ]; do sleep 0.1; done
		sleep 0.3
		kill -$signal $recorder
		wait $recorder || fail "SIG$signal: exit status $?"
		expect "No process has sent anything" out # that program does not answer who comes
		expect "cuprobe: process $other did not answer" err
		"$cuprobe" report $signal.cup >out
		grep -q "capture ends" out && fail "SIG$signal: the capture is not whole"
	done
fi

# A signal to the recorder reaches the command, and its end is passed on.
"$cuprobe" record --via=$via --library "$CUDA_INJECTION64_PATH" -o c.cup -- "$fire" sleep:20000 >out 2>err &
recorder=$!
sleep 0.7
kill -TERM $recorder
status=0
wait $recorder || status=$?
[ $status = 143 ] || fail "the command ended by SIGTERM gives $status"

# After SIGKILL the partial file has all but the last second.
"$cuprobe" record --via=$via --library "$CUDA_INJECTION64_PATH" -o k.cup -- \
	"$fire" batches:40:10 sleep:4000 >out 2>err &
recorder=$!
sleep 2.5
kill -KILL $recorder
wait $recorder 2>/dev/null
[ ! -e k.cup ] || fail "a killed recording looks whole"
"$cuprobe" report k.cup.partial >out || fail "what a killed recording left cannot be read"
expect "The capture ends without its last chunk" out
[ "$(kernels k.cup.partial)" = 400 ] || fail "$(kernels k.cup.partial) of 400 kernels survived"
status=0
record -o k.cup -- "$fire" >out 2>err || status=$?
[ $status = 1 ] || fail "another recording's partial file is overwritten"
expect "cuprobe: cannot write 'k.cup': 'k.cup.partial' exists" err

# A full disk is told, and what was written before is kept.
mkdir small
if mount -t tmpfs -o size=2m none small 2>/dev/null; then
	cleanup="kill $other 2>/dev/null; umount small"
	status=0
	# shellcheck disable=SC2046
	record -o small/x.cup -- "$fire" $(yes batches:500:100 sleep:10 | head -n 40) >out 2>err ||
		status=$?
	[ $status = 1 ] || fail "a full disk gives $status"
	expect "cuprobe: cannot write all of 'small/x.cup': No space left" err
	[ "$(kernels small/x.cup)" -gt 0 ] || fail "nothing is left of what was written"
	umount small
	cleanup="kill $other 2>/dev/null"
fi

# A folder that cannot be written to.
status=0
record -o no/such/x.cup -- "$fire" say >out 2>err || status=$?
[ $status = 1 ] || fail "no folder: exit status $status"
expect "cuprobe: cannot write 'no/such/x.cup': No such file" err
grep -q wanted out && fail "the command ran although nothing could be recorded"
exit 0
