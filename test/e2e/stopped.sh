#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A recorder that is stopped while the program launches at full rate: the program's memory stays
# level, its rate is held, and what is lost is counted to the record. SECONDS_STOPPED says how long.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"
stopped=${SECONDS_STOPPED:-6}

# A million records a second, more than the ring holds in that time. From the start, so that no batch
# is fired before the breakpoints are in place.
MOCK_GPU=instant "$cuprobe" record -q --via=$via --graphs=node --kinds=kernel -o a.cup -- \
	sh -c "echo \$\$ >pid; exec '$app' soak -q -d 120 -r 10000" >out 2>err &
recorder=$!
cleanup="kill -KILL $recorder 2>/dev/null"

sleep 2
target=$(cat pid)
cleanup="kill -KILL $target $recorder 2>/dev/null"
kill -STOP $recorder
sleep 1 # what there is room for is taken
before=$(resident_kb)
sleep "$stopped"
after=$(resident_kb)
kill -CONT $recorder
sleep 1
kill -USR1 "$target"
wait $recorder || { cat err; fail "status $?"; }

[ "$after" -le $((before + 4096)) ] || fail "grew from $before KB to $after KB in $stopped s"
"$cuprobe" report --json a.cup >report.json || fail "report"
ring=$(value report.json "it['totals']['lost_ring']")
[ "$ring" -gt 0 ] || fail "nothing was lost: this tests nothing"
# fired = delivered + lost, produced = all fates; both to the record
for check in "row['fired'] == row['delivered'] + row['lost_on_the_way']" \
	"row['produced'] == row['fired'] + row['lost_in_process'] + row['discarded'] + row['invalid'] +
		row['pending']"; do
	[ "$(value report.json "[row for row in it['ledger'] if not ($check) and row['probe'] ==
		'kernel']")" = "[]" ] || { cat report.json; fail "the books do not balance: $check"; }
done
made=$(value "truth.$target.json" "it['records']['10']['made']")
produced=$(value report.json "[row['produced'] for row in it['ledger'] if row['probe'] == 'kernel'][0]")
[ "$produced" = "$made" ] || fail "$produced of $made records are accounted for"
# 10000 graphs a second were asked for; half of that is within what a busy machine does.
launches=$(value "truth.$target.json" "it['graph_launches']")
least=$(((stopped + 4) * 5000))
[ "$launches" -ge $least ] || fail "$launches launches: the program was slowed"
echo "lost $ring of $made records, $before KB to $after KB, $launches launches"
