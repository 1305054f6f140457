#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# After a recorder left, CUPTI is given back in the way that harms no CUDA graph, and the next one
# finds everything as the first did. (unit_inject_release has every case, this is the whole chain.)
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"

# start MODE...: a program that runs for 30 s, from which on `target` is its pid
start() {
	rm -f truth.*.json log
	CUPROBE_LOG=$tmp/log "$app" "$@" -q -d 30 -r 1000 >/dev/null &
	target=$!
	cleanup="kill $target 2>/dev/null"
	sleep 0.3
}

# attached ARGUMENT...: a recording of half a second of it
attached() {
	rm -f a.cup
	timeout 60 "$cuprobe" record -q -d 0.5 -o a.cup "$@" -p $target >out 2>err ||
		{ cat err; fail "record -p"; }
	expect "Nothing was lost: [1-9][0-9]* " out
	grep -q "^Killed" out && fail "the program is said to be killed"
	"$cuprobe" report --json a.cup >report.json || fail "report"
}

# some TABLE: it has entries
some() {
	[ "$(value report.json "len(it['$1'])")" != 0 ] || { cat out; fail "no $1"; }
}

# released_ms: how long the last release took, by the log ("cuprobe[PID] SECONDS note: STATE ...")
released_ms() {
	awk '$4 ~ /^releasing/ { from = $2 } $4 ~ /^dormant/ { to = $2 }
		END { printf("%d\n", (to - from) * 1000) }' log
}

# calls FUNCTION COUNT: of CUPTI, by the program that has ended well
calls() {
	[ "$(value "truth.$target.json" "it['cupti'].get('$1', 0)")" = "$2" ] ||
		fail "$1 was called $(value "truth.$target.json" "it['cupti'].get('$1', 0)") times"
}

# ended: the program is asked to end, and had no trouble
ended() {
	kill -USR1 $target
	status=0
	wait $target || status=$?
	[ $status = 0 ] || fail "the program ends with $status"
	[ "$(value "truth.$target.json" "it['violations']")" = "[]" ] || fail "violations"
}

start loop --graph=20
for _ in 1 2; do
	attached
	some kernels
	[ "$(value report.json "len(it['graphs'])")" = 0 ] || fail "whole graphs, attached late"
	grep -q "CUDA graphs are recorded node by node" out || fail "late, and nothing is said"
	dormant
	[ "$(released_ms)" -ge 900 ] || fail "finalised after $(released_ms) ms: too soon to be sure"
done
ended
calls cuptiFinalize 2
calls cuptiUnsubscribe 0

start loop --graph=20 -t3
for _ in 1 2; do
	attached --graphs=node
	some kernels
	grep -q "CUPTI stays loaded" out || fail "only unsubscribed, and nothing is said"
	dormant
done
ended
calls cuptiFinalize 0
calls cuptiUnsubscribe 2

start loop -t4
for _ in 1 2 3; do
	attached
	some kernels
	grep -q "CUDA graphs" out && fail "there are no graphs to speak of"
	dormant
done
ended
calls cuptiFinalize 3

# From the start graphs are recorded as a whole; CUPTI is then kept.
rm -f truth.*.json a.cup
timeout 60 "$cuprobe" record -q -d 0.7 -o a.cup -- "$app" loop -q -d 2 --graph=20 -r 1000 >out \
	2>err || fail "record --"
"$cuprobe" report --json a.cup >report.json
some graphs
[ "$(value report.json "len(it['kernels'])")" = 0 ] || fail "kernels of graphs beside the graphs"
target=$(value report.json "it['processes'][0]['pid']")
calls cuptiFinalize 0

# A recorder of kernels leaves, one of calls stays: CUPTI is kept when that leaves too.
start loop --graph=20
timeout 60 "$cuprobe" record -q -d 1.5 -o b.cup --kinds=api -p $target >out 2>err &
stays=$!
sleep 0.3
attached --graphs=node --kinds=kernel
some kernels
wait $stays || fail "the recorder that stayed"
dormant
ended
calls cuptiFinalize 0
