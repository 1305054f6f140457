#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything that only a GPU can show, in about eight minutes. Needs root, an NVIDIA GPU and the
# tree of `make dist`; PyTorch and transformers for the steps llm and bench.
#
#	test/gpu/all.sh [STEP...]	steps: doctor mix direct managed peer midway versions stalls
#					llm nvtx stacks sampled bench; when asked for: cycles (readers that
#					come and go 100 times), standstill (which calls wait for CUPTI for
#					ever), late (which calls make CUPTI attribute functions of before,
#					and what it attributes in PyTorch)
#
# CUPROBE_DIST	the tree (dist/)	OUT	folder for the results (/tmp/cuprobe-gpu)
# CUPTI_FOLDERS	folders with other versions of libcupti, for the step versions
# BENCH_OPTIONS	options of scripts/bench_gpu.py (--quick, --budget SECONDS, ...)
#
# Prints one line for each claim; all output is in $OUT/logs.tar.gz.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dist=$(cd "${CUPROBE_DIST:-$root/dist}" && pwd) || exit 2
out=${OUT:-${TMPDIR:-/tmp}/cuprobe-gpu}
scratch=$(mktemp -d)
logs=$scratch/logs
cuprobe=$dist/bin/cuprobe
full=kernel,memcpy,memset,sync,api,memory
failures=0
export PYTHONDONTWRITEBYTECODE=1

[ "$(id -u)" = 0 ] || { echo "SKIP: needs root for BPF"; exit 77; }
[ -e /dev/nvidiactl ] || { echo "SKIP: needs an NVIDIA GPU"; exit 77; }
mkdir -p "$out" "$logs"
: >"$out/summary.txt"

say()
{
	echo "$*" | tee -a "$out/summary.txt"
}

# What a step said that matters: all of it when it is short, else the failures and a count.
digest() # NAME LOG
{
	local lines
	lines=$(grep -cE '^(PASS|FAIL|SKIP)' "$2")
	if [ "$lines" -gt 4 ]; then
		say "$1: $(grep -c ^PASS "$2") claims hold"
		grep -A 4 ^FAIL "$2" | grep -v ^PASS | head -30 | sed "s/^/$1: /" | tee -a "$out/summary.txt"
	else
		grep -A 4 -E '^(PASS|FAIL|SKIP)' "$2" | grep -E '^(PASS|FAIL|SKIP|    )' |
			sed "s/^/$1: /" | tee -a "$out/summary.txt"
	fi
}

step() # NAME SECONDS COMMAND...; its standard output goes to the file `to` when that is set
{
	local name=$1 seconds=$2 log=$logs/$1.log status=0 start=$SECONDS
	shift 2
	: >"$log"
	timeout -k 5 "$seconds" "$@" >>"${to:-$log}" 2>>"$log" || status=$?
	digest "$name" "$log"
	if [ $status != 0 ] && [ $status != 77 ]; then
		failures=$((failures + 1))
		if ! grep -q ^FAIL "$log"; then
			say "$name: FAIL exit status $status after $((SECONDS - start)) s; it ends:"
			tail -5 "$log" | sed 's/^/    /' | tee -a "$out/summary.txt"
		fi
	fi
	return $status
}

capture() # NAME SECONDS GRAPHS KINDS COMMAND...: NAME.cup, NAME.out and NAME.json.gz in $scratch
{
	local name=$1 seconds=$2 graphs=$3 kinds=$4
	shift 4
	to=$scratch/$name.out step "$name.record" "$seconds" "$cuprobe" record --graphs="$graphs" \
		--via="${VIA:-bpf}" --stacks="${STACKS:-python}" --kinds "$kinds" -o "$scratch/$name.cup" -- "$@"
	exported "$name" --whole
}

exported() # NAME [--whole]
{
	step "$1.export" 60 "$cuprobe" export -f chrome -o "$scratch/$1.json.gz" "$scratch/$1.cup" &&
		step "$1.report" 60 "$cuprobe" report "$scratch/$1.cup" &&
		to=$scratch/$1.report.json step "$1.json" 60 "$cuprobe" report --json "$scratch/$1.cup" &&
		step "$1.ledger" 30 python3 "$here/ledger_check.py" ${2:+"$2"} "$scratch/$1.report.json" \
			"$scratch/$1.json.gz"
}

run_doctor()
{
	step doctor 30 "$cuprobe" doctor
	tail -40 "$logs/doctor.log"
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
}

