#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each one-liner of scripts/README.md runs on a program, and shows something.
set -eu
command -v bpftrace >/dev/null || { echo "SKIP: no bpftrace"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "SKIP: bpftrace needs root"; exit 77; }
work=$(mktemp -d)
app=
trap 'kill ${app:-} 2>/dev/null || true; rm -rf "$work"' EXIT

CUDA_INJECTION64_PATH=$BUILD_DIR/src/inject/libcuprobe.so \
	"$BUILD_DIR/mock/mock_app" loop --quiet --rate=1000 --copy-every=3 --seconds=100 &
app=$!
sleep 0.5

sed -n 's/^    bpftrace -p PID -e //p' "$SOURCE_DIR/scripts/README.md" >"$work/lines"
[ "$(grep -c . "$work/lines")" -ge 5 ]
while read -r line; do
	echo "timeout -s INT 3 bpftrace -p $app -e $line" >"$work/run"
	sh "$work/run" >"$work/out" 2>"$work/err" || true
	grep -q '^@' "$work/out" || {
		echo "shows nothing: $line"
		cat "$work/out" "$work/err"
		exit 1
	}
	if grep -q '^@.*\[\]:' "$work/out"; then
		echo "shows an empty name: $line"
		cat "$work/out"
		exit 1
	fi
done <"$work/lines"
kill -0 $app
