#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Distributions strip what they ship; the probes must survive, each with a semaphore.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

probes() # FILE
{
	readelf -n "$1" | awk '/Provider:/ { p = $2 } /Name:/ { n = $2 }
		/Semaphore:/ { print p ":" n, ($NF ~ /^0x0+$/ ? "none" : "semaphore") }' | sort
}

strip -o "$work/libcuprobe.so" "$BUILD_DIR/src/inject/libcuprobe.so"
probes "$BUILD_DIR/src/inject/libcuprobe.so" >"$work/before"
probes "$work/libcuprobe.so" >"$work/after"
diff -u "$work/before" "$work/after"
if grep none "$work/after"; then
	echo "a probe has no semaphore"
	exit 1
fi
for provider in cuprobe parcagpu; do
	sed -n "s/^\tprobe \([a-z_]*\)(.*/$provider:\1 semaphore/p" "$SOURCE_DIR/probes/$provider.d"
done | sort | diff -u - "$work/after"