run_mix()
{
	local mix=$dist/bench/mix
	capture mix 60 node $full "$mix" --rounds 20 --idle-ms 200
	step mix.truth 20 python3 "$here/truth_check.py" --report "$scratch/mix.report.json" \
		"$scratch/mix.out" "$scratch/mix.json.gz"
	step mix.csv 20 "$cuprobe" export -f csv -o "$scratch/mix.csv" "$scratch/mix.cup"
	step mix.rows 20 python3 "$here/ledger_check.py" --csv "$scratch/mix.csv" \
		"$scratch/mix.report.json"
	step mix.times 20 python3 "$here/check_times.py" "$scratch/mix.json.gz"
	capture mix-graph 60 graph $full,graph "$mix" --rounds 20
	step mix-graph.truth 20 python3 "$here/truth_check.py" --graphs graph \
		--report "$scratch/mix-graph.report.json" "$scratch/mix-graph.out" \
		"$scratch/mix-graph.json.gz"
	capture mix-threads 60 node $full "$mix" --rounds 50 --threads 8
	step mix-threads.truth 20 python3 "$here/truth_check.py" "$scratch/mix-threads.out" \
		"$scratch/mix-threads.json.gz"
	capture mix-big 90 node kernel,memcpy,memset "$mix" --rounds 300 --nodes 500
	step mix-big.truth 60 python3 "$here/truth_check.py" --no-calls "$scratch/mix-big.out" \
		"$scratch/mix-big.json.gz"
	cp "$scratch/mix.cup" "$scratch/mix.json.gz" "$out/"
}

# The same counts without BPF, as root and as somebody with no rights at all.
run_direct()
{
	local truth="python3 $here/truth_check.py"
	VIA=direct capture direct 60 node $full "$dist/bench/mix" --rounds 20
	step direct.truth 20 $truth --report "$scratch/direct.report.json" "$scratch/direct.out" \
		"$scratch/direct.json.gz"
	mkdir -m 777 "$scratch/nobody" && chmod 755 "$scratch"
	to=$scratch/nobody.out step nobody.record 60 setpriv --reuid=65534 --regid=65534 --clear-groups \
		env HOME=/tmp TMPDIR="$scratch/nobody" "$cuprobe" record --graphs=node --kinds $full \
		-o "$scratch/nobody/nobody.cup" -- "$dist/bench/mix" --rounds 20
	cp "$scratch/nobody/nobody.cup" "$scratch/nobody.cup"
	exported nobody --whole
	step nobody.truth 20 $truth --report "$scratch/nobody.report.json" "$scratch/nobody.out" \
		"$scratch/nobody.json.gz"
}

run_managed()
{
	to=$scratch/managed.out step managed.record 60 "$cuprobe" record --kinds=kernel,unified_memory \
		-o "$scratch/managed.cup" -- "$dist/bench/managed"
	exported managed --whole
	step managed.truth 20 python3 "$here/managed_check.py" "$scratch/managed.out" \
		"$scratch/managed.report.json"
}

run_peer()
{
	[ "$(nvidia-smi -L | wc -l)" -gt 1 ] || { say "peer: SKIP needs two GPUs"; return; }
	capture peer 60 node kernel,memcpy "$dist/bench/peer"
	step peer.csv 20 "$cuprobe" export -f csv -o "$scratch/peer.csv" "$scratch/peer.cup"
	step peer.truth 20 python3 "$here/peer_check.py" "$scratch/peer.out" "$scratch/peer.csv"
}

run_nvtx()
{
	capture nvtx 120 node kernel,api,nvtx python3 "$here/llm.py" --ranges
	to=$scratch/nvtx.rows step nvtx.rows 60 "$cuprobe" report --nvtx --json "$scratch/nvtx.cup"
	step nvtx.check 60 python3 "$here/nvtx_check.py" "$scratch/nvtx.rows" "$scratch/nvtx.json.gz"
}

run_midway()
{
	step midway.record 60 "$here/attach_midway.sh" "$dist" "$scratch/midway.cup" \
		"$scratch/midway.out" "$dist/bench/mix" --seconds 12 --pause-us 2000
	exported midway
	step midway.truth 60 python3 "$here/truth_check.py" --partial --skip-ms 500 \
		"$scratch/midway.out" "$scratch/midway.json.gz"
}

run_versions()
{
	# shellcheck disable=SC2086 # a list of folders
	step versions 200 "$here/versions.sh" "$dist" "$scratch" ${CUPTI_FOLDERS:-}
}

