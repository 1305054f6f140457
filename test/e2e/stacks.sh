#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Addresses in stacks get their names while the program lives: from its symbols, its DWARF, a debug
# file apart, a perf map, or none.
. "$(dirname "$0")/common"
cd "$tmp" || exit 1
launcher=$BUILD_DIR/test/e2e/launcher

# folded NAME MODE...: records ./NAME, and prints its folded stacks
folded() {
	name=$1
	shift
	timeout 60 "$cuprobe" record --library "$CUDA_INJECTION64_PATH" -q -d 2 -o "$name.cup" -- \
		"./$name" "$@" >out 2>err || { cat err; fail "record $name"; }
	"$cuprobe" export -q -f folded -o - "$name.cup" >"$name.folded" || fail "export $name"
	cat "$name.folded"
}

# wants NAME TEXT: the folded stacks of NAME hold the text
wants() {
	grep -qF -- "$2" "$1.folded" || { cat "$1.folded"; fail "$1 lacks '$2'"; }
}

frames=';main;train_epoch;Model.forward (models/net.py:42);train_step;inlined_step_[i];cudaLaunchKernel;gemm(float*)_[g] 3000'

# All of it, and the sum of the kernels' times.
cp "$launcher" whole
folded whole jit >/dev/null
wants whole "$frames"
wants whole "made at run time_[j];"
[ "$(wc -l <whole.folded)" = 1 ] || fail "one stack has several lines"

# Without Python: neither shown nor taken.
timeout 60 "$cuprobe" record --library "$CUDA_INJECTION64_PATH" -q -d 2 --stacks=native -o native.cup -- \
	sh -c 'echo "$CUPROBE_NATIVE_STACKS" >native; exec ./whole' >out 2>err || { cat err; fail "native"; }
[ "$(cat native)" = 1 ] || fail "the library is not told"
"$cuprobe" export -q -f folded -o native.folded native.cup || fail "export native"
wants native ";main;train_epoch;train_step;inlined_step_[i];cudaLaunchKernel;gemm(float*)_[g] 3000"

# No stacks: all is still there.
timeout 60 "$cuprobe" record --library "$CUDA_INJECTION64_PATH" -q -d 2 --stacks=off -o off.cup -- ./whole \
	>out 2>err || { cat err; fail "off"; }
"$cuprobe" export -q -f folded -o off.folded off.cup || fail "export off"
grep -qE '^\[(unattributed|a stack that was not received)\];cudaLaunchKernel;gemm\(float\*\)_\[g\] 3000$' off.folded || { cat off.folded; fail "off"; }

# A program that is gone before its last stacks arrive.
cp "$launcher" gone
folded gone exit >/dev/null
wants gone "$frames"

# One that was never seen alive: nobody can tell any more, and nothing is lost.
cp "$launcher" brief
folded brief exit hurry >/dev/null
[ "$(awk '{ sum += $NF } END { print sum }' brief.folded)" = 3000 ] || fail "brief has another sum"
grep -qE '(;main;|\[unknown\];).*gemm' brief.folded || { cat brief.folded; fail "brief"; }

# No symbols: the place in the file stands for the name.
cp "$launcher" stripped
strip stripped
folded stripped >/dev/null
grep -qE ';stripped\+0x[0-9a-f]+;Model.forward \(models/net.py:42\);' stripped.folded ||
	{ cat stripped.folded; fail "stripped"; }

# A debug file apart, found by its build id.
cp "$launcher" apart
id=$(readelf -n apart | sed -n 's/.*Build ID: *//p')
[ -n "$id" ] || fail "no build id"
mkdir .debug
objcopy --only-keep-debug apart .debug/apart.debug
strip apart
objcopy --add-gnu-debuglink=.debug/apart.debug apart
folded apart >/dev/null
wants apart "$frames"
