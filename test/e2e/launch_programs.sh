#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stacks of real launches, from the call to where the program or the thread started: without frame
# pointers, with inlined callers, on the smallest stack, without symbols, with the runtime linked in, from
# graphs.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"
export CUPROBE_CUPTI_PATH="$BUILD_DIR/mock/libcupti.so.13" CUPROBE_STACK_BUDGET=100

# stacks NAME PROGRAM [ARGUMENT...]: leaves the folded stacks in NAME
stacks() {
	name=$1
	shift
	recorded --kinds=kernel --stacks=native -- "$@" || { cat err; fail "$*"; }
	expect "Nothing was lost: " out
	"$cuprobe" export -q -f folded -o "$name" a.cup || fail "export"
	grep -q "^\[unattributed\]" "$name" && { cat "$name"; fail "$name: launches without a stack"; }
}

# wants NAME TEXT: a line of NAME has it (an extended regular expression)
wants() {
	grep -qE -- "$2" "$1" || { cat "$1"; fail "$1 has no '$2'"; }
}

program=$BUILD_DIR/test/e2e/launch_program
calls="train;train_step;inlined_step_\[i\];cuLaunchKernel;add\(float\*\)_\[g\] [0-9]+$"
stacks plain "$program"
wants plain "^_start;.*;main;$calls"
stacks small "$program" in-a-thread
# (Without its debug file the C library has no names for these.)
wants small "^[^;]*(clone3?|libc)[^;]*;(start_thread|libc[^;]*);(.*;)?$calls"
[ "$(wc -l <small)" = 1 ] || { cat small; fail "one thread's stack has several lines"; }

cp "$program" stripped && strip stripped
stacks stripped ./stripped
wants stripped "^stripped\+0x[0-9a-f]+;.*;stripped\+0x[0-9a-f]+;cuLaunchKernel;add"

stacks static "${app}_static" loop -q -d 1 -r 500
wants static "(start_thread|libc[^;]*);(.*;)?worker_main;.*;cudaLaunchKernel;.*_\[g\] [0-9]+$"

# What a graph does is led back to where its nodes were made, all of it.
recorded --kinds=kernel --stacks=native -- "$app" loop -q -d 1 -r 300 --graph=30 || fail "graph"
"$cuprobe" flame -q --graph-stacks=capture -o capture.svg a.cup || fail "flame"
grep -q '"worker_graph"' capture.svg || fail "no stack of the capture"
grep -q '"worker_step"' capture.svg && fail "some of the graph is not led back to its capture"
exit 0
