#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts a program with the library, records three seconds from its middle with -p, and lets it end.
#
#	attach_midway.sh DIST CAPTURE OUTPUT COMMAND...
#
# OUTPUT gets what COMMAND prints; it must print "ready" or "pid" once it is warm, go on for ten
# seconds, and leave with 0 after the recorder has left. Twice in a row: the second recording, which
# is the one that is kept, shows that the first one gave CUPTI back.
set -eu
dist=$1 capture=$2 output=$3
shift 3

CUDA_INJECTION64_PATH=$dist/lib/libcuprobe.so "$@" >"$output" 2>"$output.err" &
pid=$!
trap 'kill $pid 2>/dev/null || true' EXIT

waited=0
until grep -qE 'ready|pid' "$output" "$output.err"; do
	kill -0 $pid 2>/dev/null || { echo "FAIL the program ends early"; cat "$output.err"; exit 1; }
	waited=$((waited + 1))
	[ $waited -lt 900 ] || { echo "FAIL the program is not ready in 90 s"; exit 1; }
	sleep 0.1
done
sleep 1
if [ "${CUPTI_IS_MAPPED_ANYWAY:-}" != 1 ] && grep -q libcupti "/proc/$pid/maps"; then
	echo "FAIL with nobody attached libcupti is mapped"
fi
for seconds in 1 3; do
	rm -f "$capture"
	"$dist/bin/cuprobe" record -p $pid --kinds kernel,memcpy,memset,sync,api --graphs=node \
		-d $seconds -o "$capture"
	[ -s "$capture" ] || { echo "FAIL recording $seconds s with -p leaves no capture"; exit 1; }
	sleep 0.5
done
status=0
wait $pid || status=$?
trap - EXIT
if [ $status = 0 ]; then
	echo "PASS the program survives two recorders: exit status 0"
else
	echo "FAIL the program survives two recorders: exit status $status"
	exit 1
fi
