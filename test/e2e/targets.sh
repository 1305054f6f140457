#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The real library in several processes at once: -p takes those that it names, -a all, -- a command
# with its descendants, each with its own sums; and nobody else's process is switched on.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"

# kernels PID: of that process in a.cup, and only of that
kernels() {
	"$cuprobe" report --json -p "$1" a.cup >report.json || fail "report -p $1"
	value report.json "sum(row['calls'] for row in it['kernels'])"
}

# listed: the pids in a.cup that sent records
listed() {
	"$cuprobe" report --json a.cup >report.json || fail "report"
	value report.json "*sorted({row['pid'] for row in it['ledger'] if row['probe'] == 'kernel'})"
}

"$app" loop -q -d 60 -r 500 &
one=$!
"$app" loop -q -d 60 -r 1000 --graph=3 &
two=$!
"$app" loop -q -d 60 -r 1000 &
other=$!
cleanup="kill $one $two $other 2>/dev/null"
sleep 0.4

# Those that -p names.
timeout 60 "$cuprobe" record -q --graphs=node -d 1 -o a.cup -p $one,$two >out 2>err &
recorder=$!
sleep 0.7
[ -z "$(consumed $other)" ] || fail "-p: another process is switched on"
wait $recorder || { cat err; fail "record -p"; }
expect "Nothing was lost: " out
[ "$(listed)" = "$one $two" ] || [ "$(listed)" = "$two $one" ] || fail "-p: $(listed)"
for pid in $one $two; do
	[ "$(kernels "$pid")" -gt 100 ] || fail "-p: $(kernels "$pid") kernels of $pid"
done

# All, with one that starts while it is recorded.
rm -f a.cup
timeout 60 "$cuprobe" record -q --graphs=node -d 3 -o a.cup -a >out 2>err &
recorder=$!
sleep 1
"$app" loop -q -n 700 &
new=$!
wait $new || fail "the new program ends with $?"
wait $recorder || { cat err; fail "record -a"; }
for pid in $one $two $other; do
	[ "$(kernels "$pid")" -gt 500 ] || fail "-a: $(kernels "$pid") kernels of $pid"
done
[ "$(kernels "$new")" -gt 0 ] || fail "-a: nothing of the program that started meanwhile"

# A command, what its shell starts, and what those fork.
recorded -- sh -c "'$app' fork-before -q -n 300 & '$app' loop -q -n 400; wait; exit 3"
status=$?
[ $status = 3 ] || fail "the command's status is $status"
expect "Nothing was lost: " out
is_true || fail "descendants"
[ "$(find . -name 'truth.*.json' | wc -l)" = 3 ] || fail "not three processes"
[ "$(listed | wc -w)" = 3 ] || fail "descendants: $(listed)"
recorded -- sh -c "'$app' loop -q -d 1 -r 100" &
recorder=$!
sleep 0.7
[ -z "$(consumed $one)$(consumed $two)$(consumed $other)" ] ||
	fail "--: a process that is no descendant is switched on"
wait $recorder || fail "record --"

kill -USR1 $one $two $other
for pid in $one $two $other; do
	wait "$pid" || fail "$pid ends with $?"
done
