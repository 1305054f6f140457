#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library goes into other people's processes: it brings nothing along and may not be unloaded.
set -eu
library=$BUILD_DIR/src/inject/libcuprobe.so

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
	grep -vE '^(libc\.so\.6|ld-linux.*)$' || true)
if [ -n "$needed" ]; then
	echo "libcuprobe.so needs more than libc:" "$needed"
	exit 1
fi
if readelf -d "$library" | grep -qE '\((RPATH|RUNPATH)\)'; then
	echo "libcuprobe.so has an rpath"
	exit 1
fi
flags=$(readelf -d "$library" | grep 'FLAGS')
for flag in NOW NODELETE; do
	echo "$flags" | grep -q "$flag" || { echo "libcuprobe.so lacks $flag: $flags"; exit 1; }
done
