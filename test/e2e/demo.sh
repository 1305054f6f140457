#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make demo` ends with the names of its files, and they hold what they are said to.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"

mkdir build
ln -s "$BUILD_DIR/src" "$BUILD_DIR/mock" build
# On a machine with a GPU the demo is a program of its own, which is not for the simulator.
env -u LD_LIBRARY_PATH -u CUDA_INJECTION64_PATH -u MOCK_STRICT -u MOCK_TRUTH timeout 150 \
	"$SOURCE_DIR/scripts/demo.sh" build >out 2>err || { cat out err; fail "status $?"; }
expect "Nothing was lost" out

# file WHAT: the one that the demo names so
file() {
	tail -n 3 out | sed -n "s/^$1: *\([^ ]*\) .*/\1/p"
}

"$cuprobe" report --json "$(file capture)" >report.json
[ "$(value report.json 'len(it["kernels"]) > 0')" = True ] || fail "no kernels"
grep -q '^\[[0-9]*,"_*cudaLaunchKernel' "$(file 'flame graph')" || fail "no launch in the flame graph"
gzip -dc "$(file 'Chrome trace')" | grep -q '"cat":"kernel"' || fail "no kernel in the trace"