# Three kernels of known character: the hottest line and what they wait for; and in windows.
run_stalls()
{
	local mode windows
	for mode in continuous serialized; do
		[ $mode = continuous ] && windows='' || windows=--windows
		to=$scratch/stalls-$mode.out step "stalls-$mode.record" 60 env CUPROBE_PC_MODE=$mode \
			CUPROBE_PC_WINDOW_MS=200 CUPROBE_PC_EVERY_MS=400 "$cuprobe" record --kinds=pc_sample \
			-o "$scratch/stalls-$mode.cup" -- "$dist/bench/stalls" --seconds 8
		to=$scratch/stalls-$mode.json step "stalls-$mode.report" 60 "$cuprobe" report --lines --json \
			"$scratch/stalls-$mode.cup"
		step "stalls-$mode.check" 20 python3 "$here/stalls_check.py" $windows "$scratch/stalls-$mode.out" \
			"$scratch/stalls-$mode.json"
		cp "$scratch/stalls-$mode.json" "$scratch/stalls-$mode.cup" "$out/"
	done
	(cd "$here/../cubin" && "$cuprobe" report --html -o "$out/stalls.html" "$scratch/stalls-continuous.cup")
}

with_cupti() # SOURCE PROGRAM: one that uses CUPTI by itself
{
	nvcc -O2 -lineinfo -arch=native -cudart static -I"$root/microbenchmarks" -Xcompiler -pthread \
		-o "$2" "$here/$1" "$root/microbenchmarks/bench.c" -lcuda -lcupti \
		-L/usr/local/cuda/lib64 -L/usr/local/cuda/extras/CUPTI/lib64
}

beside_cupti="LD_LIBRARY_PATH=/usr/local/cuda/extras/CUPTI/lib64:/usr/local/cuda/lib64"

# What the library leaves behind is seen without cuptiFinalize(), which leaves something itself.
run_cycles()
{
	local cycles=${CYCLES:-100} options stalls="$dist/bench/stalls --seconds 1000"
	# shellcheck disable=SC2086 # a command with its options
	{
		LEFT_KB=any step cycles 300 "$here/cycles.sh" "$dist" "$scratch" "$cycles" \
			--kinds=pc_sample $stalls
		CUPROBE_RELEASE=unsubscribe SLOWER_PERCENT=any step cycles-kept 120 "$here/cycles.sh" \
			"$dist" "$scratch" $((cycles / 3)) --kinds=pc_sample $stalls
	}
	for options in "--kinds=kernel --stacks=python" --kinds=pc_sample; do
		LEFT_KB=any SLOWER_PERCENT=any step "cycles-${options##*=}" 200 "$here/cycles.sh" "$dist" \
			"$scratch" $((cycles / 3)) "$options" python3 "$here/llm.py" --seconds 1000
	done
	with_cupti finalize_cycles.cu "$scratch/finalize_cycles" || return 1
	for options in "" --no-samples --no-finalize; do
		# shellcheck disable=SC2086 # none, or one
		env "$beside_cupti" timeout 60 "$scratch/finalize_cycles" $options
	done | tee "$out/finalize.txt"
}

run_standstill()
{
	with_cupti standstill.cu "$scratch/standstill" || return 1
	step standstill 150 env "$beside_cupti" "$scratch/standstill"
	cat "$logs/standstill.log"
}

run_late()
{
	with_cupti late_functions.cu "$scratch/late" || return 1
	to=$out/late.txt step late 60 env "$beside_cupti" "$scratch/late"
	cat "$out/late.txt"
	for mode in eager graph; do
		late_in_torch "$mode"
	done
}

late_in_torch() # MODE
{
	local log=$scratch/late-$1.out pid
	CUDA_INJECTION64_PATH=$dist/lib/libcuprobe.so timeout 90 python3 "$here/llm.py" --mode "$1" \
		--seconds 12 >"$log" 2>&1 &
	pid=$!
	until grep -q ready "$log" || ! kill -0 $pid 2>/dev/null; do sleep 0.2; done
	pid=$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$log" | head -1)
	step "late-$1.record" 30 "$cuprobe" record --kinds=pc_sample -d 5 -o "$scratch/late-$1.cup" -p "$pid"
	step "late-$1.report" 60 "$cuprobe" report --stalls "$scratch/late-$1.cup"
	grep -vE '^ *[0-9]* +[0-9]* +[0-9]* ' "$logs/late-$1.report.log" | cut -c1-150 | head -14
	wait
	say "late-$1: the program said $(tail -1 "$log")"
}

