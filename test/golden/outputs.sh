#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every output of the demo recording, beside what it was when somebody last looked. UPDATE=1 takes
# what it is now. CUPROBE and MAKE_CAPTURE name the programs.
set -eu

cuprobe=$(realpath "${CUPROBE:?}")
make_capture=$(realpath "${MAKE_CAPTURE:?}")
here=$(dirname "$(realpath "$0")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed=0

# The head of a trace is padded, and the version changes.
settle() {
	tr -s ' ' <"$1" | sed 's/^"cuprobe":{"version":"[^"]*"/"cuprobe":{"version":"X"/'
}

compare() { # name
	settle "$1" >settled
	if [ -n "${UPDATE:-}" ]; then
		cp settled "$here/$1"
	elif ! cmp -s settled "$here/$1"; then
		echo "FAIL: $1 is not as expected:" >&2
		diff "$here/$1" settled | cut -c1-300 | head -20 >&2
		failed=1
	fi
}

"$make_capture" demo demo.cup
for format in chrome csv text jsonl folded; do
	"$cuprobe" export -q -f "$format" demo.cup
done
python3 "$here/check_chrome.py" demo.json || failed=1
for name in demo.json demo.csv demo.txt demo.jsonl demo.folded; do
	compare "$name"
done

# The same events, whatever the way out.
"$cuprobe" export -q -f chrome -o demo.json.gz demo.cup
python3 "$here/check_chrome.py" demo.json.gz || failed=1
"$cuprobe" export -q -f chrome -o - demo.cup | cat >piped.json
python3 "$here/check_chrome.py" piped.json || failed=1
events() { sed -n '/^"traceEvents"/,/^\],/p'; }
gzip -dc demo.json.gz | events >packed
events <piped.json >piped
events <demo.json >plain
cmp packed plain && cmp piped plain || failed=1

# The same stacks for pprof, with the number of launches and build ids.
"$cuprobe" export -q -f pprof demo.cup
python3 "$here/check_pprof.py" demo.pb.gz demo.folded >pprof || failed=1
cat pprof
grep -q " 39 launches, .*'/usr/lib/libnet.so': 'feed'" pprof || failed=1
"$cuprobe" export -q -f pprof -o - demo.cup >piped.pb
python3 "$here/check_pprof.py" piped.pb demo.folded || failed=1
if command -v go >/dev/null && go tool -n pprof >/dev/null 2>&1; then
	go tool pprof -top -unit=ns demo.pb.gz >top 2>/dev/null || failed=1
	grep -q "Total samples = 798000ns" top || { cut -c1-200 top >&2; failed=1; }
fi

# What share of the time has no stack is said beside the file, unless --quiet.
for format in folded pprof; do
	"$cuprobe" export -f $format -o stacks demo.cup 2>message
	grep -q "^cuprobe: 798.0 us .*; 3.01 % of it without a known launch, 52.13 % without a stack$" message ||
		{ echo "FAIL: $format: no share" >&2; cat message >&2; failed=1; }
	"$cuprobe" export -q -f $format -o stacks demo.cup 2>message
	if grep "without" message >&2; then failed=1; fi
done

# All GPU time is in the stacks, to the nanosecond.
total() { awk '{ sum += $NF } END { printf "%.0f\n", sum }'; }
"$cuprobe" export -q -f folded --kinds=kernel -o - demo.cup | total >stacks
"$cuprobe" export -q -f csv --kinds=kernel -o - demo.cup | cut -d, -f5 | total >kernels
cmp stacks kernels || failed=1

# Nothing is left of an output that could not be written.
if [ -c /dev/full ]; then
	if "$cuprobe" export -q -f csv -o /dev/full demo.cup 2>message; then
		echo "FAIL: a full disk was not noticed" >&2
		failed=1
	fi
	grep -q "cannot write '/dev/full': No space left" message || { cat message >&2; failed=1; }
fi
if "$cuprobe" export -q -f csv -o none/demo.csv demo.cup 2>message; then failed=1; fi
grep -q "cannot write 'none/demo.csv': No such file" message || { cat message >&2; failed=1; }
for left in *.tmp; do
	[ ! -e "$left" ] || { echo "FAIL: $left was left behind" >&2; failed=1; }
done
exit "$failed"
