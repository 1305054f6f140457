#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Flame graphs of the demo recording: what is in them, and that they work in a browser.
. "$(dirname "$0")/common"

"$cuprobe" flame demo.cup 2>message
says "3.01 % of it without a known launch, 52.13 % without a stack" message
"$cuprobe" flame -q -o demo.html demo.cup

# What the graph holds, by program: the frames of each stack with their time, checked against the
# folded stacks, and nothing from elsewhere.
cat >read.py <<'PYTHON'
import json, re, sys

def folded(path):
    """The leaves of a graph as folded lines; checks that no frame has less than those under it."""
    text = open(path).read()
    assert not re.search(r"(src|href)=|https?://(?!www\.w3\.org)", text), "not self-contained"
    body = text[text.index("flame({title:"):]
    labels = json.loads(re.search(r"labels:(\[.*?\]),\nnodes:", body, re.S)[1])
    nodes = json.loads(re.search(r"nodes:(\[.*?\])\}\);", body, re.S)[1])
    stride = 4 if "diff:true" in body else 3
    lines, path, left = {}, [], []
    def pop():
        name, rest = path.pop(), left.pop()
        assert all(r >= 0 for r in rest), name
        if any(rest):
            key = ";".join([*path[1:], name])
            lines[key] = [a + b for a, b in zip(lines.get(key, [0] * len(rest)), rest)]
    for i in range(0, len(nodes), stride):
        depth, label, *ns = nodes[i:i + stride]
        while len(path) > depth:
            pop()
        if left:
            left[-1] = [a - b for a, b in zip(left[-1], ns)]
        path.append(labels[label][1] if label >= 0 else "")
        left.append(ns)
    while path:
        pop()
    return lines

wanted = {}
for line in open("demo.folded", encoding="utf-8"):
    stack, ns = line.rsplit(" ", 1)
    stack = re.sub(r"_\[[gij]\](;|$)", r"\1", stack)
    wanted[stack] = wanted.get(stack, 0) + int(ns)
for name in sys.argv[1:]:
    got = folded(name)
    assert sum(v[0] for v in got.values()) == sum(wanted.values()), name
    if name in ("demo.svg", "demo.html"):
        plain = {k: v for k, v in wanted.items() if "\\x" not in k}
        missing = {k: v for k, v in plain.items() if got.get(k) != [v] and "�" not in k}
        assert not missing, missing
    if name == "reverse.svg":
        assert any(k.startswith("CUDA Graph 4;cudaGraphLaunch;") and k.endswith(";main;_start") for k in got), got
    if name == "stream.svg":
        assert {k.split(";")[0] for k in got} >= {"GPU 0 (Demo GPU \"80GB\") stream 7"} or any(
            k.startswith("GPU 0 stream 7") for k in got), list(got)[:3]
    if name == "nvtx.svg":
        assert sum(v[0] for k, v in got.items() if k.startswith('step "0";')) == \
            json.load(open("nvtx.json"))["nvtx"][0]["gpu_ns"], "another sum than in the table"
    if name == "diff.svg":
        new = {k.split(";")[-1]: v for k, v in got.items() if v[0] != v[1]}
        assert new == {"afterTheExec()": [9000, 0], "vectorAdd(float const*, float const*, float*, int)": [30000, 0]}, new
    if name == "less.svg":
        assert got["[unattributed];cudaLaunchKernel;afterTheExec()"] == [0, 9000], got
PYTHON
"$cuprobe" export -q -f folded demo.cup 2>/dev/null
for by in stream device thread process nvtx; do
	"$cuprobe" flame -q --by=$by -o $by.svg demo.cup
done
"$cuprobe" report --json --nvtx demo.cup >nvtx.json
"$cuprobe" flame -q --reverse -o reverse.svg demo.cup
python3 read.py demo.svg demo.html stream.svg device.svg thread.svg process.svg nvtx.svg reverse.svg ||
	fail "other frames than in demo.folded"

# What is in one of two recordings only.
"$make_capture" first first.cup
"$cuprobe" flame -q --diff=first.cup -o diff.svg demo.cup
python3 read.py diff.svg || fail "diff.svg"
"$cuprobe" export -q -f folded -o demo.folded first.cup 2>/dev/null
"$cuprobe" flame --diff=demo.cup -o less.svg first.cup 2>message
python3 read.py less.svg || fail "less.svg"
gone="39.00 us only in demo.cup, not drawn: vectorAdd(float const*, float const*, float*, in... 30.00 us, afterTheExec() 9.000 us"
grep -qxF "cuprobe: $gone" message || fail "$(cat message)"

# Wrong use.
for wrong in --by=moon --graph-stacks=moon '-o x.png' '--diff=none.cup'; do
	# shellcheck disable=SC2086 # options
	if "$cuprobe" flame -q $wrong demo.cup 2>message; then fail "$wrong is taken"; fi
	[ "$(wc -l <message)" = 1 ] || fail "$wrong: $(cat message)"
done

# in_browser ARGUMENT...: where there is no browser, all else has been looked at
in_browser() {
	status=0
	python3 "$here/flame_browser.py" "$@" || status=$?
	[ $status != 77 ] || exit $((failed ? 1 : 77))
	[ $status = 0 ] || fail "in the browser: $*"
}

in_browser demo.svg
in_browser demo.html
in_browser --gone="$gone" less.svg
exit $failed
