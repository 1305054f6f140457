#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `-- CMD` attaches to the command and its descendants from the first record on, and to nobody else.
. "$(dirname "$0")/common"

fire sleep:8000 say >"$tmp/other" &
other=$!
cleanup="kill $other 2>/dev/null"

# What a child fires that executes nothing comes through its probes only: there is one connection.
# -e: with an event for each probe.
ways=
set -- "" thread exec "fork exec" leave
[ $via = direct ] || { ways=-e; set -- "$@" fork "exec thread fork"; }

# Nobody waits for the consumer: it is there before the program begins.
for what in "$@"; do
	for way in "" $ways; do
		# shellcheck disable=SC2086
		listen $way -- "$fire" $what say batches:3:10 >"$tmp/out" || fail "$what"
		expect wanted "$tmp/out"
		expect "records [0-9]* kernel: 30 missed 0 twice 0" "$tmp/out"
		expect "processes 1 described 1" "$tmp/out"
		expect "ended 0 status 0" "$tmp/out"
	done
done
[ -z "$(consumed $other)" ] || fail "attached to a process that is no descendant"

# Descendants by way of a shell, with the environment that they inherit.
listen -- sh -c "'$fire' batches:1:5 & '$fire' batches:1:6; wait; exit 7" >"$tmp/out"
expect "records [0-9]* kernel: 5 " "$tmp/out"
expect "records [0-9]* kernel: 6 " "$tmp/out"
expect "processes 2 described 2" "$tmp/out"
expect "ended 0 status 7" "$tmp/out"

# What outlives the command is let go.
listen -- "$fire" daemon sleep:1500 say exit:0 >"$tmp/out"
expect "ended 0 status 0" "$tmp/out"
until_line unwanted "$tmp/out"

# A place where no library can be loaded from is passed over.
mkdir "$tmp/noexec"
if [ $via = bpf ] && mount -t tmpfs -o noexec tmpfs "$tmp/noexec" 2>/dev/null; then
	cleanup="umount '$tmp/noexec'; $cleanup"
	TMPDIR=$tmp/noexec listen -- "$fire" say >"$tmp/out"
	expect wanted "$tmp/out"
	[ -z "$(ls "$tmp/noexec")" ] || fail "a copy is left in the place that was passed over"
fi

[ -z "$(find /tmp -maxdepth 1 -name 'cuprobe-*' -newer "$tmp/other" -not -path "$tmp")" ] ||
	fail "something of the run is left behind"
