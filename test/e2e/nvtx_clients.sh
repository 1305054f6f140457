#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every NVTX event of real clients arrives once, with its name and nesting: C and C++ programs with the
# headers of this toolkit and of CUDA 11.8, NVTX version 2, extended payloads, the Python package.
# shellcheck source=test/e2e/common
. "$(dirname "$0")/common"
# shellcheck source=test/e2e/nvtx_late
. "$(dirname "$0")/nvtx_late"
unset CUDA_INJECTION64_PATH
clients=$BUILD_DIR/test/nvtx
library=$BUILD_DIR/src/inject/libcuprobe.so
here=$(dirname "$(realpath "$0")")/../nvtx
[ -x "$clients/nvtx_client" ] || { echo "SKIP: there are no nvtx3 headers"; exit 77; }
cd "$tmp" || exit 1

# shown FILE: "kind: name and details" of each event in it, in any order
shown() {
	"$cuprobe" export -q -f text -o run.txt "$1" || fail "export"
	sed -nE 's/ nvtx_range=[0-9]+//; s/^.* nvtx ([a-z ]*[a-z]) +0 ns  (.*)$/\1: \2/p' run.txt |
		LC_ALL=C sort
}

# events COMMAND...: of those that it makes
events() {
	timeout 60 "$cuprobe" record -q --via=$via --library "$library" -o run.cup -- "$@" >run.out 2>run.err ||
		{ cat run.out run.err; fail "$*"; }
	shown run.cup
}

# same EXPECTED-FILE WHAT COMMAND...
same() {
	expected=$1 what=$2
	shift 2
	events "$@" >found
	LC_ALL=C sort "$expected" | diff - found || fail "$what: not the events that it made"
}

# chrome REGULAR-EXPRESSION...: events in the Chrome trace of the last program
chrome() {
	"$cuprobe" export -q -f chrome -o run.json run.cup || fail "export as Chrome trace"
	for event in "$@"; do
		grep -q "$event" run.json || { cat run.json; fail "not in the Chrome trace: $event"; }
	done
}

registered='registered message nvtx_domain=client domain nvtx_category=category two nvtx_payload=0.25'
cat >client.expected <<END
mark: first
mark: mark a
mark: mark w é
push: outer
push: inner
pop: 
pop: 
pop: 
start: start a
end: 
end: 
mark: $registered
push: $registered
pop:  nvtx_domain=client domain
start: $registered
end:  nvtx_domain=client domain
acquire: lock nvtx_domain=client domain
push: waiting
pop: 
acquired: lock nvtx_domain=client domain
release: lock nvtx_domain=client domain
acquire: 
acquire failed: 
start: across threads
end: 
push: left open
thread end: 
mark: last
END
printf 'level %d\n' 0 1 1 0 -1 0 0 >levels.expected

client() { # WHAT PROGRAM
	same client.expected "$@"
	grep '^level' run.out | diff levels.expected - || fail "$1: levels"
}
client "C, this toolkit" "$clients/nvtx_client"
chrome '"X".*"acquire lock".*"client domain"' '"X".*"acquire unnamed".*"failed":true' \
	'"i".*"release lock"'

cat >cpp.expected <<'END'
push: outer
push: step nvtx_domain=engine nvtx_category=loading nvtx_payload=42
push: function_scope nvtx_domain=engine
pop:  nvtx_domain=engine
pop:  nvtx_domain=engine
pop: 
start: across nvtx_domain=engine
end:  nvtx_domain=engine
mark: wide mark nvtx_domain=engine
END
[ ! -x "$clients/nvtx_client_cpp" ] ||
	same cpp.expected "C++, this toolkit" "$clients/nvtx_client_cpp"

cat >payload.expected <<'END'
push: request nvtx_domain=payloads nvtx_payload={id: 7, seconds: 0.5, user: \\"somebody\\", state: running}
pop:  nvtx_domain=payloads nvtx_payload={id: 7, seconds: 0.5, user: \\"somebody\\", state: waiting}
END
sed -i 's/\\\\/\\/g' payload.expected
[ ! -x "$clients/nvtx_payload" ] ||
	same payload.expected "extended payloads" "$clients/nvtx_payload"

