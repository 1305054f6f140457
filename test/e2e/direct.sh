#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The direct channel where there is no privilege: what arrives is what BPF brings, and nothing that
# happens to a collector, or is sent in its place, harms the program. (NAME_direct is the same tests as
# with BPF, unit_inject_direct and unit_collector_direct have the two sides by themselves.)
export VIA=direct
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"
[ "$(id -u)" = 0 ] || { echo "SKIP: needs root, to be others"; exit 77; }
others_reach_us || { echo "SKIP: other users cannot get to $BUILD_DIR"; exit 77; }
chmod 755 "$tmp"
mkdir open
chmod 777 open

# timeless FILE: a Chrome trace without what differs between any two runs, sorted
timeless() {
	"$cuprobe" export -q -f chrome -o - "$1" | python3 -c '
import json, sys
changing = {"ts", "dur", "pid", "tid", "id"}
def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in sorted(x.items()) if k not in changing and
                not any(word in k for word in ("corr", "bandwidth", "_ns", "per SM", "occupancy"))}
    return x
for line in sorted(json.dumps(plain(e)) for e in json.load(sys.stdin)["traceEvents"]
                   if e["ph"] != "M" and "idle" not in str(e).lower()):
    print(line)'
}

# as WHY WHO...: the same as through BPF when that is not allowed, and why is said
as() {
	why=$1
	shift
	(
		cd open || exit 1
		rm -f ./*
		MOCK_TRUTH=$tmp/open/truth.%p.json timeout 60 "$@" "$cuprobe" record --graphs=node \
			-o a.cup -- "$app" all -n 20 -q >out 2>err
	) || { cat open/err; fail "$*"; }
	expect "cuprobe: using the direct channel: attaching needs root$why" open/err
	expect "Nothing was lost: " open/out
	"$SOURCE_DIR/test/e2e/truth.py" "$cuprobe" open/a.cup open/truth.*.json || fail "$*: truth"
	timeless open/a.cup >trace.direct
	diff trace.bpf trace.direct >differences || { head differences; fail "$*: another trace"; }
}

via=bpf
recorded -- "$app" all -n 20 -q || fail "BPF"
is_true || fail "BPF: truth"
via=direct
timeless a.cup >trace.bpf
[ "$(wc -l <trace.bpf)" -gt 1000 ] || fail "hardly a trace"
as ", or CAP_BPF" setpriv --reuid 65534 --regid 65534 --clear-groups
as " outside of this user namespace" unshare -U
as " outside of this user namespace" unshare -Ur
as ", or CAP_BPF" setpriv --bounding-set=-all --inh-caps=-all
for verb in stat trace; do
	setpriv --reuid 65534 --regid 65534 --clear-groups "$cuprobe" $verb --kinds=kernel -- \
		"$app" loop -q -n 50 >out 2>err || fail "$verb"
	grep -q kernel out || fail "$verb shows nothing"
done

# Both ways at once, each attached in turn: each has all from when it came, and both say so.
rm -f a.cup truth.*.json
"$cuprobe" record -q --via=direct --graphs=node -o a.cup -- "$app" loop -q -d 4 -r 1000 >out 2>err &
recorder=$!
cleanup="kill $recorder 2>/dev/null"
sleep 1
for i in 1 2; do
	timeout 60 "$cuprobe" record -q --graphs=node -d 0.7 -o b$i.cup -p "$(pgrep -P $recorder -n)" \
		>out.$i 2>err.$i || { cat err.$i; fail "BPF beside the direct channel"; }
	expect "Nothing was lost: [1-9][0-9]* " out.$i
done
wait $recorder || { cat err; fail "the direct channel beside BPF"; }
expect "Nothing was lost: " out
is_true || fail "the direct channel beside BPF"

# dormant_ms FROM: how long after FROM (in ms) the library was dormant, by its log
dormant_ms() {
	awk -v from="$1" '$4 ~ /^dormant/ { at = $2 } END { printf("%d\n", at * 1000 - from) }' log
}

now_ms() {
	awk '{ printf("%d\n", $1 * 1000) }' /proc/uptime
}

# A collector that is killed: the program runs on, and all is off at once.
rm -f truth.*.json
for _ in 1 2; do
	rm -f log a.cup*
	CUPROBE_LOG=$tmp/log "$cuprobe" record -q --via=direct -o a.cup -- \
		"$app" loop -q -d 3 -r 1000 -t2 >out 2>err &
	recorder=$!
	cleanup="kill $recorder 2>/dev/null"
	until_line "cuprobe.*: active" log
	sleep 0.5
	target=$(pgrep -P $recorder -n)
	killed=$(now_ms)
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	until_line "cuprobe.*: dormant" log
	[ "$(dormant_ms "$killed")" -le 210 ] || fail "dormant after $(dormant_ms "$killed") ms"
	for _ in $(seq 100); do
		kill -0 "$target" 2>/dev/null || break
		sleep 0.05
	done
	[ "$(value "truth.$target.json" "it['violations']")" = "[]" ] || fail "violations"
	[ "$(value "truth.$target.json" "it['cupti']['cuptiFinalize']")" = 1 ] || fail "not given back"
done

# Its directory is removed by the next run.
rm -f a.cup*
recorded -- true || fail "a command that is no CUDA program"
[ -z "$(find /tmp -maxdepth 1 -name "cuprobe-$recorder-*")" ] || fail "left behind"

# refused WHY COMMAND: a process that does this to the socket is refused, and others are not
refused() {
	why=$1
	CUDA_INJECTION64_PATH=$BUILD_DIR/test/e2e/libcuprobe-fire.so listen -- \
		sh -c "$2; '$fire' batches:3:10" >out || fail "$2"
	expect "message: refused process [0-9]*: $why" out
	expect "records [0-9]* kernel: 30 missed 0 twice 0" out
}

cat >talk.py <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["CUPROBE_DIRECT"])
s.sendall(b"x" * int(sys.argv[1]))
s.recv(1)
END
refused "what it sends is not from" "python3 talk.py 1"
refused "what it sends is not from" "python3 talk.py 100000 2>&1 | grep -q Broken"
refused "it is another user's" 'chmod 777 "${CUPROBE_DIRECT%/*}" "$CUPROBE_DIRECT"
	setpriv --reuid 65534 --clear-groups python3 talk.py 1 2>&1 | grep -q Broken'

# says WHY SOCKET: the library does, and the program is as without
says() {
	rm -f log truth.*.json
	CUPROBE_LOG=$tmp/log CUPROBE_DIRECT=$2 "$app" loop -q -n 100 || fail "a program with $2"
	expect "cuprobe.* warning: the direct channel cannot be used: .*$1" log
}

says "nobody listens at '/no/such': No such file" /no/such
says "'$tmp/talk.py' is not a socket" "$tmp/talk.py"
python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("dead")'
says "nobody listens at '$tmp/dead': Connection refused" "$tmp/dead"
rm -f dead
python3 -c 'import os, socket, time
s = socket.socket(socket.AF_UNIX); os.setuid(65534); os.chdir("open"); s.bind("other"); s.listen()
os.chmod("other", 0o777); time.sleep(20)' &
cleanup="kill $! 2>/dev/null"
until [ -S open/other ]; do sleep 0.05; done
says "user 65534 listens at '$tmp/open/other', which is neither us nor root" "$tmp/open/other"

# A collector that has no descriptors for all of its processes says so, and the programs run on.
# shellcheck disable=SC2016
prlimit --nofile=25 timeout 60 "$cuprobe" record --via=direct -o a.cup -- sh -c \
	'for i in $(seq 30); do "$0" loop -n 100 -r 200 -q & done; wait' "$app" >out 2>&1 ||
	{ head out; fail "few descriptors"; }
grep -q "refused process .*: raise the limit of open files" out || { head out; fail "not told"; }
exit 0
