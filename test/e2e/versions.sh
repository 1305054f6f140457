#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same library counts the same with every libcupti, whatever its records look like.
. "$(dirname "$0")/common"
. "$(dirname "$0")/simulator"

# counts: all that a.cup has a number of, without times. Migrations are recorded only from a moment
# after cuInit on; and what other threads call while one is in cuInit may come before the recording.
counts() {
	"$cuprobe" report --json a.cup >report.json || fail "report"
	value report.json "*sorted((table, row['name'], row['calls'], row.get('bytes')) for table in
		('kernels', 'graphs', 'copies', 'memsets', 'apis', 'syncs', 'allocations')
		for row in it[table] if row['name'] not in ('cuInit', 'cudaSetDevice')), sep='\\n'"
}

# run CUPTI VERSION MODE...: leaves the counts in the file VERSION
run() {
	cupti=$1 version=$2
	shift 2
	CUPROBE_CUPTI_PATH=$cupti recorded --kinds=all -- "$app" "$@" || fail "$cupti: $*"
	expect "Nothing was lost: " out
	is_true || fail "$cupti: $*"
	counts >"$version"
	[ "$(value report.json "it['processes'][0]['cupti']")" = "$version" ] ||
		fail "$(value report.json "it['processes']") is not version $version"
}

for mode in "loop -n 500 -t2 -g2 --api=driver --copy-every=5 --sync-every=50" "all -n 5" "llm -n 5" \
	"loop -n 200 --graph=30"; do
	# shellcheck disable=SC2086
	{
		run "$BUILD_DIR/mock/libcupti.so.13" 130001 $mode -q
		run "$BUILD_DIR/mock/cupti-12.9/libcupti.so.12" 28 $mode -q
		run "$BUILD_DIR/mock/cupti-12.4/libcupti.so.12" 22 $mode -q
		run "$BUILD_DIR/mock/cupti-11.8/libcupti.so.11.8" 18 $mode -q
	}
	for version in 28 22 18; do
		# An old one does not know the newest calls, and counts the others as often.
		grep -Fxvf 130001 $version && fail "$mode: $version has what the newest has not"
		diff 130001 $version | grep '^<' | grep -v "^< ('apis'" && fail "$mode: $version has less"
	done
done
exit 0
