#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A collector that is killed leaves no semaphore raised and no program harmed, a hundred times.
. "$(dirname "$0")/common"
rounds=${ROUNDS:-100}

"$fire" sleep:170000 &
target=$!
cleanup="kill $target 2>/dev/null"
sleep 0.1
for i in $(seq "$rounds"); do
	case $((i % 4)) in
	0) set -- -p $target ;;
	1) set -- -a ;;
	2) set -- -e -p $target ;;
	3) set -- -- "$fire" sleep:3000 ;;
	esac
	"$listen" "$@" >"$tmp/out" &
	killed=$!
	until_line attached "$tmp/out"
	kill -KILL $killed
	wait $killed 2>/dev/null
	for _ in $(seq 100); do
		[ -z "$(consumed $target)" ] && break
		sleep 0.05
	done
	[ -z "$(consumed $target)" ] || fail "round $i: still raised: $(consumed $target)"
done
kill -0 $target || fail "the program is gone"

# The next run removes the copies that the killed ones left.
listen -- true >/dev/null
left=$(find /tmp -maxdepth 1 -name "cuprobe-$killed-*")
[ -z "$left" ] || fail "left behind: $left"
