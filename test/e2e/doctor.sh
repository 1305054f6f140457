#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cuprobe doctor` says what is missing, what to do, and fails when programs cannot be traced.
. "$(dirname "$0")/common"

# state NAME FILE: of one check in the JSON
state() {
	python3 -c "import json, sys
print(next(c['state'] for c in json.load(open(sys.argv[2]))['checks'] if c['name'] == sys.argv[1]))" \
		"$1" "$2"
}

"$cuprobe" doctor --json >"$tmp/good" || fail "a machine where the other tests work"
[ "$(state "BPF program" "$tmp/good")" = ok ] || fail "BPF program"
[ "$(state libcuprobe "$tmp/good")" = ok ] || fail "libcuprobe"

[ "$(state "direct channel" "$tmp/good")" = ok ] || fail "direct channel"

# Without BPF there is the direct channel.
if others_reach_us; then
	setpriv --reuid 65534 --clear-groups "$cuprobe" doctor --json >"$tmp/user" ||
		fail "exit status without privilege"
	[ "$(state privileges "$tmp/user")" = warn ] || fail "privileges"
	[ "$(state "direct channel" "$tmp/user")" = ok ] || fail "direct channel of a user"
fi

unshare -m sh -c "mount -t tmpfs none /sys/kernel/btf && exec '$cuprobe' doctor --json" >"$tmp/btf" ||
	fail "exit status without BTF"
[ "$(state "kernel types (BTF)" "$tmp/btf")" = warn ] || fail "BTF"

# Without a place for its socket, or the library, nothing can be traced.
for place in /tmp /var/tmp /dev/shm; do
	echo "mount --bind $place $place; mount -o remount,bind,ro $place"
done >"$tmp/mounts"
unshare -m sh -c ". '$tmp/mounts'; exec env -u TMPDIR '$cuprobe' doctor --json" >"$tmp/ro"
[ $? = 1 ] || fail "exit status without a place to write"
[ "$(state "direct channel" "$tmp/ro")" = fail ] || fail "direct channel without a place"

unshare -pf --mount-proc "$cuprobe" doctor --json >"$tmp/pid"
[ "$(state "process ids" "$tmp/pid")" = warn ] || fail "pid namespace"

CUDA_INJECTION64_PATH=/no/lib.so "$cuprobe" doctor >"$tmp/text"
[ $? = 1 ] || fail "exit status without the library"
expect "fail  libcuprobe" "$tmp/text"
