#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The microbenchmarks that need no GPU, one after the other. Those that load BPF need root.
#
#	scripts/bench.sh BUILD			all of them, about a minute
#	scripts/bench.sh BUILD sustained	transport at 1 M records/s for 60 s while 10 M events
#						are exported as Chrome trace, over and over
set -eu
[ $# -ge 1 ] || { echo "usage: bench.sh BUILD [sustained]" >&2; exit 2; }
programs=$1/microbenchmarks

sustained()
{
	"$programs/transport" --seconds 60 --reps 1 --warm-up 0 --limit 0 \
		>"$programs/transport.out" 2>&1 &
	transport=$!
	while kill -0 $transport 2>/dev/null; do
		timeout 120 "$programs/decode" --records 10000000 --reps 1 chrome || return 1
	done
	status=0
	wait $transport || status=$?
	cat "$programs/transport.out"
	return $status
}

if [ "${2:-}" = sustained ]; then
	sustained
	exit
fi
failed=0
for name in pool unwind probe_cost nvtx python_walk transport decode; do
	[ -x "$programs/$name" ] || continue
	echo "== $name"
	status=0
	timeout 180 "$programs/$name" || status=$?
	[ $status = 0 ] || [ $status = 77 ] || { echo "$name: exit status $status"; failed=1; }
done
exit $failed
