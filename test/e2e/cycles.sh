#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Readers that come and go while a program launches: CUPTI is given back each time without harm, and
# the program's memory stays level, and less when nobody comes any more. CYCLES says how often.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"
cycles=${CYCLES:-16}
simulator_kb=2048 # its queues grow when it is held up

# they_come_and_go OPTION...: of record
they_come_and_go() {
	"$app" loop -q -d 200 -t 2 -r 5000 >out 2>err &
	target=$!
	cleanup="kill -KILL $target 2>/dev/null"
	sleep 0.5
	for cycle in $(seq "$cycles"); do
		rm -f a.cup
		"$cuprobe" record -q "$@" -d 0.3 -o a.cup -p $target >summary 2>&1 ||
			{ cat summary err; fail "$*: recorder $cycle"; }
		[ "$cycle" != $((cycles / 2)) ] || warm=$(resident_kb)
	done
	"$cuprobe" report --json a.cup >a.json || fail "$*: report"
	[ "$(value a.json "[r for r in it['ledger'] if r['probe'] in ('kernel', 'pc_sample') and
		r['fired'] != r['delivered'] + r['lost_on_the_way']]")" = "[]" ] ||
		{ value a.json "it['ledger']"; fail "$*: the last ledger has what was before"; }
	last=$(resident_kb)
	for _ in $(seq 100); do
		at_rest=$(resident_kb)
		[ "$at_rest" -gt $((last - 4096)) ] || break
		sleep 0.1
	done
	kill -USR1 $target
	wait $target || { cat err; fail "$*: the program ends with $?"; }
	[ "$last" -le $((warm + simulator_kb)) ] || fail "$*: grew from $warm KB to $last KB"
	[ "$(value "truth.$target.json" "it['cupti']['cuptiFinalize'] >= $cycles / 2")" = True ] ||
		fail "$*: CUPTI was kept"
	[ "$at_rest" -le $((last - 4096)) ] || fail "$*: buffers are kept: $last KB, then $at_rest KB"
	echo "$*: $cycles times, $warm KB to $last KB, at rest $at_rest KB"
}

they_come_and_go --kinds=pc_sample
they_come_and_go --kinds=kernel --stacks=native
