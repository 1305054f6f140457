#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Errors and cubins: told when they come, and again to whoever comes later; a cubin can be read for
# some time after it was unloaded.
. "$(dirname "$0")/../e2e/common"
. "$(dirname "$0")/../e2e/simulator"
. "$(dirname "$0")/common"
export PARCAGPU_NO_SUCH=1

consume early error cubin_loaded cubin_unloaded
MOCK_DO="delay cuModuleLoadData ms=150 from=2; fail cuptiActivityEnable CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" \
	run modules -n 4
leave early
grep -q "^error [0-9]* 0 libcuprobe: PARCAGPU_NO_SUCH is not a setting: " early.read ||
	{ cat early.read; fail "a bad variable is not told"; }
grep "^unloaded" early.read >unloaded
[ "$(grep -c . unloaded)" = 4 ] || { cat early.read; fail "unloaded cubins"; }
[ "$(grep "^cubin" early.read | grep -vc UNREADABLE)" -ge 3 ] ||
	{ cat early.read; fail "cubins that were unloaded cannot be read"; }

"$app" loop -q -d 30 -r 500 --api=driver >/dev/null &
target=$!
cleanup="$cleanup; kill $target 2>/dev/null"
sleep 0.3
consume first error cubin_loaded activity_batch
sleep 0.5
consume second error
sleep 11
leave first
leave second
for name in first second; do
	[ "$(grep -c "^error .*PARCAGPU_NO_SUCH" $name.read)" -ge 1 ] ||
		{ cat $name.read; fail "$name: the error from before is not told"; }
	[ "$(grep -c "^error" $name.read)" -le 4 ] || { cat $name.read; fail "$name: too often"; }
done
kill -USR1 $target
wait $target || fail "the program: $?"
exit 0
