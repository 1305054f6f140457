#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs frames.py with every CPython of this machine that the library can read: those named python3.N
# on PATH and those of pyenv. PYTHONS names others.
set -u
cd "$(dirname "$0")" || exit 1

interpreters() # paths, one a line
{
	local minor
	printf '%s\n' ${PYTHONS:-}
	for minor in 9 10 11 12 13 14; do
		printf '%s\n' /usr/bin/python3.$minor /usr/local/bin/python3.$minor \
			"${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.$minor.*/bin/python3.$minor
	done
}

failed=0 ran=0
while read -r python; do
	[ -x "$python" ] || continue
	timeout 60 "$python" frames.py "$BUILD_DIR/test/python/libpython_walk.so"
	case $? in
	0) ran=$((ran + 1)) ;;
	77) ;;
	*)
		echo "FAILED: $python"
		failed=1
		;;
	esac
done < <(interpreters | sort -uV)
[ $ran != 0 ] || [ $failed != 0 ] || { echo "SKIP: no CPython 3.9 to 3.14 here"; exit 77; }
exit $failed
