#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In another pid namespace CUPTI gives the thread ids of that namespace; what is shown are the ones
# that everybody else sees.
. "$(dirname "$0")/common"
app=$BUILD_DIR/mock/mock_app
library=$BUILD_DIR/src/inject/libcuprobe.so
[ -x "$app" ] || { echo "SKIP: the simulator is not built"; exit 77; }
unshare -pf --mount-proc true 2>/dev/null || { echo "SKIP: no pid namespaces"; exit 77; }

timeout 60 "$cuprobe" record -q --via=$via --library "$library" -o "$tmp/n.cup" -- \
	unshare -pf --mount-proc "$app" loop -d 3 -q --rate 100 -t 2 >"$tmp/out" 2>&1 &
recording=$!
for _ in $(seq 100); do
	pid=$(pgrep -f "^$app loop" -n) && [ "$(find "/proc/$pid/task" -maxdepth 1 | wc -l)" -ge 4 ] &&
		break
	sleep 0.05
done
ls "/proc/$pid/task" >"$tmp/threads"
wait $recording || { cat "$tmp/out"; fail "record"; }

"$cuprobe" export -q -f csv -o "$tmp/n.csv" "$tmp/n.cup"
column=$(head -n 1 "$tmp/n.csv" | tr , '\n' | grep -n '^thread$' | cut -d : -f 1)
grep '^api,' "$tmp/n.csv" | cut -d , -f "$column" | sort | uniq -c |
	while read -r calls thread; do
		# The calls of a thread that is gone before anybody can look it up keep its own id.
		[ "$calls" -lt 50 ] || grep -q "^$thread$" "$tmp/threads" || echo "$calls $thread"
	done >"$tmp/strangers"
[ ! -s "$tmp/strangers" ] || { cat "$tmp/strangers"; fail "threads that nobody else knows"; }
[ "$(grep -c '^api,' "$tmp/n.csv")" -gt 400 ] || fail "hardly any calls"
exit 0
