#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program in Python: each kernel is under the functions, files and lines of Python that launched it.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"
export CUPROBE_CUPTI_PATH="$BUILD_DIR/mock/libcupti.so.13" CUPROBE_STACK_BUDGET=100

# Whatever is first on PATH, and Debian's own.
for python in python3 /usr/bin/python3; do
	command -v "$python" >/dev/null || continue
	recorded -- "$python" "$SOURCE_DIR/test/mock/app.py" stacks.json 20 ||
		{ cat err; fail "$python"; }
	"$cuprobe" export -f folded -o stacks.folded a.cup 2>err || { cat err; fail "export"; }
	"$SOURCE_DIR/test/e2e/python_stacks.py" stacks.json stacks.folded || fail "$python"
done

# Without Python's frames there are the interpreter's own.
recorded --stacks=native -- python3 "$SOURCE_DIR/test/mock/app.py" stacks.json 20 || fail "native"
"$cuprobe" export -f folded -o stacks.folded a.cup 2>err || fail "export"
! grep -F 'app.py' stacks.folded || fail "Python frames that nobody asked for"
grep -q ';.*from_main' stacks.folded || fail "no native stacks"
