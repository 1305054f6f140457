#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every kernel, copy and memset belongs to one launch with one stack, whichever call it was, with every
# libcupti, and in a program that has the runtime linked in.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"

export CUPROBE_STACK_BUDGET=100

# whole PROGRAM ARGUMENT...
whole() {
	recorded --kinds=kernel,memcpy,memset,launch,stack -- "$@" || fail "$*"
	expect "Nothing was lost: " out
	"$SOURCE_DIR/test/e2e/launches.py" "$cuprobe" a.cup || fail "$*"
}

for cupti in libcupti.so.13 cupti-12.9/libcupti.so.12 cupti-12.4/libcupti.so.12 \
	cupti-11.8/libcupti.so.11.8; do
	export CUPROBE_CUPTI_PATH="$BUILD_DIR/mock/$cupti"
	whole "$app" all -q -n 3
done
export CUPROBE_CUPTI_PATH="$BUILD_DIR/mock/libcupti.so.13"
whole "${app}_static" all -q -n 3
whole "$app" llm -q -n 5
whole "$app" loop -q -n 2000 -t4 -g2 -s2 --api=mixed --copy-every=7
whole "$app" loop -q -n 200 --graph=30

# With less time than stacks need some launches have none, and the others stand for them.
export CUPROBE_STACK_BUDGET=1
MOCK_GPU=instant recorded --kinds=launch,stack -- "$app" loop -q -n 150000 || fail "budget"
"$cuprobe" export -q -f jsonl -o - a.cup | grep '"kind":"launch"' >launches.jsonl
python3 - launches.jsonl <<'PYTHON' || fail "weights"
import json, sys

launches = [json.loads(line) for line in open(sys.argv[1])]
weights = [e["weight"] for e in launches]
assert 0 in weights, "no launch was left out"
assert all(bool(e["stack"]) == bool(e["weight"]) for e in launches), "weight without stack"
share = sum(weights) / 256 / len(weights)
assert 0.5 < share < 2, f"{len(weights)} launches have weights of {share} each"
PYTHON
exit 0