cat >counters.expected <<'END'
counter: tokens nvtx_domain=counted nvtx_payload=-42
counter: loss nvtx_domain=counted nvtx_payload=0.25
counter: traffic.packets nvtx_domain=counted nvtx_payload=7
counter: traffic.rate nvtx_domain=counted nvtx_payload=1.5
counter: tokens nvtx_domain=counted
counter: tokens nvtx_domain=counted nvtx_payload=1
counter: tokens nvtx_domain=counted nvtx_payload=2
END
if [ -x "$clients/nvtx_counters" ]; then
	same counters.expected "counters" "$clients/nvtx_counters"
	chrome '"C".*"tokens \[counted\]".*{"value":-42}' '"C".*"traffic.rate \[counted\]".*{"value":1.5}'
fi

cat >deferred.expected <<'END'
start: first nvtx_domain=deferred nvtx_payload={bytes: 1}
end:  nvtx_domain=deferred
start: first nvtx_domain=deferred nvtx_payload={bytes: 1}
end:  nvtx_domain=deferred
start: second nvtx_domain=deferred nvtx_payload={bytes: 2}
end:  nvtx_domain=deferred
END
if [ -x "$clients/nvtx_deferred" ]; then
	same deferred.expected "deferred events" "$clients/nvtx_deferred"
	"$cuprobe" report run.cup >report.txt
	grep -q "not known when they were" report.txt ||
		{ cat report.txt; fail "the event that was lost is not spoken of"; }
fi

# From here on with what PyPI has.
if ! python3 -m venv venv || ! venv/bin/pip -q install --disable-pip-version-check \
	nvtx nvidia-nvtx-cu11==11.8.86 2>pip.err; then
	cat pip.err
	echo "the rest needs PyPI"
	exit 0
fi
includes=$(dirname "$(find venv -path '*nvidia/nvtx/include/nvtx3' | head -1)")
cc -I "$includes" "$here/client.c" -o client118 -ldl -lpthread || fail "headers of CUDA 11.8"
client "C, CUDA 11.8" ./client118
v2=$(dirname "$(find venv -name libnvToolsExt.so.1 | head -1)")
cc -DUSE_NVTX2 -I "$includes" "$here/client.c" -o client2 "$v2/libnvToolsExt.so.1" \
	-Wl,-rpath,"$(realpath "$v2")" -lpthread || fail "NVTX version 2"
client "C, NVTX version 2" ./client2
if command -v c++ >/dev/null; then
	c++ -x c++ -I "$includes" "$here/client.c" -o client118 -ldl -lpthread || fail "C++, 11.8"
	client "C++, CUDA 11.8" ./client118
fi

{
	cat <<'END'
push: with nvtx_domain=python nvtx_category=phase nvtx_payload=7
push: decorated nvtx_domain=python
pop:  nvtx_domain=python
pop:  nvtx_domain=python
push: default domain
pop: 
push: pushed nvtx_domain=python nvtx_payload=0.5
pop:  nvtx_domain=python
start: started nvtx_domain=python
end:  nvtx_domain=python
mark: marked nvtx_domain=python
counter: tokens nvtx_domain=python nvtx_payload=42
counter: tokens nvtx_domain=python nvtx_payload=43
END
	for _ in $(seq 1000); do
		printf 'push: reused nvtx_domain=fast\npop:  nvtx_domain=fast\n'
	done
} >python.expected
same python.expected "Python" venv/bin/python "$here/client.py"

# Attached when it has been running for a while: names that were registered before are known.
start_waiting env NVTX_INJECTION64_PATH="$library" venv/bin/python "$here/client.py" wait
record_rest
shown late.cup >found
LC_ALL=C sort python.expected | diff - found || fail "attached late: not the events that it made"
