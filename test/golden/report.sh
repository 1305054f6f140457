#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `cuprobe report` makes of the demo recording, beside what it made when somebody last looked.
# UPDATE=1 takes what it makes now.
set -eu
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

compare() {
	name=$1
	shift
	"$CUPROBE" "$@" "$tmp/demo.cup" >"$tmp/$name"
	if [ -n "${UPDATE:-}" ]; then
		cp "$tmp/$name" "$here/$name"
	elif ! diff -u "$here/$name" "$tmp/$name"; then
		echo "FAILED: cuprobe $* is not as in $name"
		failed=1
	fi
}

"$MAKE_CAPTURE" demo "$tmp/demo.cup"
compare report.expected report
compare report-mangled.expected report --mangled --kinds=kernel -p 1000
compare report.json report --json
compare report-stacks.expected report --stacks
"$CUPROBE" report --stacks --json "$tmp/demo.cup" >"$tmp/stacks.json"
"$CUPROBE" report -o "$tmp/file" "$tmp/demo.cup"
cmp "$tmp/file" "$tmp/report.expected" || failed=1
if command -v python3 >/dev/null; then
	python3 -m json.tool "$tmp/report.json" >/dev/null || failed=1
	python3 - "$tmp/stacks.json" <<'PYTHON' || failed=1
import json, sys
report = json.load(open(sys.argv[1]))
assert sum(s["gpu_ns"] for s in report["stacks"]) == report["stacks_gpu_ns"] == 798000
assert report["stacks"][1]["frames"][0] == {"kind": "gpu", "name": "CUDA Graph 4"}
PYTHON
fi
exit $failed
