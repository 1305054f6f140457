#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A recorder that is killed, a hundred times (ROUNDS), leaves the real library dormant and the
# program unharmed. (killed.sh has the other ways to attach, on a library that only has the probes.)
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"
rounds=${ROUNDS:-100}

CUPROBE_LOG=$tmp/log "$app" loop -q -d 170 -r 1000 -t2 >/dev/null &
target=$!
cleanup="kill $target 2>/dev/null"
sleep 0.3
for i in $(seq "$rounds"); do
	rm -f k.cup*
	"$cuprobe" record -q -o k.cup -p $target >out 2>err &
	killed=$!
	until_line "cuprobe.*: active" log
	[ $((i % 3)) = 0 ] && sleep 0.2
	kill -KILL $killed
	wait $killed 2>/dev/null
	until_line "cuprobe.*: dormant" log
	for _ in $(seq 100); do
		[ -z "$(consumed $target)" ] && break
		sleep 0.05
	done
	[ -z "$(consumed $target)" ] || fail "round $i: still raised: $(consumed $target)"
	kill -0 $target || fail "round $i: the program is gone"
	: >log
done

# The next one finds everything; nothing is left over from those before.
timeout 60 "$cuprobe" record -q --graphs=node -d 1 -o a.cup -p $target >out 2>err || fail "the last"
expect "Nothing was lost: " out
"$cuprobe" report --json a.cup >report.json
value report.json "'kernels %d' % (sum(row['calls'] for row in it['kernels']) > 1000)" >few
expect "kernels 1" few
kill -USR1 $target
wait $target || fail "the program ends with $?"
[ "$(value "truth.$target.json" "it['violations']")" = "[]" ] || fail "violations"
[ "$(value "truth.$target.json" "it['cupti']['cuptiFinalize']")" -ge "$rounds" ] ||
	fail "CUPTI was not given back each time"
