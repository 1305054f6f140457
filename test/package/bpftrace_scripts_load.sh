#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bpftrace resolves every probe and field of the scripts against the library and abi.h, and the kernel
# takes the programs.
set -eu
library=$BUILD_DIR/src/inject/libcuprobe.so

command -v bpftrace >/dev/null || { echo "SKIP: no bpftrace"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "SKIP: bpftrace needs root"; exit 77; }

for script in "$SOURCE_DIR"/scripts/*.bt; do
	if ! output=$({ sed "s|usdt:\*|usdt:$library|" "$script"; echo 'interval:ms:1 { exit(); }'; } |
		timeout 60 bpftrace -I "$SOURCE_DIR/include" - 2>&1); then
		echo "$script:"
		echo "$output" | grep -A3 ERROR
		exit 1
	fi
done
