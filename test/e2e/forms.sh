#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every form of the BPF program, attached in either way, delivers batches whole and counts the rest.
. "$(dirname "$0")/common"

for form in 1 2 3; do
	for way in "" -e; do
		out=$tmp/$form$way
		# shellcheck disable=SC2086
		listen -f $form $way -- "$fire" wanted batches:50:1 batches:50:7 batches:100:204 \
			junk batches:1:100 >"$out" || fail "form $form $way"
		expect "records [0-9]* kernel: 20900 missed 0 twice 0" "$out"
		# 7 batches of junk; the records of those whose memory cannot be read
		expect "loss [0-9]* kernel: 0 batches 0 records full, 7 batches 2 records bad" "$out"
		grep -q damaged "$out" && fail "form $form $way: damaged batches"
	done
done

# Memory that is not resident: read where the program may sleep, else counted.
for form in 1 2; do
	listen -f $form -- "$fire" wanted cold >"$tmp/cold"
	expect "records [0-9]* string: 50 " "$tmp/cold"
done
listen -f 3 -- "$fire" wanted cold >"$tmp/cold"
expect "loss [0-9]* string: 0 batches 0 records full, 1 batches 50 records bad" "$tmp/cold"
exit 0
