#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What cannot be done ends with one line that says what to do, and nothing is left behind.
. "$(dirname "$0")/common"

# says WORDS COMMAND...: the command fails with such a line
says() {
	words=$1
	shift
	timeout 60 "$@" >"$tmp/out" 2>&1
	grep -q "^failed: .*$words" "$tmp/out" || { cat "$tmp/out"; fail "not said: $words"; }
	[ "$(wc -l <"$tmp/out")" = 1 ] || { cat "$tmp/out"; fail "more than one line"; }
}

says "there is no process 4194303" "$listen" -p 4194303
sleep 60 &
plain=$!
cleanup="kill $plain 2>/dev/null"
env -u CUDA_INJECTION64_PATH sleep 60 &
bare=$!
cleanup="kill $plain $bare 2>/dev/null"
sleep 0.2
says "does not use CUDA: see .cuprobe list" "$listen" -p $bare
says "cannot run '/no/such': No such file" "$listen" -- /no/such
says "cannot run 'no-such': No such file" "$listen" -- no-such
says "cannot run '/tmp': Permission denied" "$listen" -- /tmp
says "cannot find the library '/no/lib.so' that CUDA_INJECTION64_PATH names" \
	env CUDA_INJECTION64_PATH=/no/lib.so "$listen" -- true
says "is not a libcuprobe.so: .*; unset CUDA_INJECTION64_PATH" \
	env CUDA_INJECTION64_PATH=/bin/true "$listen" -- true
says "attaching needs root, or CAP_BPF and CAP_PERFMON: try again with sudo, or .*-- CMD" \
	setpriv --reuid 65534 --clear-groups "$listen" -p $plain
says "cannot read the kernel's types" unshare -m sh -c \
	"mount -t tmpfs none /sys/kernel/btf && exec '$listen' -a"
says "no uprobes" unshare -m sh -c \
	"mount -t tmpfs none /sys/bus/event_source/devices && exec '$listen' -e -a"
