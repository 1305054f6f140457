#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Wrong use and bad files give one line that says what to do, the right exit status, and no file.
. "$(dirname "$0")/common"

# expect STATUS TEXT ARGUMENT...
expect() {
	status=$1
	text=$2
	shift 2
	got=0
	"$cuprobe" "$@" >stdout 2>stderr || got=$?
	if [ "$got" != "$status" ] || [ "$(wc -l <stderr)" != 1 ] ||
		! grep -q -- "^cuprobe: .*$text" stderr || [ -s stdout ]; then
		fail "cuprobe $*: status $got, not $status, or not '$text': $(cat stderr)"
	fi
}

head -c 3000 demo.cup >cut.cup
{ printf 'CUPROBE\n\377'; tail -c +10 demo.cup; } >newer.cup
head -c 100 demo.cup >empty.cup

expect 2 "unknown verb: 'bogus': see" bogus
expect 2 "unknown verb: 'bogus': see" help bogus
expect 2 "unknown option: '--bogus': see" report --bogus demo.cup
expect 2 "unknown option: '-x': see" report -x demo.cup
expect 2 "option needs a value: '--kinds'" report demo.cup --kinds
expect 2 "unknown kind: 'kernels'" report --kinds=kernels demo.cup
expect 2 "not a process id: '12x'" report -p 12x demo.cup
expect 2 "not a duration in seconds: 'soon'" stat -d soon -a
expect 2 "not a duration in seconds: 'nan'" stat -d nan -a
expect 2 "give only one of -p PID, -a and a command" stat -a -p 1
expect 2 "nothing to trace" record
expect 2 "unknown mode of --graphs: 'all'" record --graphs=all -a
expect 2 "give the capture to read" report
expect 2 "give one capture only" report demo.cup demo.cup
expect 2 "give a format with -f" export demo.cup
expect 2 "unknown format: 'xml'" export -f xml demo.cup
expect 1 "cannot read 'none': No such file" report none
expect 1 "cannot read '/etc/passwd': it is not a cuprobe capture" report /etc/passwd
expect 1 "cannot read '/dev/null': it is not a cuprobe capture" report /dev/null
expect 1 "cannot read '.': Is a directory" report .
expect 1 "newer cuprobe: use that one" report newer.cup
expect 1 "it ends before anything was recorded" report empty.cup
expect 1 "cannot write 'none/x': No such file" export -f csv -o none/x demo.cup

"$cuprobe" report cut.cup >stdout
says "The capture ends inside a chunk, after .* of 3000 bytes" stdout
if [ -w /dev/full ]; then
	status=0
	"$cuprobe" report demo.cup 2>stderr >/dev/full || status=$?
	[ $status = 1 ] || fail "a full standard output gives status $status"
	says "No space left" stderr
fi
rm stdout stderr
[ "$(echo ./*)" = "./cut.cup ./demo.cup ./empty.cup ./newer.cup" ] || fail "left behind: $(echo ./*)"
exit $failed
