#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the command takes is in cuprobe(1), by the command's own help.
set -eu
cuprobe=$BUILD_DIR/src/collector/cuprobe
page=$SOURCE_DIR/src/collector/cuprobe.1
failed=0

wants() # REGEX WHAT
{
	grep -qE -- "$1" "$page" || {
		echo "cuprobe.1 lacks $2"
		failed=1
	}
}

verbs=$("$cuprobe" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
[ -n "$verbs" ]
for verb in $verbs; do
	wants "^\.Cm $verb\$" "the verb $verb"
	[ "$verb" != help ] || continue
	options=$("$cuprobe" help "$verb" | sed -nE 's/^  (-[a-z], )?--([a-z-]+).*/\2/p')
	[ -n "$options" ]
	for option in $options; do
		wants "^\.It .*Fl -$option( |\$)" "the option --$option of $verb"
	done
done
exit $failed
