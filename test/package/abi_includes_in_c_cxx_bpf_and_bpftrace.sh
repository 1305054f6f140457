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

if ! command -v bpftrace >/dev/null || [ "$(id -u)" != 0 ]; then
	echo "SKIP: no bpftrace, or not root; C, C++ and BPF are fine"
	exit 77
fi
cat >"$work/sizes.c" <<'C'
#include <stdio.h>
#include "cuprobe/abi.h"
int main(void)
{
	return printf("%zu bytes, %d\n", sizeof(struct cuprobe_kernel), CUPROBE_BATCH_BYTES) < 0;
}
C
gcc -I"$include" "$work/sizes.c" -o "$work/sizes"
cat >"$work/user.bt" <<'BT'
#include "cuprobe/abi.h"
BEGIN { printf("%d bytes, %d\n", sizeof(struct cuprobe_kernel), CUPROBE_BATCH_BYTES); exit(); }
BT
bpftrace -I "$include" "$work/user.bt" >"$work/out" 2>&1 && grep -qFx "$("$work/sizes")" "$work/out" || {
	cat "$work/out"
	exit 1
}
