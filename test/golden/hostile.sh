#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Captures that are damaged below their checksums do no harm, whatever is made of them.
. "$(dirname "$0")/common"
python3 "$here/hostile.py" "$cuprobe" demo.cup 100 1101 || fail "a capture"
exit $failed
