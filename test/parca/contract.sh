#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What parca-agent reads from the library, with the records of CUPTI 11.8, 12.4 and 13.0: every
# launch once, with the id of the outermost API, and its kernels after it, whole and readable.
. "$(dirname "$0")/../e2e/common"
. "$(dirname "$0")/../e2e/simulator"
. "$(dirname "$0")/common"
export PARCAGPU_RATE_LIMIT=1000000 PARCAGPU_GRAPH_RATE_LIMIT=1000000

# whole ARGUMENT...: all launches are told, and all kernels come
whole() {
	consume reader $agent kernel_executed
	run "$@"
	leave reader
	check reader --all
}

for cupti in libcupti.so.13 cupti-12.4/libcupti.so.12 cupti-11.8/libcupti.so.11.8; do
	export CUPROBE_CUPTI_PATH="$BUILD_DIR/mock/$cupti"
	whole loop -n 300 -t2 -g2 -s2 --api=mixed --copy-every=7
	whole loop -n 30 --graph=200
done
whole loop -n 3 --graph=3000
whole loop -n 100 -k4 --name-bytes=200
MOCK_DO="complete late=30 threads=4 order=random" whole loop -n 2000 -t3 -r 2000
MOCK_DO="complete late=30 threads=4 order=random" whole loop -n 100 -t2 --graph=100 -r 200

unset CUPROBE_CUPTI_PATH

# Ids: the runtime's with its number, the driver's negated, a launch through both once.
for pair in runtime:211:cudaLaunchKernel runtime13:505:__cudaLaunchKernel \
	ex:430:cudaLaunchKernelExC cooperative:269:cudaLaunchCooperativeKernel \
	ptsz:214:cudaLaunchKernel_ptsz driver:-307:cuLaunchKernel driver-ex:-652:cuLaunchKernelEx \
	driver-ptsz:-442:cuLaunchKernel_ptsz; do
	whole loop -n 5 --api="${pair%%:*}"
	rest=${pair#*:}
	[ "$(grep -c "^correlation [0-9]* [0-9]* ${rest%%:*} ${rest#*:}\$" reader.read)" = 5 ] ||
		{ cat reader.read; fail "$pair"; }
done
whole loop -n 5 --graph=3
grep -q "^correlation [0-9]* [0-9]* 311 cudaGraphLaunch\$" reader.read || fail "cudaGraphLaunch"

# A launch that failed has no kernel, and is not told.
consume reader $agent
MOCK_DO="fail cuLaunchKernel 719 nth=3" timeout 60 "$app" loop -q -n 5 2>/dev/null
leave reader
[ "$(grep -c "^correlation" reader.read)" = 2 ] || { cat reader.read; fail "a failed launch"; }
exit 0
