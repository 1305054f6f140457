#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tables of the README follow abi.h and the library's settings, defaults included.
set -eu
readme=$SOURCE_DIR/README.md
failed=0

wants() # REGEX WHAT
{
	grep -qE -- "$1" "$readme" || {
		echo "README.md lacks $2"
		failed=1
	}
}

probes=$(sed -n 's/^\tX(\([a-z_]*\), [0-9]*).*/\1/p' "$SOURCE_DIR/include/cuprobe/abi.h")
probes="$probes $(sed -n 's/^\tprobe \([a-z_]*\)(.*/\1/p' "$SOURCE_DIR"/probes/parcagpu.d)"
[ -n "$probes" ]
for probe in $probes; do
	wants "^\| \`$probe\` \|" "the probe $probe"
done

env=$SOURCE_DIR/src/inject/env.c
variables=$(sed -nE '/^static const struct setting settings/,/^};/s/.*"((CUPROBE|PARCAGPU)_[A-Z0-9_]+)".*/\1/p' "$env")
[ -n "$variables" ]
for variable in $variables; do
	default=$(sed -nE "s/.*(NUMBER|RATE)\(\"$variable\", [a-z_0-9]+, ([0-9]+)[,)].*/\2/p" "$env")
	wants "^\| \`$variable\` \|${default:+ $default \|}" "the variable $variable ${default:+($default)}"
done
exit $failed
