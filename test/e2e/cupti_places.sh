#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libcupti is found where toolkits and pip put it, that of the program's CUDA first.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"
mock=$BUILD_DIR/mock
mkdir driver
cp "$mock/libcuda.so.1" driver

# place FOLDER LIBRARY...: copies of the simulator's libraries
place() {
	mkdir -p "$1"
	for library in "$@"; do
		[ "$library" = "$1" ] || cp "$mock/$library" "$1"
	done
}

# found VERSION FOLDERS PROGRAM [NAME=VALUE]: the program, which finds its libraries in the folders,
# is recorded with a libcupti of that version. There is no toolkit on the machine.
found() {
	rm -f a.cup
	LD_LIBRARY_PATH=$2:$tmp/driver timeout 60 "$cuprobe" record -q --via=direct -o a.cup -- \
		unshare -m sh -c 'mount -t tmpfs none /usr/local && exec env "$@"' sh ${4:+"$4"} \
		"$3" loop -n 100 -q >out 2>err || { cat err; fail "$2: $?"; }
	"$cuprobe" report --json a.cup >report.json
	[ "$(value report.json "[it['processes'][0]['cupti'], sum(k['calls'] for k in it['kernels'])]")" = \
		"[$1, 100]" ] || { cat err report.json; fail "$2: not $1"; }
}

unshare -m mount -t tmpfs none /usr/local 2>/dev/null ||
	{ echo "SKIP: needs the right to mount"; exit 77; }

place toolkit/lib64 libcudart.so.13
place toolkit/extras/CUPTI/lib64 libcupti.so.13
found 130001 "$tmp/toolkit/lib64" "$app"
# A runtime that is linked statically lies nowhere.
found 130001 "" "$mock/mock_app_static" "CUDA_HOME=$tmp/toolkit"

place pip13/nvidia/cu13/lib libcudart.so.13 libcupti.so.13
found 130001 "$tmp/pip13/nvidia/cu13/lib" "$app"

# Another CUDA's in a path that was left behind is passed over, but taken where there is no other.
place stale cupti-12.9/libcupti.so.12
place pip/nvidia/cuda_runtime/lib libcudart.so.13
place pip/nvidia/cuda_cupti/lib libcupti.so.13
found 130001 "$tmp/stale:$tmp/pip/nvidia/cuda_runtime/lib" "$app"
rm -r pip/nvidia/cuda_cupti
found 28 "$tmp/stale:$tmp/pip/nvidia/cuda_runtime/lib" "$app"

# Without any, the program runs as ever, and the reason and the remedy are told.
LD_LIBRARY_PATH=$tmp/pip/nvidia/cuda_runtime/lib:$tmp/driver timeout 60 "$cuprobe" record -q --via=direct \
	-o b.cup -- unshare -m sh -c 'mount -t tmpfs none /usr/local && exec "$@"' sh "$app" loop -n 100 -q \
	>out 2>err || { cat err; fail "without: $?"; }
for text in "no libcupti was found for CUDA 13" CUPROBE_CUPTI_PATH; do
	grep -q "$text" out || { cat out err; fail "not told: $text"; }
done
