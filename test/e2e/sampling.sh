#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PC samples and cubins through the whole chain: every sample that the simulator made is in the
# capture, and so is the code it is of, with every CUPTI.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"
cubin=$SOURCE_DIR/test/cubin/kernels.cubin

# samples_are_there: the sum of all samples is what the simulator gave away
samples_are_there() {
	"$cuprobe" export -q -f jsonl -o a.jsonl a.cup
	python3 - truth.*.json <<-'EOF' || { cat err; fail "samples or modules are missing: $1"; }
		import json, sys
		events = [json.loads(line) for line in open("a.jsonl")]
		samples = [e for e in events if e["kind"] == "pc_sample"]
		total = sum(e["samples"] for e in samples if e["pc_kind"] == "samples")
		truth = json.load(open(sys.argv[1]))
		made = truth["records"]["30"]["made"]
		print(total, "samples of", made)
		assert total == made and made > 100, (total, made)
		assert {e["name"] for e in samples} == {
		    "gather", "compute(float*, int)", "void reduce<1024>(float*, float const*, int)"}
		assert {e["stall"] for e in samples} >= {"long_scoreboard", "barrier", "wait"}
		crcs = {e["crc"] for e in samples}
		modules = [e for e in events if e["kind"] == "module"]
		assert len(crcs) == 1 and {m["crc"] for m in modules} == crcs, (crcs, modules)
		assert not truth["violations"], truth["violations"]
	EOF
}

for version in 13 cupti-12.9/libcupti.so.12 cupti-12.4/libcupti.so.12 cupti-11.8/libcupti.so.11.8; do
	[ "$version" = 13 ] || export CUPROBE_CUPTI_PATH="$BUILD_DIR/mock/$version"
	MOCK_KERNEL_NS=50000 recorded --kinds=pc_sample -- "$app" loop -n 600 --cubin="$cubin" ||
		fail "record with $version"
	samples_are_there "$version"
	unset CUPROBE_CUPTI_PATH
done

# In windows, with the launch that a sample belongs to.
CUPROBE_PC_MODE=serialized CUPROBE_PC_WINDOW_MS=40 CUPROBE_PC_EVERY_MS=80 MOCK_KERNEL_NS=50000 \
	recorded --kinds=pc_sample -- "$app" loop -n 4000 -r 4000 --cubin="$cubin" || fail "windows"
samples_are_there "in windows"
grep -q '"kind":"pc_sample".*"correlation":[1-9]' a.jsonl || fail "no sample has its launch"

# The code was read from the process, if it lived long enough, and tells the lines.
recorded --kinds=pc_sample -- "$app" loop -d 2 -r 5000 --cubin="$cubin" || fail "code"
grep -q "no GPU activity" err && fail "samples are no GPU activity"
samples_are_there "with code"
"$cuprobe" report --lines a.cup >lines || fail "no lines"
grep -q ' kernels.cu:[0-9]' lines || { cat lines; fail "the capture has no code"; }
"$cuprobe" report a.cup | grep -q "^Kernels by PC samples" || fail "not in the report"

# The library keeps no code: it is in the program's file, the one for this device.
python3 - "$cubin" fatbin <<-'EOF'
	import struct, sys
	cubin = open(sys.argv[1], "rb").read()
	entries = b""
	for arch, source in (80, b"kernels80."), (90, b"kernels.cu"), (92, b"kernels92."), (93, b"kernels93."):
	    code = cubin.replace(b"kernels.cu", source)
	    entries += struct.pack("<HHIQIIHHIQQQQ", 2, 0x101, 64, len(code), 0, 0, 0, 0, arch, 0, 0x11, 0, 0) + code
	open(sys.argv[2], "wb").write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries)
EOF
# lines_are_of SOURCE
lines_are_of() {
	CUPROBE_MODULE_MB=0 MOCK_KERNEL_NS=50000 recorded --kinds=pc_sample -- ./short loop -n 600 --cubin="$cubin" ||
		fail "short"
	"$cuprobe" report --lines a.cup >lines || fail "no lines"
	grep -q " $1:[0-9]" lines || { cat lines; fail "the code of $1 in the file was not found"; }
}
if command -v objcopy >/dev/null; then
	objcopy --add-section .nv_fatbin=fatbin "$app" ./short || fail "objcopy"
	lines_are_of kernels.cu
	MOCK_COMPUTE_MINOR=2 lines_are_of kernels92.
fi

# Attached later: what is launched is attributed; what is in graphs from before is counted.
later() {
	"$app" loop -d 60 -r 2000 --cubin="$cubin" "$@" >/dev/null &
	other=$!
	cleanup="kill $other 2>/dev/null"
	sleep 1
	timeout 60 "$cuprobe" record -q --kinds=pc_sample -d 2 -o b.cup -p $other >/dev/null || fail "later $*"
	"$cuprobe" export -q -f jsonl -o b.jsonl b.cup
	kill $other
	wait $other || true
}
later
grep -q '"pc_kind":"samples"' b.jsonl || fail "what is launched later is not attributed"
later --graph=5
grep -q '"pc_kind":"non-user"' b.jsonl || fail "what is not attributed is not counted"
if grep -q '"pc_kind":"samples"' b.jsonl; then fail "the simulator attributes graphs of before"; fi
