#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi.h alone, first and twice, in every language that reads the probes.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
include=$SOURCE_DIR/include

cat >"$work/user.c" <<'C'
#include "cuprobe/abi.h"
#include "cuprobe/abi.h"
unsigned long size_of_kernel(void);
unsigned long size_of_kernel(void)
{
	return sizeof(struct cuprobe_kernel);
}
C
cp "$work/user.c" "$work/user.cpp"
gcc -std=c11 -pedantic -Wall -Wextra -Werror -I"$include" -c "$work/user.c" -o "$work/c.o"
clang -std=gnu17 -Wall -Wextra -Werror -I"$include" -c "$work/user.c" -o "$work/clang.o"
g++ -std=c++11 -Wall -Wextra -Werror -I"$include" -c "$work/user.cpp" -o "$work/cpp.o"
clang -target bpf -O2 -Wall -Werror -I"$include" -idirafter "/usr/include/$(gcc -dumpmachine)" \
	-c "$work/user.c" -o "$work/bpf.o"

if ! command -v bpftrace >/dev/null; then
	echo "SKIP: no bpftrace; C, C++ and BPF are fine"
	exit 77
fi
cat >"$work/user.bt" <<'BT'
#include "cuprobe/abi.h"
BEGIN { printf("%d %d\n", sizeof(struct cuprobe_kernel), CUPROBE_BATCH_BYTES); exit(); }
BT
bpftrace -I "$include" -d "$work/user.bt" >"$work/ast" 2>&1 || {
	cat "$work/ast"
	exit 1
}
