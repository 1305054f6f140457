#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Addresses in stacks get their names while the program lives: from its symbols, its DWARF, a debug
# file apart, a perf map, or none.
. "$(dirname "$0")/common"
. "$(dirname "$0")/folded"

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

# A perf map in a /tmp of its own, under the number that the program has in its own pid namespace.
if ! unshare -mpf true 2>/dev/null; then
	echo "no namespaces to be had: the perf map in one was not tried"
	exit 0
fi
mkdir inside
cp "$launcher" inside
touch inside/library.so
timeout -k 1 60 "$cuprobe" record --library "$CUDA_INJECTION64_PATH" -q -d 2 -o inside.cup -- unshare -mpf sh -c '
	mount --bind "$CUDA_INJECTION64_PATH" inside/library.so && mount --rbind inside /tmp &&
	export CUDA_INJECTION64_PATH=/tmp/library.so && exec /tmp/launcher jit' >out 2>err ||
	{ cat err; fail "record inside"; }
"$cuprobe" export -q -f folded -o inside.folded inside.cup || fail "export inside"
wants inside "made at run time_[j];"
wants inside "$frames"
