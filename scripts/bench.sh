#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The microbenchmarks that need no GPU, one after the other. Those that load BPF need root.
#
#	scripts/bench.sh BUILD
set -eu
[ $# = 1 ] || { echo "usage: bench.sh BUILD" >&2; exit 2; }

failed=0
for name in pool probe_cost transport decode; do
	echo "== $name"
	status=0
	timeout 180 "$1/microbenchmarks/$name" || status=$?
	[ $status = 0 ] || [ $status = 77 ] || { echo "$name: exit status $status"; failed=1; }
done
exit $failed
