#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# NVTX at its limits: a million open ranges, 64 threads that end with ranges open, messages without
# end, children, shared objects that come and go. What is counted adds up, memory is bounded, and the
# trace can be loaded.
# shellcheck source=test/e2e/common
. "$(dirname "$0")/common"
unset CUDA_INJECTION64_PATH
clients=$BUILD_DIR/test/nvtx
library=$BUILD_DIR/src/inject/libcuprobe.so
[ -x "$clients/nvtx_stress" ] || { echo "SKIP: there are no nvtx3 headers"; exit 77; }
cd "$tmp" || exit 1

record() { # COMMAND...
	timeout 120 "$cuprobe" record -q --library "$library" -o run.cup -- "$@" >run.out 2>run.err ||
		return
	report
}

report() {
	timeout 60 "$cuprobe" report --nvtx --json run.cup >report.json
}

# A figure of the ledger's line for NVTX.
ledger() { # KEY [PROBE]
	python3 -c "
import json
rows = json.load(open('report.json'))['ledger']
print(sum(l['$1'] for l in rows if l['probe'] == '${2:-nvtx}'))"
}

# How often ranges with names like this were entered.
calls() { # REGULAR-EXPRESSION
	python3 -c "
import json, re
rows = json.load(open('report.json'))['nvtx']
print(sum(r['calls'] for r in rows if re.fullmatch('$1', r['name'])))"
}

# Kilobytes that the command needs at most.
peak() {
	python3 -c "
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)" "$@"
}

check_chrome() {
	needed=$(peak timeout 60 "$cuprobe" export -q -f chrome -o run.json run.cup)
	[ "$needed" -lt 500000 ] || fail "$1: the export needed $needed KiB"
	python3 -c "
import json
for e in json.load(open('run.json'))['traceEvents']:
    assert e['ph'] in 'XMbei', e
    assert e['ph'] != 'X' or e['dur'] >= 0, e" || fail "$1: the trace cannot be loaded"
}
command -v python3 >/dev/null || { echo "SKIP: needs python3"; exit 77; }

# As many as were made; a machine that is too slow for the rate may lose some, and counts them.
check_sum() { # WHAT PRODUCED
	if [ "$(ledger lost_on_the_way status)" -gt 0 ]; then
		echo "$1: the program's own count was lost on the way"
		lost=1
		return
	fi
	[ "$(ledger produced)" = "$2" ] || fail "$1: $(ledger produced) events and not $2"
	lost=$(($(ledger lost_in_process) + $(ledger lost_on_the_way)))
	[ $(($(ledger delivered) + lost)) = "$2" ] || fail "$1: the sum is wrong"
}

record "$clients/nvtx_stress" open 1000000 || { cat run.err; fail "a million open ranges"; }
check_sum "a million open ranges" 2000000
[ "$lost" -gt 0 ] || [ "$(calls open)" = 1000000 ] || fail "$(calls open) of a million"
check_chrome "a million open ranges"

record "$clients/nvtx_stress" threads 64 || { cat run.err; fail "threads: levels were wrong"; }
check_sum "threads" $((64 * 20002))
check_chrome "threads"

record "$clients/nvtx_stress" messages 40000 || { cat run.err; fail "messages"; }
check_sum "messages" 40000
[ "$lost" -gt 0 ] || [ "$(calls 'message .*')" = 40000 ] || fail "$(calls 'message .*') messages"

record "$clients/nvtx_stress" fork 20 || { cat run.err; fail "children"; }
[ "$(ledger delivered)" = 2 ] || fail "children: $(ledger delivered) events of the parent's 2"

record "$clients/nvtx_plugins" "$clients/libnvtx_plugin_one.so" \
	"$clients/libnvtx_plugin_two.so" 50 || { cat run.err; fail "shared objects"; }
for row in one:9 two:58 'one registered:9' 'two registered:58'; do
	[ "$(calls "${row%:*}")" = "${row#*:}" ] ||
		fail "shared objects: ${row%:*} $(calls "${row%:*}") times"
done

# The same while consumers come and go: the program is unharmed, and nothing is wrong at the end.
NVTX_INJECTION64_PATH=$library "$clients/nvtx_plugins" "$clients/libnvtx_plugin_one.so" \
	"$clients/libnvtx_plugin_two.so" 100000000 &
program=$!
cleanup="kill $program 2>/dev/null"
for _ in 1 2 3 4 5; do
	timeout 60 "$cuprobe" record -q -p $program --kinds=nvtx -d 0.3 -o run.cup >run.out 2>&1
done
report
[ "$(calls two)" -gt 0 ] || fail "nothing came while consumers came and went"
kill $program || fail "the program was harmed"
wait $program
[ $? = 143 ] || fail "the program was harmed"
cleanup=:
