#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A debug file that only a debuginfod server has is found while recording; one that is gone, or never
# answers, holds up nobody for long.
. "$(dirname "$0")/common"
. "$(dirname "$0")/folded"
command -v python3 >/dev/null || { echo "SKIP: needs python3 to serve"; exit 77; }
/sbin/ldconfig -p | grep -q 'libdebuginfod\.so\.1' || { echo "SKIP: no libdebuginfod"; exit 77; }
export DEBUGINFOD_CACHE_PATH="$tmp/cache"

cp "$launcher" apart
id=$(readelf -n apart | sed -n 's/.*Build ID: *//p')
mkdir -p "store/buildid/$id"
objcopy --only-keep-debug apart "store/buildid/$id/debuginfo"
strip apart

# serve PYTHON...: starts a server that says which port it has; DEBUGINFOD_URLS is its
serve() {
	python3 -u "$@" >served 2>&1 &
	server=$!
	cleanup="kill $server 2>/dev/null"
	until_line ".*port [0-9]" served
	DEBUGINFOD_URLS=http://127.0.0.1:$(sed -n 's/.*port \([0-9]*\).*/\1/p' served)
	export DEBUGINFOD_URLS
}

serve -m http.server --bind 127.0.0.1 --directory store 0
folded apart >/dev/null
wants apart "$frames"

# From the cache, when the server is gone; and without it, what the file itself tells.
kill $server
folded apart >/dev/null
wants apart "$frames"
rm -r cache
folded apart >/dev/null
wants apart ";apart+0x"
[ ! -s err ] || { cat err; fail "a server that is gone is complained of"; }

# One that takes the question and says nothing.
serve -c 'import signal, socket
s = socket.create_server(("127.0.0.1", 0))
print("port", s.getsockname()[1])
signal.pause()'
timeout 60 "$cuprobe" record --library "$CUDA_INJECTION64_PATH" -d 2 -o silent.cup -- ./apart >out 2>err ||
	{ cat err; fail "a silent server"; }
expect "cuprobe: debuginfod did not answer within 30 s" err
"$cuprobe" export -q -f folded -o silent.folded silent.cup || fail "export silent"
wants silent ";apart+0x"
