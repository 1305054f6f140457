#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The checks that need no running program. Each is a function lint_NAME, which prints what it
# dislikes and fails; the last line is N passed, N failed.
#
#	scripts/lint.sh [--build DIR] [--tally FILE] [CHECK...]
#	scripts/lint.sh --fix format
set -eu
cd "$(dirname "$0")/.."

all="format spdx includes paths size shellcheck mandoc cppcheck tidy"
build=build
tally=
fix=

files() # PATTERN...: files of the tree, new ones that git does not ignore included
{
	git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do
		[ ! -f "$f" ] || echo "$f"
	done
}

lint_format()
{
	if [ -n "$fix" ]; then
		files '*.c' '*.h' '*.cu' | xargs -r clang-format -i
		return
	fi
	! files '*.c' '*.h' '*.cu' | xargs -r clang-format -n -Werror 2>&1 |
		sed -n 's/^\([^ :]*\):[0-9]*:.*/\1: run make format/p' | sort -u | grep .
}

# Texts that people read, data of tests and git's own files carry no licence line.
lint_spdx()
{
	! files | grep -vE '(\.md|^LICENSE|\.gitignore|^test/cubin/kernels\.(cubin|lines)$|^test/golden/.*\.(txt|jsonl?|csv|folded|expected))$' |
		xargs -r grep -L 'SPDX-License-Identifier:' | sed 's/$/: no SPDX line/' | grep .
}

# Who may include whom: include <- probes <- src/inject; include <- ebpf <- src/collector.
lint_includes()
{
	! {
		includes include '"(src|probes|ebpf|test)/'
		includes probes '"(src|ebpf|test)/'
		includes ebpf '"(src|probes|test)/'
		includes src/inject '"(src/collector|ebpf|test)/'
		includes src/collector '"(src/inject|probes|test)/|"ebpf/.*\.c"'
	} | grep .
}

includes() # DIR REGEX: includes in DIR that match
{
	files "$1/*.c" "$1/*.h" | xargs -r grep -HnE "^#include $2" || true
}

# Absolute paths in the tree are those that every Linux has, not those of one person's machine.
lint_paths()
{
	! files ':!LICENSE' ':!scripts/lint.sh' |
		xargs -r grep -HnE '(^|[^A-Za-z0-9_}.-])/(home|Users|root|work|workspace|mnt|srv|data)/[A-Za-z0-9_.-]'
}

# Long files are worth a look; they are no fault.
lint_size()
{
	files '*.c' '*.h' '*.sh' '*.py' | xargs -r wc -l |
		awk '$2 != "total" && $1 > 600 { print "note: " $2 ": " $1 " lines" }'
}

lint_shellcheck()
{
	files '*.sh' .ci/run | xargs -r shellcheck --severity=warning
}

lint_mandoc()
{
	files '*.1' | xargs -r mandoc -T lint -W warning
}

# memleak does not see that a pointer outlives a realloc() that failed; the tests run under ASan.
lint_cppcheck()
{
	files 'src/*.c' 'probes/*.c' 'microbenchmarks/*.c' |
		xargs -r cppcheck --quiet --std=c11 --language=c --enable=warning,portability \
			--inline-suppr --error-exitcode=1 --suppress=unusedStructMember --suppress=memleak \
			--suppress=missingIncludeSystem --library=scripts/cppcheck.cfg \
			-D__x86_64__ -D__linux__ -I. -Iinclude -j2
}

lint_tidy()
{
	[ -e "$build/compile_commands.json" ] || {
		echo "no $build/compile_commands.json: run make first"
		return 1
	}
	files 'src/*.c' 'probes/*.c' 'microbenchmarks/*.c' | built |
		xargs -r -P2 -n4 clang-tidy -p "$build" --quiet --extra-arg=-w 2>/dev/null
}

built() # reads names: those that the build compiles
{
	while read -r f; do
		! grep -q "\"file\": \"$PWD/$f\"" "$build/compile_commands.json" || echo "$f"
	done
}

while [ $# -gt 0 ]; do
	case $1 in
	--build) build=$2 && shift 2 ;;
	--tally) tally=$2 && shift 2 ;;
	--fix) fix=yes && shift ;;
	-*) echo "lint.sh: unknown option: $1" >&2 && exit 2 ;;
	*) break ;;
	esac
done

passed=0
failed=0
# shellcheck disable=SC2086 # a list of names
[ $# != 0 ] || set -- $all
for check in "$@"; do
	if output=$("lint_$check" 2>&1); then
		passed=$((passed + 1))
		echo "ok       $check"
	else
		failed=$((failed + 1))
		echo "failed   $check"
	fi
	[ -z "$output" ] || echo "$output" | sed 's/^/    /'
done
[ -z "$tally" ] || echo "$passed $failed 0" >>"$tally"
printf '\n%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
