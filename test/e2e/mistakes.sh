#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `cuprobe` says when it cannot: one line with what to do, status 1, and no file. (golden/
# errors.sh has wrong options and files, record.sh the full disk.)
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"

# says WORDS COMMAND...
says() {
	words=$1 status=0
	shift
	timeout 60 "$@" >out 2>err || status=$?
	[ $status = 1 ] || { cat out err; fail "$*: status $status"; }
	grep -q "^cuprobe: .*$words" err || { cat out err; fail "$*: not said: $words"; }
	[ "$(wc -l <err)" = 1 ] || { cat err; fail "$*: more than one line"; }
	[ ! -s out ] || { cat out; fail "$*: something on the standard output"; }
	[ -z "$(find . -name '*.cup*')" ] || fail "$*: left $(find . -name '*.cup*')"
}

"$app" loop -q -d 60 -r 500 &
traced=$!
env -u CUDA_INJECTION64_PATH "$app" loop -q -d 60 -r 500 &
bare=$!
env -u CUDA_INJECTION64_PATH sleep 60 &
none=$!
cleanup="kill $traced $bare $none 2>/dev/null"
sleep 0.4

for verb in record stat trace; do
	says "there is no process 4194303" "$cuprobe" $verb -p 4194303
	says "does not use CUDA" "$cuprobe" $verb -p $none
	says "CUDA_INJECTION64_PATH" "$cuprobe" $verb -p $bare
	says "attaching needs root, or CAP_BPF and CAP_PERFMON: try again with sudo, or .*-- CMD" \
		setpriv --reuid 65534 --clear-groups "$cuprobe" $verb -p $traced
	says "attaching needs root, or CAP_BPF and CAP_PERFMON" \
		setpriv --bounding-set=-sys_admin,-bpf,-perfmon \
		"--inh-caps=-sys_admin,-bpf,-perfmon" "$cuprobe" $verb -p $traced
	says "cannot read the kernel's types" unshare -m sh -c \
		"mount -t tmpfs none /sys/kernel/btf && exec '$cuprobe' $verb -p $traced"
	says "attaching needs root, .*: try again with sudo, or without --via" \
		setpriv --reuid 65534 --clear-groups "$cuprobe" $verb --via=bpf -- "$app" loop
done
kill -0 $traced || fail "the program is gone"

# A byte that is not as it was: what comes before is shown, and that it is not all.
timeout 60 "$cuprobe" record -q -d 0.5 -o whole.cup -p $traced >out 2>err || fail "record"
bytes=$(stat -c %s whole.cup)
cp whole.cup damaged.cup
printf '\252\125\252\125' | dd of=damaged.cup bs=1 seek=$((bytes / 2)) conv=notrunc 2>err
"$cuprobe" report damaged.cup >out 2>err
expect "The capture " out
head -c $((bytes / 2)) whole.cup >cut.cup
"$cuprobe" report cut.cup >out 2>err
expect "The capture ends " out

# A disk that is full when an export is written: nothing half-written is left.
mkdir small
if mount -t tmpfs -o size=16k none small 2>/dev/null; then
	cleanup="umount small; $cleanup"
	status=0
	"$cuprobe" export -f chrome -o small/trace.json whole.cup >out 2>err || status=$?
	[ $status = 1 ] || fail "export to a full disk gives $status"
	grep -q "^cuprobe: .*No space left" err || { cat err; fail "a full disk is not said"; }
	[ -z "$(ls small)" ] || fail "left on the full disk: $(ls small)"
fi
exit 0
