#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `trace` prints events while they happen, and tells what is lost when it is.
. "$(dirname "$0")/common"
cd "$tmp" || exit 1

# trace ARGUMENT...: for 60 s at most
trace() {
	timeout 60 "$cuprobe" trace --via=$via --library "$CUDA_INJECTION64_PATH" "$@"
}

# A line an event; the command's output and exit status pass.
status=0
trace -- "$fire" say batches:30:10 exit:5 >out 2>err || status=$?
[ $status = 5 ] || fail "exit status $status, not the command's"
expect "wanted" out
[ "$(grep -c ' kernel ' out)" = 300 ] || fail "$(grep -c ' kernel ' out) of 300 lines"
[ ! -s err ] || { cat err; fail "there was nothing to tell"; }

# The same as JSON.
trace --json -- "$fire" batches:7:10 >out || fail "trace --json"
[ "$(grep -c '^{"kind":"kernel","pid":[0-9]*,"start_ns":[0-9]*,.*}$' out)" = 70 ] ||
	fail "not 70 objects"
if command -v python3 >/dev/null; then
	python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <out ||
		fail "JSON that cannot be read"
fi

# Only the kinds that were asked for.
trace --kinds=memcpy -- "$fire" batches:5:10 >out || fail "trace --kinds"
grep -q ' kernel ' out && fail "a kind that nobody asked for"

# Events are seen at once, not at the end.
"$cuprobe" trace --via=$via --library "$CUDA_INJECTION64_PATH" -- "$fire" batches:1:3 sleep:30000 >out 2>err &
tracer=$!
cleanup="kill $tracer 2>/dev/null"
for _ in $(seq 100); do
	[ "$(grep -c ' kernel ' out)" = 3 ] && break
	sleep 0.05
done
[ "$(grep -c ' kernel ' out)" = 3 ] || fail "nothing was printed while the command ran"
kill -TERM $tracer
status=0
wait $tracer || status=$?
[ $status = 143 ] || fail "the command ended by SIGTERM gives $status"
cleanup=:

# A reader that stops reading: what was lost is told, and how many there are.
mkfifo slow
"$fire" wanted sleep:300 batches:1:1 sleep:700 batches:4000:200 sleep:2500 batches:1:1 &
target=$!
cleanup="kill $target 2>/dev/null"
sleep 0.1
"$cuprobe" trace -p $target >slow 2>err &
tracer=$!
{ sleep 3; cat; } <slow >out
wait $tracer || { cat err; fail "a slow reader ends the trace"; }
printed=$(grep -c ' kernel ' out)
lost=$(sed -n 's/^cuprobe: lost on the way: \([0-9]*\) kernel records.*/\1/p' err |
	awk '{ n += $1 } END { print n + 0 }')
[ "$lost" -gt 0 ] || fail "nothing was lost: this tests nothing"
[ $((printed + lost)) = 800002 ] || fail "sent 800002, printed $printed, lost $lost"

# A reader that is gone ends it.
timeout 20 "$cuprobe" trace --via=$via --library "$CUDA_INJECTION64_PATH" -- \
	"$fire" batches:2000:100 2>err | head -1 >out
[ "$(wc -l <out)" = 1 ] || fail "no line for head"
exit 0
