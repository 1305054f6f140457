#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The real library's stacks through the whole chain: nearly all GPU time of an LLM's inference is under
# main(), and the folded stacks sum up to what the table of kernels says.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"
export CUPROBE_STACK_BUDGET=100

timeout 60 "$cuprobe" record -q --library "$library" --graphs=node -d 2 -o a.cup -- "$app" llm >out 2>err ||
	{ cat err; fail "record"; }

"$cuprobe" export -q -f folded --kinds=kernel -o a.folded a.cup || fail "export"
"$cuprobe" report --json a.cup >report.json || fail "report"
folded=$(awk '{ sum += $NF } END { printf "%.0f", sum }' a.folded)
kernels=$(value report.json "sum(row['total_ns'] for row in it['kernels'])")
[ "$folded" = "$kernels" ] || fail "$folded ns in stacks, $kernels ns in the table of kernels"

under=$(awk '/;main;/ { sum += $NF } END { printf "%.0f", sum }' a.folded)
[ $((100 * under)) -ge $((99 * folded)) ] || { cut -c1-200 a.folded | head; fail "only $under of $folded ns under main()"; }
grep -q ';llm_run;.*;cudaGraphLaunch;' a.folded || { cut -c1-200 a.folded | head; fail "no graph is launched by llm_run"; }

"$cuprobe" flame -q -o a.svg a.cup || fail "flame"
grep -q '"llm_run"' a.svg || fail "the picture lacks llm_run"
"$cuprobe" flame -q --graph-stacks=capture -o capture.svg a.cup || fail "flame --graph-stacks"
if cmp -s a.svg capture.svg; then fail "the nodes of graphs come from their launch"; fi
