#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# GPU work is shown inside the ranges that launched it, in the table and in the trace, and what the
# program calls its threads, streams and devices stands in place of numbers. On the simulator.
# shellcheck source=test/e2e/common
. "$(dirname "$0")/common"
unset CUDA_INJECTION64_PATH
program=$BUILD_DIR/test/nvtx/nvtx_gpu
[ -x "$program" ] || { echo "SKIP: there are no nvtx3 headers"; exit 77; }
command -v python3 >/dev/null || { echo "SKIP: needs python3"; exit 77; }
cd "$tmp" || exit 1

timeout 60 "$cuprobe" record -q --library "$BUILD_DIR/src/inject/libcuprobe.so" -o run.cup -- \
	"$program" 200 >run.out 2>&1 || { cat run.out; fail "recording"; }
"$cuprobe" report --nvtx --json run.cup >report.json || fail "report"
"$cuprobe" export -q -f chrome -o run.json run.cup || fail "export"
python3 - <<'END' || fail "not what the program did"
import json

report = json.load(open("report.json"))
rows = {row["name"]: row for row in report["nvtx"]}
assert {name: (row["calls"], row["kernels"]) for name, row in rows.items()} == {
    "epoch": (1, 1600), "step": (200, 1200),
    "layer 0": (200, 200), "layer 1": (200, 400), "layer 2": (200, 600)}, rows
assert report["nvtx_strays"] == 0
assert report["devices"][0]["device"].startswith("0 first GPU, "), report["devices"]
assert rows["step"]["gpu_ns"] == sum(rows[f"layer {i}"]["gpu_ns"] for i in range(3))

events = json.load(open("run.json"))["traceEvents"]
kernels = [e for e in events if e.get("cat") == "kernel"]
assert rows["epoch"]["kernel_ns"] == round(sum(e["dur"] for e in kernels) * 1000)
annotations = [e for e in events if e.get("cat") == "gpu_user_annotation" and e["ph"] == "X"]
assert len(annotations) == 800
for a in annotations: # from the first to the last kernel inside, and no other one
    inside = [k for k in kernels
              if k["ts"] >= a["ts"] - 0.0005 and k["ts"] + k["dur"] <= a["ts"] + a["dur"] + 0.0005]
    assert len(inside) == a["args"]["kernels"], a
    assert abs(sum(k["dur"] for k in inside) - a["args"]["GPU time (us)"]) < 0.01, a
names = {e["args"]["name"] for e in events if e["ph"] == "M" and "name" in e["args"]}
assert "main thread" in names and any(n.endswith(" compute") for n in names), names
assert any("first GPU" in n for n in names), names
END
"$cuprobe" export -q -f text -o - run.cup | grep -q 'gfirst GPU:compute .*layer_kernel' ||
	fail "no names in text"

# NVTX that is used before CUDA starts the library, and no kernel is missed for that.
timeout 60 "$cuprobe" record -q --library "$BUILD_DIR/src/inject/libcuprobe.so" -o run.cup -- \
	"$program" 100 early >run.out 2>&1 || { cat run.out; fail "recording"; }
"$cuprobe" report --nvtx --json run.cup | python3 -c '
import json, sys
rows = {row["name"]: row for row in json.load(sys.stdin)["nvtx"]}
assert rows["before CUDA"]["calls"] == 1 and rows["epoch"]["kernels"] == 800, rows' ||
	fail "NVTX before CUDA"

# Where only the variable for CUDA was set, NVTX is found through it.
CUDA_INJECTION64_PATH=$BUILD_DIR/src/inject/libcuprobe.so timeout 60 "$program" 10000000 &
app=$!
cleanup="kill $app 2>/dev/null"
sleep 0.5
timeout 60 "$cuprobe" record -q -p "$(pgrep -P $app)" --kinds=nvtx -d 0.5 -o run.cup \
	>run.out 2>&1 || { cat run.out; fail "recording by CUDA's variable alone"; }
"$cuprobe" export -q -f text -o - run.cup | grep -q 'nvtx push .*layer 1' ||
	fail "no NVTX by CUDA's variable alone"
