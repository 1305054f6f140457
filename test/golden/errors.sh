#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Wrong use and bad files give one line that says what to do, the right exit status, and no file.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

# expect STATUS TEXT ARGUMENT...
expect() {
	status=$1
	text=$2
	shift 2
	got=0
	(cd "$tmp" && "$CUPROBE" "$@") >"$tmp/stdout" 2>"$tmp/stderr" || got=$?
	if [ "$got" != "$status" ] || [ "$(wc -l <"$tmp/stderr")" != 1 ] ||
		! grep -q -- "^cuprobe: .*$text" "$tmp/stderr" || [ -s "$tmp/stdout" ]; then
		echo "FAILED: cuprobe $*: status $got, not $status, or not '$text':"
		cat "$tmp/stderr"
		failed=1
	fi
}

"$MAKE_CAPTURE" demo "$tmp/whole"
head -c 3000 "$tmp/whole" >"$tmp/cut"
{ printf 'CUPROBE\n\377'; tail -c +10 "$tmp/whole"; } >"$tmp/newer"
head -c 100 "$tmp/whole" >"$tmp/empty"

expect 2 "unknown verb: 'bogus': see" bogus
expect 2 "unknown verb: 'bogus': see" help bogus
expect 2 "unknown option: '--bogus': see" report --bogus "$tmp/whole"
expect 2 "unknown option: '-x': see" report -x "$tmp/whole"
expect 2 "option needs a value: '--kinds'" report "$tmp/whole" --kinds
expect 2 "unknown kind: 'kernels'" report --kinds=kernels "$tmp/whole"
expect 2 "not a process id: '12x'" report -p 12x "$tmp/whole"
expect 2 "not a duration in seconds: 'soon'" stat -d soon -a
expect 2 "not a duration in seconds: 'nan'" stat -d nan -a
expect 2 "give only one of -p PID, -a and a command" stat -a -p 1
expect 2 "nothing to trace" record
expect 2 "unknown mode of --graphs: 'all'" record --graphs=all -a
expect 2 "give the capture to read" report
expect 2 "give one capture only" report "$tmp/whole" "$tmp/whole"
expect 2 "give a format with -f" export "$tmp/whole"
expect 2 "unknown format: 'xml'" export -f xml "$tmp/whole"
expect 1 "cannot read '.*/none': No such file" report "$tmp/none"
expect 1 "cannot read '/etc/passwd': it is not a cuprobe capture" report /etc/passwd
expect 1 "cannot read '/dev/null': it is not a cuprobe capture" report /dev/null
expect 1 "cannot read '.*': Is a directory" report "$tmp"
expect 1 "newer cuprobe: use that one" report "$tmp/newer"
expect 1 "it ends before anything was recorded" report "$tmp/empty"
expect 1 "cannot write '.*/none/x': No such file" export -f csv -o "$tmp/none/x" "$tmp/whole"

"$CUPROBE" report "$tmp/cut" >"$tmp/stdout"
grep -q "The capture ends inside a chunk, after .* of 3000 bytes" "$tmp/stdout" || {
	echo "FAILED: a capture that ends early is not said to"
	failed=1
}
if [ -w /dev/full ]; then
	status=0
	"$CUPROBE" report "$tmp/whole" 2>"$tmp/stderr" >/dev/full || status=$?
	if [ $status != 1 ] || ! grep -q "No space left" "$tmp/stderr"; then
		echo "FAILED: a full standard output gives status $status"
		failed=1
	fi
fi
rm "$tmp/stdout" "$tmp/stderr"
if [ "$(cd "$tmp" && echo ./*)" != "./cut ./empty ./newer ./whole" ]; then
	echo "FAILED: left behind:" "$tmp"/*
	failed=1
fi
exit $failed
