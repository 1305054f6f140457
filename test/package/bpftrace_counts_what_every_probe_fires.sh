#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# To bpftrace the arguments of every native probe that the simulator has work for are right, firing after
# firing: whole records, and their numbers add up.
set -eu
command -v bpftrace >/dev/null || { echo "SKIP: no bpftrace"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "SKIP: bpftrace needs root"; exit 77; }
[ -x "$BUILD_DIR/mock/mock_app" ] || { echo "SKIP: the simulator is not built"; exit 77; }
work=$(mktemp -d)
app=
trap 'kill ${app:-} 2>/dev/null || true; rm -rf "$work"' EXIT
names="api info kernel launch memcpy memory memset overhead pc_sample stack status string sync unified_memory"

CUDA_INJECTION64_PATH=$BUILD_DIR/src/inject/libcuprobe.so \
	"$BUILD_DIR/mock/mock_app" all -n 100000000 -q >"$work/app" &
app=$!
sleep 0.5

# shellcheck disable=SC2016,SC2086
probes=$(printf 'usdt:*:cuprobe:%s,' $names)
timeout 60 bpftrace -p $app -e "${probes%,} {
	@fired[probe] = count();
	if ((uint64)arg2 == 0 || (uint64)arg1 % (uint64)arg2 != 0) { @odd[probe] = count(); }
	if (@next[probe] != 0 && @next[probe] != (uint64)arg3) { @gap[probe] = count(); }
	@next[probe] = (uint64)arg3 + (uint64)arg2;
}
interval:s:6 { exit(); }" >"$work/out" 2>"$work/err" || { cat "$work/err"; exit 1; }

for name in $names; do
	grep -q "^@fired\[.*:cuprobe:$name\]: [1-9]" "$work/out" || {
		cat "$work/out" "$work/err"
		echo "$name is not seen"
		exit 1
	}
done
if grep -E '^@(odd|gap)' "$work/out"; then exit 1; fi
kill -0 $app
