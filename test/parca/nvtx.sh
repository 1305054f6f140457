#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# NVTX events and names as the provider parcagpu gives them: each once, beside the native ones.
. "$(dirname "$0")/../e2e/common"
. "$(dirname "$0")/../e2e/simulator"
. "$(dirname "$0")/../e2e/nvtx_late"
. "$(dirname "$0")/common"
client=$BUILD_DIR/test/nvtx/nvtx_client
[ -x "$client" ] || { echo "SKIP: there are no nvtx3 headers"; exit 77; }
export NVTX_INJECTION64_PATH="$library"

# events NAME: "kind domain color payload text" of each event that was read, in any order
events() {
	sed -nE 's/^nvtx [0-9]+ [0-9]+ [0-9]+ kind (.) domain (.) color (\S+) payload (\S+) range \S+ device 0xffffffff /\1 \2 \3 \4 /p' \
		"$1.read" | LC_ALL=C sort
}

# same NAME: these are the client's, all of them
same() {
	events "$1" | diff expected - || { cat "$1.read"; fail "$1: not the events that it made"; }
	[ "$(sed -nE 's/^nvtx .* kind [34] .* range (\S+) .*/\1/p' "$1.read" | sort | uniq -c |
		awk '{ print $1 }' | sort | uniq -c | tr -d '\n')" = "      1 1      3 2" ] ||
		{ cat "$1.read"; fail "$1: ends of other ranges than were begun"; }
	grep -E "^(bad|lost|missed [1-9])" "$1.read" && fail "$1: not all can be read"
	grep -q "^name [0-9]* 1 [0-9]* main thread$" "$1.read" || fail "$1: no name of the thread"
	grep -q "^name [0-9]* 4 1 client domain$" "$1.read" || fail "$1: no name of the domain"
}

half=0x3fd0000000000000
LC_ALL=C sort >expected <<END
5 0 0 0 first
5 0 0 0 mark a
5 0 0 0 mark w é
1 0 0 0 outer
1 0 0 0 inner
2 0 0 0 
2 0 0 0 
2 0 0 0 
3 0 0 0 start a
4 0 0 0 
4 0 0 0 
5 1 0xff3366cc $half registered message
1 1 0xff3366cc $half registered message
2 1 0 0 
3 1 0xff3366cc $half registered message
4 1 0 0 
1 0 0 0 waiting
2 0 0 0 
3 0 0 0 across threads
4 0 0 0 
1 0 0 0 left open
5 0 0 0 last
END

consume start nvtx_event_batch nvtx_resource_name
timeout 60 "$client" >levels || fail "the client"
sleep 0.2
leave start
same start
printf 'level %d\n' 0 1 1 0 -1 0 0 | diff levels - || fail "levels"

# Consumers that come to a program that runs, with a recorder beside them.
start_waiting "$client" wait
sed -i '/^5 0 0 0 first$/d' expected
consume late nvtx_event_batch nvtx_resource_name
record_rest
sleep 0.2
leave late
same late
"$cuprobe" export -q -f text -o late.txt late.cup
[ "$(grep -cE ' nvtx (push|pop|start|end|mark) ' late.txt)" = 21 ] ||
	{ cat late.txt; fail "the recorder has not all events"; }

# More than anybody can read: 256 at a time, and what comes can be read.
consume many nvtx_event_batch
timeout 60 "$BUILD_DIR/test/nvtx/nvtx_stress" steady 1 >/dev/null || fail "nvtx_stress"
leave many
[ "$(awk '/^batch/ && $3 > most { most = $3 } END { print most }' many.read)" = 256 ] ||
	fail "batches: $(grep ^batch many.read | sort | uniq -c)"
grep -E "^(bad|lost)|UNREADABLE" many.read && fail "not all can be read"
exit 0
