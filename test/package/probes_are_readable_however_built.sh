#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Consumers know probes by their ELF notes: each probe has one site, a semaphore in memory that comes
# from the file, and arguments of the sizes in test/golden/probes.expected, in plain registers; with
# every compiler, optimisation and linker, stripped or not; and the notes take 16 KiB at most.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expected=$SOURCE_DIR/test/golden/probes.expected
made=0

# notes FILE: "provider probe sizes", with what is not a plain register shown as it is
notes()
{
	readelf -n "$1" | awk '/Provider:/ { provider = $2 } /Name:/ { name = $2 }
		/Semaphore:/ { semaphore = $NF }
		/Arguments:/ { line = provider " " name; for (i = 2; i <= NF; i++) {
			if ($i ~ /^-?[1248]@%[a-z0-9]+$/) sub(/@.*/, "", $i); line = line " " $i }
			print line (semaphore ~ /^0x0+$/ ? " without semaphore" : "") }' | LC_ALL=C sort
}

# check FILE WHAT
check()
{
	notes "$1" | diff "$expected" - || { echo "$2"; exit 1; }
	[ "$(readelf -SW "$1" | sed -nE 's/.*\.note\.stapsdt +NOTE +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+).*/0x\1/p' |
		xargs printf '%d')" -le 16384 ] || { echo "$2: more than 16 KiB of notes"; exit 1; }
	readelf -SW "$1" | grep -qE ' \.probes +PROGBITS .* WA ' || { echo "$2: no .probes in the file"; exit 1; }
}

# All firing functions are called directly, too, with constants: whoever sees them may copy them.
cat >"$work/caller.c" <<'C'
#include "probes/cuprobe.h"
#include "probes/parcagpu.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT const struct parcagpu *provider(void);
EXPORT __u32 call(const struct parcagpu_kernel *kernel, __u32 probe);

const struct parcagpu *provider(void)
{
	return &cuprobe_parcagpu_usdt;
}

__u32 call(const struct parcagpu_kernel *kernel, __u32 probe)
{
	const struct parcagpu_kernel *const kernels[PARCAGPU_POINTERS] = {kernel};

	cuprobe_parcagpu_usdt.cuda_correlation(7, -307, "name");
	cuprobe_parcagpu_usdt.cuda_correlation(8, 211, "other");
	cuprobe_parcagpu_usdt.kernel_executed(kernel);
	cuprobe_parcagpu_usdt.kernel_executed(kernel + 1);
	cuprobe_parcagpu_usdt.activity_batch(kernels, 1);
	cuprobe_parcagpu_usdt.activity_batch(kernels, 2);
	cuprobe_probe_fire(CUPROBE_PROBE_kernel, kernel, 160, 1, 0);
	cuprobe_probe_fire(CUPROBE_PROBE_kernel, kernel, 320, 2, 1);
	cuprobe_probe_fire(probe, kernel, 160, 1, 0);
	return cuprobe_parcagpu_usdt.attached() + cuprobe_probe_consumers(CUPROBE_PROBE_kernel);
}
C

# build COMPILER FLAG...: true when this machine can
build()
{
	compiler=$1
	shift
	"$compiler" -std=gnu17 -shared -fPIC -g -fvisibility=hidden -D_GNU_SOURCE -I"$SOURCE_DIR" \
		-I"$SOURCE_DIR/include" -I"$BUILD_DIR" -Wl,-z,defs,-z,now,-z,relro "$@" -o "$work/made.so" \
		"$work/caller.c" "$SOURCE_DIR/probes/cuprobe.c" "$SOURCE_DIR/probes/parcagpu.c" \
		"$BUILD_DIR/probes/cuprobe_provider.o" "$BUILD_DIR/probes/parcagpu_provider.o" \
		2>"$work/errors"
}

check "$BUILD_DIR/src/inject/libcuprobe.so" "the library of this build"
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	for linker in bfd gold lld; do
		for optimisation in "-O0" "-O2" "-O3 -Wl,--gc-sections -ffunction-sections" "-O2 -flto"; do
			[ "$compiler $linker $optimisation" != "gcc lld -O2 -flto" ] || continue # has no plugin
			# shellcheck disable=SC2086
			build $compiler -fuse-ld=$linker $optimisation || {
				echo "cannot be tried: $compiler, $linker, $optimisation"
				head -3 "$work/errors"
				continue
			}
			check "$work/made.so" "$compiler, $linker, $optimisation"
			strip "$work/made.so"
			check "$work/made.so" "$compiler, $linker, $optimisation, stripped"
			made=$((made + 1))
		done
	done
done
echo "$made ways to build"
[ $made -ge 12 ]
