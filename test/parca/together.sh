#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Consumers of either provider get all of their data, alone or together; when one leaves, the other
# one's is whole; when all have left, CUPTI is given back.
. "$(dirname "$0")/../e2e/common"
. "$(dirname "$0")/../e2e/simulator"
. "$(dirname "$0")/common"
export PARCAGPU_RATE_LIMIT=1000000 PARCAGPU_GRAPH_RATE_LIMIT=1000000

for probe in activity_batch kernel_executed; do
	consume lone $probe
	run loop -n 500 --api=mixed
	leave lone
	check lone --all
done
consume lone cuda_correlation
run loop -n 500
leave lone
[ "$(grep -c ^correlation lone.read)" = 500 ] || fail "launches alone: $(tail -1 lone.read)"

# start ARGUMENT...: a program that runs for 30 s
start() {
	rm -f truth.*.json log
	"$app" "$@" -q -d 30 -r 500 >/dev/null &
	target=$!
	cleanup="$cleanup; kill $target 2>/dev/null"
	sleep 0.3
}

# record_for SECONDS
record_for() {
	timeout 60 "$cuprobe" record -q -d "$1" --graphs=node -o a.cup -p $target >out 2>err ||
		{ cat err; fail "record"; }
	expect "Nothing was lost: [1-9][0-9]* " out
	"$cuprobe" report --json a.cup >report.json
	[ "$(value report.json "sum(row['calls'] for row in it['kernels'])")" -ge \
		"$(awk "BEGIN { print int($1 * $kernels * 0.7) }")" ] || { cat out; fail "too few kernels"; }
}

# ended: asked to end, the program had no trouble
ended() {
	kill -USR1 $target
	wait $target || fail "the program: $?"
}

for mode in "1 loop -t2" "20 loop --graph=20"; do
	kernels=$((500 * ${mode%% *}))
	[ "$mode" = "1 loop -t2" ] && kernels=1000
	# shellcheck disable=SC2086
	start ${mode#* }
	consume reader $agent kernel_executed
	record_for 1.5
	sleep 0.5
	leave reader
	sleep 0.3
	consume second $agent
	sleep 0.7
	leave second
	dormant
	record_for 1 &
	recorder=$!
	consume third $agent
	sleep 0.7
	leave third
	wait $recorder || exit 1
	dormant
	ended
	for consumer_name in reader second third; do
		check $consumer_name --left=200
	done
	[ "$(grep -c "^correlation" reader.read)" -ge 600 ] || fail "$mode: $(cat checked)"
done

# Whole graphs for one and kernels for the other cannot be had: there are kernels for both.
target=
consume native cuprobe:graph cuprobe:kernel
consume reader $agent
run loop -n 200 --graph=20 -r 500
leave reader
leave native
check reader --all
grep -q "a reader of the provider parcagpu needs their kernels" log || { cat log; fail "not said"; }
exit 0
