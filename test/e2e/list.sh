#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cuprobe list` names CUDA processes without the library, and says why they have none.
. "$(dirname "$0")/common"

echo 'int cuInit(unsigned int flags) { return (int)flags; }' >"$tmp/cuda.c"
"${CC:-cc}" -shared -fPIC -o "$tmp/libcuda.so.1" "$tmp/cuda.c" || exit 77
export LD_PRELOAD="$tmp/libcuda.so.1"
real='' without='' wrong='' another='' idle='' with='' plain='' pids=''
begin() {
	name=$1
	shift
	"$@" &
	eval "$name=$!"
	pids="$pids $!"
	cleanup="kill $pids 2>/dev/null"
}
begin without env -u CUDA_INJECTION64_PATH sleep 60
begin wrong env CUDA_INJECTION64_PATH=/no/libcuprobe.so sleep 60
begin another env CUDA_INJECTION64_PATH="$tmp/libcuda.so.1" sleep 60
begin idle sleep 60
begin with "$fire" sleep:60000
unset LD_PRELOAD
begin plain sleep 60
. "$(dirname "$0")/simulator"
begin real "$app" loop -q -d 60
listen -d 3000 -p "$with" >"$tmp/listen" &
until_line attached "$tmp/listen"

"$cuprobe" list --json >"$tmp/list.json" || fail "exit status"
python3 - "$tmp/list.json" <<PYTHON || exit 1
import json, sys
rows = {row["pid"]: row for row in json.load(open(sys.argv[1]))["processes"]}
assert "started without CUDA_INJECTION64_PATH" in rows[$without]["note"], rows
assert "'/no/libcuprobe.so': No such file" in rows[$wrong]["note"], rows
assert "not cuprobe's" in rows[$another]["note"], rows
assert "has not called cuInit yet" in rows[$idle]["note"], rows
assert rows[$real]["note"] == "" and rows[$real]["library"].endswith("libcuprobe.so"), rows
# It has the probes only, and no threads: as the child of a process that has used the library.
assert "it was forked from a program that had used it" in rows[$with]["note"], rows
assert rows[$with]["library"].endswith("libcuprobe-fire.so"), rows
assert rows[$with]["consumed"] == "kernel,string,info,status", rows
assert rows[$with]["user"] == "root" and rows[$with]["command"] == "fire", rows
assert $plain not in rows, rows
PYTHON
"$cuprobe" list >"$tmp/list" || fail "exit status"
grep -q "^ *$with  *root  *fire  *kernel,string,info,status  */.*/libcuprobe-fire.so" "$tmp/list" ||
	{ cat "$tmp/list"; fail "the table"; }
"$cuprobe" list extra 2>"$tmp/error" && fail "an argument was taken"
expect "cuprobe: list takes no argument: 'extra'" "$tmp/error"
