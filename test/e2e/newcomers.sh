#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A reader that comes while others are attached gets all definitions, whatever the kernel tells the
# library of it, and one that comes in the moment in which another leaves.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"

# named FILE: all its kernels have names, and the process has its command line
named() {
	"$cuprobe" report --json "$1" >report.json || fail "report"
	names=$(value report.json "sorted(k['name'].split('<')[0].split('(')[0] for k in it['kernels'])")
	[ "$names" = "['ampere_sgemm_128x64_tn', 'transpose', 'vecAdd', 'void reduce_blocks']" ] ||
		fail "$1: the kernels are $names"
	[ "$(value report.json "it['processes'][0]['driver']")" != "" ] || fail "$1: no process"
}

"$app" loop -q -d 40 -r 1000 >/dev/null &
target=$!
cleanup="kill $target 2>/dev/null"
sleep 0.3
"$cuprobe" record -q -o first.cup -p $target >out1 2>&1 &
first=$!
cleanup="kill $target $first 2>/dev/null"
sleep 2.5 # past what the first one gets
for reader in second third; do
	timeout 60 "$cuprobe" record -q -d 1 -o $reader.cup -p $target >out 2>&1 || fail "$reader"
	named $reader.cup
	expect "Nothing was lost: " out # though the process goes on for the first one
done
timeout 60 "$cuprobe" record -q -d 1 -o all.cup -a >out 2>&1 || fail "-a"
named all.cup
expect "Nothing was lost: " out

# One in the place of another.
for reader in a b c d; do
	"$cuprobe" record -q -o $reader.cup -p $target >out.$reader 2>&1 &
	next=$!
	cleanup="kill $target $first $next 2>/dev/null"
	kill -INT $first
	wait $first || fail "$reader: the one before it"
	sleep 0.5
	first=$next
done
kill -INT $first
wait $first || fail "the last one"
for reader in first a b c d; do
	named $reader.cup
done

# One that says nothing waits for the regular replay.
command -v bpftrace >/dev/null || exit 0
"$cuprobe" record -q -o first.cup -p $target >out1 2>&1 &
first=$!
cleanup="kill $target $first 2>/dev/null"
sleep 2.5
timeout 30 bpftrace -p $target -e "usdt:$library:cuprobe:string { @told = count(); }
	interval:s:12 { exit(); }" >out 2>&1 || { cat out; fail "bpftrace"; }
grep -q "@told: [1-9]" out || { cat out; fail "no regular replay"; }
kill -INT $first
wait $first || fail "beside bpftrace"