# References first, side by side: two runs of the same work, and what is compared is counts.
run_llm()
{
	local mode
	for mode in eager graph; do
		timeout -k 5 120 python3 "$here/llm.py" --mode $mode --profile "$scratch/torch-$mode.json" \
			>"$logs/torch-$mode.log" 2>&1 &
	done
	wait
	for mode in eager graph; do
		capture "llm-$mode" 120 node $full python3 "$here/llm.py" --mode $mode
		step "llm-$mode.counts" 60 python3 "$here/compare_counts.py" "$scratch/torch-$mode.json" \
			"$scratch/llm-$mode.json.gz"
		step "llm-$mode.times" 60 python3 "$here/check_times.py" "$scratch/llm-$mode.json.gz"
	done
	step llm-midway.record 120 env CUPTI_IS_MAPPED_ANYWAY=1 "$here/attach_midway.sh" "$dist" \
		"$scratch/llm-midway.cup" "$scratch/llm-midway.out" python3 "$here/llm.py" --seconds 14
	exported llm-midway
	step llm-midway.counts 90 python3 "$here/compare_counts.py" --skip-ms 500 \
		"$scratch/torch-eager.json" "$scratch/llm-midway.json.gz"
	step llm-profiler 120 env CUDA_INJECTION64_PATH="$dist/lib/libcuprobe.so" \
		python3 "$here/llm.py" --profile "$scratch/torch-loaded.json"
	step llm-profiler.counts 60 python3 "$here/compare_counts.py" "$scratch/torch-eager.json" \
		"$scratch/torch-loaded.json"
	cp "$scratch/llm-eager.json.gz" "$out/"
}

# Eager, and the graph with the stacks that captured its nodes.
run_stacks()
{
	local mode
	for mode in eager graph; do
		capture "stacks-$mode" 120 node kernel python3 "$here/llm.py" --mode $mode --passes 60
		step "stacks-$mode.folded" 60 "$cuprobe" export -f folded -o "$scratch/stacks.folded" \
			"$scratch/stacks-$mode.cup"
		step "stacks-$mode.check" 30 python3 "$here/stacks_check.py" --python "$scratch/stacks.folded" \
			"$scratch/stacks-$mode.report.json"
		step "stacks-$mode.flame" 60 "$cuprobe" flame -o "$out/stacks-$mode.html" \
			"$scratch/stacks-$mode.cup"
		cp "$scratch/stacks-$mode.cup" "$out/"
	done
}

# Samples beside measured times: a graph of kernels node by node, from the start.
run_sampled()
{
	local llm="python3 $here/llm.py --mode graph --seconds 6"
	# shellcheck disable=SC2086 # a command with its options
	{
		to=$scratch/price step sampled.bare 60 $llm && tail -1 "$scratch/price"
		to=$scratch/price step sampled.floor 60 env FLOOR_KINDS=pc_sample \
			CUDA_INJECTION64_PATH="$dist/bench/libcupti_floor.so" $llm && tail -1 "$scratch/price"
		to=$scratch/price step sampled.price 60 "$cuprobe" record -q --kinds=pc_sample \
			-o "$scratch/price.cup" -- $llm && tail -1 "$scratch/price"
	} | tee "$out/sampled-price.txt"
	to=$scratch/sampled.out step sampled.record 120 "$cuprobe" record --graphs=node \
		--kinds=kernel,pc_sample -o "$scratch/sampled.cup" -- \
		python3 "$here/llm.py" --mode graph --seconds 10
	to=$scratch/sampled.json step sampled.report 60 "$cuprobe" report --json "$scratch/sampled.cup"
	to=$scratch/sampled.stalls step sampled.stalls 60 "$cuprobe" report --stalls --json \
		"$scratch/sampled.cup"
	step sampled.check 20 python3 "$here/sampled_check.py" "$scratch/sampled.json" \
		"$scratch/sampled.stalls"
	cp "$scratch/sampled.json" "$scratch/sampled.stalls" "$logs/"
}

run_bench()
{
	# shellcheck disable=SC2086 # a list of options
	step bench 420 "$root/scripts/bench-gpu.sh" --raw "$out/bench-gpu.jsonl" \
		${BENCH_OPTIONS:---budget 260}
	cp "$logs/bench.log" "$out/bench-gpu.txt"
	cat "$logs/bench.log"
}

for program in mix managed peer stalls; do
	[ ! -x "$dist/bench/$program" ] || continue
	mkdir -p "$dist/bench"
	nvcc -O2 -lineinfo -arch=native -cudart static -I"$root/microbenchmarks" \
		-o "$dist/bench/$program" "$here/$program.cu" "$root/microbenchmarks/bench.c" || exit 2
done
for name in "${@:-doctor mix direct managed peer midway versions stalls llm nvtx stacks sampled bench}"; do
	for one in $name; do
		say "== $one (${SECONDS} s)"
		"run_$one"
	done
done
tar -C "$scratch" -czf "$out/logs.tar.gz" logs
rm -rf "$scratch"
say "$failures steps failed, ${SECONDS} s"
[ $failures = 0 ]
