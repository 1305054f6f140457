#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `cuprobe report` makes of the demo recording.
. "$(dirname "$0")/common"

# expected NAME ARGUMENT...
expected() {
	name=$1
	shift
	"$cuprobe" "$@" demo.cup >"$name"
	as_expected "$name" "$name"
}

expected report.expected report
expected report-mangled.expected report --mangled --kinds=kernel -p 1000
expected report.json report --json
expected report-stacks.expected report --stacks
"$cuprobe" report --stacks --json demo.cup >stacks.json
"$cuprobe" report -o file demo.cup
cmp file report.expected || fail "another output with -o"
if command -v python3 >/dev/null; then
	python3 -m json.tool report.json >/dev/null || fail "report.json is not JSON"
	python3 - <<'PYTHON' || fail "stacks.json"
import json
report = json.load(open("stacks.json"))
assert sum(s["gpu_ns"] for s in report["stacks"]) == report["stacks_gpu_ns"] == 798000
assert report["stacks"][1]["frames"][0] == {"kind": "gpu", "name": "CUDA Graph 4"}
PYTHON
fi
exit $failed
