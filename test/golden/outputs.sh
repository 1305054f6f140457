#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every output of the demo recording.
. "$(dirname "$0")/common"

# The head of a trace is padded, and the version changes.
settle() {
	tr -s ' ' <"$1" | sed 's/^"cuprobe":{"version":"[^"]*"/"cuprobe":{"version":"X"/'
}

for format in chrome csv text jsonl folded; do
	"$cuprobe" export -q -f "$format" demo.cup
done
python3 "$here/check_chrome.py" demo.json || fail "demo.json"
for name in demo.json demo.csv demo.txt demo.jsonl demo.folded; do
	settle $name >settled
	as_expected $name settled
done

# The same events, whatever the way out.
"$cuprobe" export -q -f chrome -o demo.json.gz demo.cup
python3 "$here/check_chrome.py" demo.json.gz || fail "demo.json.gz"
"$cuprobe" export -q -f chrome -o - demo.cup | cat >piped.json
python3 "$here/check_chrome.py" piped.json || fail "piped.json"
events() { sed -n '/^"traceEvents"/,/^\],/p'; }
gzip -dc demo.json.gz | events >packed
events <piped.json >piped
events <demo.json >plain
cmp packed plain || fail "other events in a compressed file"
cmp piped plain || fail "other events in a pipe"

# The same stacks for pprof, with the number of launches and build ids.
"$cuprobe" export -q -f pprof demo.cup
python3 "$here/check_pprof.py" demo.pb.gz demo.folded >pprof || fail "demo.pb.gz"
cat pprof
says " 39 launches, .*'/usr/lib/libnet.so': 'feed'" pprof
says "^program /opt/demo/train$" pprof
"$cuprobe" export -q -f pprof -o - demo.cup >piped.pb
python3 "$here/check_pprof.py" piped.pb demo.folded || fail "piped.pb"
if command -v go >/dev/null && go tool -n pprof >/dev/null 2>&1; then
	go tool pprof -top -unit=ns demo.pb.gz >top 2>/dev/null || fail "go tool pprof"
	says "Total samples = 798000ns" top
	says "Memcpy HtoD (Pinned -> Device)" top
fi

# What share of the time has no stack is said beside the file, unless --quiet.
for format in folded pprof; do
	"$cuprobe" export -f $format -o stacks demo.cup 2>message
	says "^cuprobe: 798.0 us .*; 3.01 % of it without a known launch, 52.13 % without a stack$" message
	"$cuprobe" export -q -f $format -o stacks demo.cup 2>message
	if grep "without" message; then fail "$format: said in spite of -q"; fi
done

# All GPU time is in the stacks, to the nanosecond.
total() { awk '{ sum += $NF } END { printf "%.0f\n", sum }'; }
"$cuprobe" export -q -f folded --kinds=kernel -o - demo.cup | total >stacks
"$cuprobe" export -q -f csv --kinds=kernel -o - demo.cup | cut -d, -f5 | total >kernels
cmp stacks kernels || fail "not all GPU time is in the stacks"

# Nothing is left of an output that could not be written.
if [ -c /dev/full ]; then
	if "$cuprobe" export -q -f csv -o /dev/full demo.cup 2>message; then
		fail "a full disk was not noticed"
	fi
	says "cannot write '/dev/full': No space left" message
fi
if "$cuprobe" export -q -f csv -o none/demo.csv demo.cup 2>message; then fail "no folder"; fi
says "cannot write 'none/demo.csv': No such file" message
for left in *.tmp; do
	[ ! -e "$left" ] || fail "$left was left behind"
done
exit $failed
