#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same built library with other versions of CUPTI: the same counts with each?
#
#	versions.sh DIST SCRATCH CUPTI_FOLDER...
#
# Each folder holds a libcupti.so.*, of the toolkit or of the PyPI packages nvidia-cuda-cupti-*.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dist=$1 scratch=$2
shift 2

failed=0
[ $# -gt 0 ] || { echo "SKIP: no folders with other versions of libcupti were given"; exit 77; }
for folder in "$@"; do
	library=$(find "$folder/" -maxdepth 1 -name 'libcupti.so.*' | sort | tail -1)
	[ -n "$library" ] || { echo "FAIL '$folder' holds no libcupti.so.*"; failed=1; continue; }
	name=$(basename "$library")
	rm -f "$scratch/v.cup" "$scratch/v.json" "$scratch/v.truth"
	echo "== $library"
	CUPROBE_CUPTI_PATH=$library timeout 40 "$dist/bin/cuprobe" record --graphs=node \
		--kinds kernel,memcpy,memset -o "$scratch/v.cup" -- \
		"$dist/bench/mix" --rounds 5 --idle-ms 300 >"$scratch/v.truth" || failed=1
	"$dist/bin/cuprobe" report --json "$scratch/v.cup" >"$scratch/v.report" || failed=1
	version=$(sed -n 's/.*"cupti":\([0-9]*\).*/\1/p' "$scratch/v.report" | head -1)
	"$dist/bin/cuprobe" export -f chrome -o "$scratch/v.json" "$scratch/v.cup" || failed=1
	if python3 "$here/truth_check.py" --no-calls "$scratch/v.truth" "$scratch/v.json" \
		>"$scratch/v.log" 2>&1; then
		echo "PASS counts with $name, CUPTI $version ($folder): $(grep -c ^PASS "$scratch/v.log") equal"
	else
		echo "FAIL counts with $name, CUPTI $version ($folder)"
		grep -v ^PASS "$scratch/v.log" | sed 's/^FAIL/    wrong:/'
		failed=1
	fi
done
exit $failed
