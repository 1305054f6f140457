#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each thread tells as many launches a second as its variables allow, graphs apart from kernels;
# the kernels of the others do not come.
. "$(dirname "$0")/../e2e/common"
. "$(dirname "$0")/../e2e/simulator"
. "$(dirname "$0")/common"

# limited PER_THREAD LEAST VARIABLES ARGUMENT...: for two threads
limited() {
	most=$1 least=$2 variables=$3
	shift 3
	consume reader $agent
	# shellcheck disable=SC2163
	(export $variables && run "$@" -t2)
	leave reader
	check reader --per-thread="$most" --threads=2
	[ "$(grep -c ^correlation reader.read)" -ge $((2 * least)) ] ||
		fail "$*: $(cat checked), of at least $least a thread"
}

limited 102 60 A=b loop -n 1000 -r 1000
limited 22 10 A=b loop -n 1000 -r 1000 --graph=5
limited 32 15 PARCAGPU_RATE_LIMIT=30 loop -n 1000 -r 1000
limited 7 2 PARCAGPU_GRAPH_RATE_LIMIT=4.5 loop -n 1000 -r 1000 --graph=5
limited 1000 1000 "PARCAGPU_RATE_LIMIT=1000000 PARCAGPU_GRAPH_RATE_LIMIT=1" loop -n 1000 -r 1000
limited 1 1 PARCAGPU_RATE_LIMIT=0.1 loop -n 1000 -r 1000
exit 0
