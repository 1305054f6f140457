#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library exports its entry points only, needs neither CUPTI nor the driver, calls nothing that has
# no business in another program, and its probe notes can be read by every consumer.
set -u
library=${BUILD_DIR:?}/src/inject/libcuprobe.so
failed=0

check() { # name, what was found; empty is right
	[ -z "$2" ] && return
	echo "FAIL: $1:"
	echo "$2" | sed 's/^/	/'
	failed=1
}

[ -r "$library" ] || { echo "SKIP: $library is not built"; exit 77; }
for tool in nm readelf; do
	command -v $tool >/dev/null || { echo "SKIP: needs $tool"; exit 77; }
done

exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' |
	grep -vxE 'InitializeInjection(Nvtx2|NvtxExtension)?')
check "exports more than the entry points" "$exported"

imported=$(nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }')
case "$imported" in
*__asan_*|*__tsan_*) sanitized=1 ;;
*) sanitized= ;;
esac
banned='exit|_exit|abort|__assert_fail|v?f?printf|v?dprintf|puts|fputs|putchar|system|popen'
banned="$banned|signal|sigaction|putenv|pthread_sigmask|sigprocmask"
check "imports what the law bans" "$(echo "$imported" | grep -xE "(__)?($banned)(_chk)?")"
# One variable is set, for NVTX clients, and only where CUDA comes in.
check "sets variables outside of inject.c" "$(nm -A "${BUILD_DIR:?}/src/inject/libinject.a" |
	grep ' U setenv' | grep -v ':inject\.c\.o:')"
check "needs CUDA at link time" "$(echo "$imported" | grep -E '^(cu[A-Z]|cuda[A-Z]|cupti)')"
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
	grep -vE '^(libc|libm|libdl|libpthread|ld-linux.*)\.so')
[ -n "$sanitized" ] || check "needs other libraries" "$needed"

flags=$(readelf -d "$library" | grep -E '\((FLAGS|FLAGS_1|SONAME)\)')
for flag in NODELETE NOW; do
	echo "$flags" | grep -q "$flag" || check "dynamic flags lack $flag" "$flags"
done
echo "$flags" | grep -q '\[libcuprobe.so\]' || check "soname" "$flags"

probes=$(sed -n 's/.*probe \([a-z_]*\)(.*/\1/p' "${SOURCE_DIR:?}/probes/cuprobe.d")
notes=$(readelf -n "$library" | awk '/Provider:/ { p = $2 } /Name:/ { n = $2 }
	/Semaphore:/ { s = $NF } /Arguments:/ { sub(/.*Arguments: /, ""); print p, n, s ":" $0 }')
for probe in $probes; do
	sites=$(echo "$notes" | grep -c "^cuprobe $probe ")
	[ "$sites" = 1 ] || check "probe $probe has one site" "$sites sites"
done
check "probes have a semaphore" "$(echo "$notes" | grep ' 0x0*:')"
check "arguments are registers" "$(echo "$notes" | grep '^cuprobe ' | grep -v '^cuprobe replay ' |
	grep -vE ':8@%r[a-z0-9]+ 4@%[a-z0-9]+ 4@%[a-z0-9]+ 8@%r[a-z0-9]+$')"
exit $failed
