#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A collector that does not keep up: the program runs on, and sent = received + lost, to the record.
. "$(dirname "$0")/common"

for form in 1 2 3; do
	"$fire" wanted sleep:200 batches:1:1 sleep:600 batches:2000:200 batches:1:1 sleep:1500 \
		batches:1:1 >"$tmp/fire" &
	target=$!
	cleanup="kill $target 2>/dev/null"
	sleep 0.1
	"$listen" -f $form -r 1048576 -p $target >"$tmp/out" &
	listening=$!
	until_line attached "$tmp/out"
	sleep 0.5
	kill -STOP $listening
	sleep 1
	kill -CONT $listening
	wait $listening
	received=$(sed -n "s/^records $target kernel: \([0-9]*\) .*/\1/p" "$tmp/out")
	missed=$(sed -n "s/^records $target kernel: .* missed \([0-9]*\) .*/\1/p" "$tmp/out")
	lost=$(sed -n "s/^loss $target kernel: .* batches \([0-9]*\) records full.*/\1/p" "$tmp/out")
	[ "$lost" -gt 0 ] || fail "form $form: nothing was lost: this tests nothing"
	[ $((received + lost)) = 400003 ] || { cat "$tmp/out"; fail "form $form: sent 400003"; }
	[ "$missed" = "$lost" ] || fail "form $form: missed $missed, but counted $lost"
done
