#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `-p` attaches to running processes, to them alone, and lets go of them.
. "$(dirname "$0")/common"

for way in "" -e; do
	"$fire" sleep:6000 exit:0 &
	other=$!
	"$fire" wanted sleep:200 batches:5:10 thread batches:5:10 unwanted say >"$tmp/one" &
	one=$!
	"$fire" wanted sleep:200 batches:5:11 unwanted say >"$tmp/two" &
	two=$!
	cleanup="kill $one $two $other 2>/dev/null"
	sleep 0.2
	# shellcheck disable=SC2086
	listen $way -d 1000 -p $one,$two >"$tmp/out" &
	listening=$!
	until_line attached "$tmp/out"
	[ "$(consumed $one)" = kernel,string,info,status ] || fail "not attached to the first"
	[ -z "$(consumed $other)" ] || fail "attached to another process"
	wait $listening
	expect "records $one kernel: 100 missed 0 twice 0" "$tmp/out"
	expect "records $two kernel: 55 missed 0 twice 0" "$tmp/out"
	until_line unwanted "$tmp/one"
	until_line unwanted "$tmp/two"
	kill $other
done

# A process that has not loaded the library yet, but was told to.
mkfifo "$tmp/go"
sh -c "read -r line; exec '$fire' say batches:1:5" <"$tmp/go" >"$tmp/late" &
late=$!
exec 3>"$tmp/go"
listen -p $late >"$tmp/out" &
until_line attached "$tmp/out"
echo go >&3
wait $late
until_line ended "$tmp/out"
expect "records $late kernel: 5 " "$tmp/out"

# A fork of the process is not traced with it, and is not left with raised semaphores.
"$fire" wanted fork sleep:500 batches:1:5 unwanted say >"$tmp/fork" &
parent=$!
cleanup="kill $parent 2>/dev/null"
sleep 0.2
listen -d 1500 -p $parent >"$tmp/out"
grep -q ^records "$tmp/out" && fail "the child was traced"
until_line unwanted "$tmp/fork"
exit 0
