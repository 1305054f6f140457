#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PC samples for consumers of the provider parcagpu: only where PARCAGPU_PC_SAMPLING_RATE asks for
# them, each with its launch, however many those are, and with the period that is in force.
. "$(dirname "$0")/../e2e/common"
. "$(dirname "$0")/../e2e/simulator"
. "$(dirname "$0")/common"
sampling="cuda_correlation activity_batch pc_sample_batch stall_reason_map gpu_config cubin_loaded"

# sampled SECONDS: a run of 500 launches a second, from modules of the driver's
sampled() {
	# shellcheck disable=SC2086
	consume reader $sampling
	run loop -r 500 -d "$1" --api=driver
	leave reader
	grep -E "^(bad|lost)|UNREADABLE" reader.read | grep -v "^cubin" && fail "not all can be read"
	windows=$(value truth.*.json "it['cupti'].get('cuptiPCSamplingStart', 0)")
	[ "$windows" = "$(value truth.*.json "it['cupti'].get('cuptiPCSamplingStop', 0)")" ] ||
		fail "$windows windows were opened, and not as many closed"
}

# has COUNT REGEX: so many lines at least
has() {
	[ "$(grep -cE "^$2" reader.read)" -ge "$1" ] || { cat reader.read; fail "no $1 lines '$2'"; }
}

for cupti in libcupti.so.13 cupti-12.4/libcupti.so.12 cupti-11.8/libcupti.so.11.8; do
	export CUPROBE_CUPTI_PATH="$BUILD_DIR/mock/$cupti"
	PARCAGPU_PC_SAMPLING_RATE=0 PARCAGPU_SAMPLING_FACTOR=18 sampled 1.5
	has 20 "pc [0-9]+ [0-9]+ 0x[0-9a-f]+ 0x[0-9a-f]+ [1-9][0-9]* [1-9][0-9]* [2-8] _Z"
	has 1 "cubin "
	has 1 "config [0-9]+ 0 18 1980000 132"
	has 1 "reason [0-9]+ 4 smsp__pcsamp_warps_issue_stalled_long_scoreboard$"
	grep "^config" reader.read | grep -v " 0 18 1980000 132" && fail "other configurations"
	check reader --all
	[ "$cupti" = cupti-11.8/libcupti.so.11.8 ] && continue # its samples do not know their launch
	awk '/^correlation/ { told[$3] = 1 } /^pc/ && !told[$3] { print "sample of launch " $3; bad = 1 }
		END { exit bad }' reader.read || fail "samples of launches that were not told"
done
unset CUPROBE_CUPTI_PATH

# The rate decides how often there is a window.
PARCAGPU_PC_SAMPLING_RATE=5000 sampled 2
[ "$windows" -ge 8 ] || fail "$windows windows for many samples"
PARCAGPU_PC_SAMPLING_RATE=0.5 sampled 3
[ "$windows" -le 2 ] || fail "$windows windows for few samples"

# Without the variable there are no samples, and launches are limited.
sampled 1
grep -E "^(pc|config)" reader.read && fail "samples that nobody asked for"
[ "$windows" = 0 ] || fail "$windows windows"
check reader --per-thread=110
exit 0
