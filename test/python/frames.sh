#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs frames.py with every CPython of this machine that the library can read: those named python3.N
# on PATH and those of pyenv. PYTHONS names others.
set -u
cd "$(dirname "$0")" || exit 1

interpreters() # paths, one a line
{
	local minor
	tr ' ' '\n' <<<"${PYTHONS:-}"
	for minor in 9 10 11 12 13 14; do
		printf '%s\n' /usr/bin/python3.$minor /usr/local/bin/python3.$minor \
			"${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.$minor.*/bin/python3."$minor"{,t}
	done
}

# With ASan, whose allocator then knows the bounds of all that the library reads.
library=$BUILD_DIR/test/python/libpython_walk.so
under=()
case $(ldd "$library") in
*libasan*)
	under=(env LD_PRELOAD="$(ldd "$library" | awk '/libasan/ { print $3 }')" PYTHONMALLOC=malloc
		ASAN_OPTIONS=detect_leaks=0) ;;
*libtsan*) echo "SKIP: interpreters do not run with TSan"; exit 77 ;;
esac

failed=0 ran=0
while read -r python; do
	[ -x "$python" ] || continue
	if timeout 120 "${under[@]}" "$python" frames.py "$library"; then
		ran=$((ran + 1))
	else
		echo "FAILED: $python"
		failed=1
	fi
done < <(interpreters | sort -uV)
[ $ran != 0 ] || [ $failed != 0 ] || { echo "SKIP: no CPython 3.9 to 3.14 here"; exit 77; }
exit $failed
