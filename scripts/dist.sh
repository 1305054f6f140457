#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a tree that can be taken to another machine whose glibc is not older: the command, the
# library, and beside it every shared object that the command needs besides glibc's own. The
# programs that measure are in bench/.
#
#	scripts/dist.sh BUILD DIST
set -eu

if [ $# != 2 ]; then
	echo "usage: dist.sh BUILD DIST" >&2
	exit 2
fi
build=$1
dist=$2

rm -rf "$dist"
mkdir -p "$dist/lib"
prefix=$(realpath "$dist")
DESTDIR='' cmake --install "$build" --prefix "$prefix" >/dev/null
DESTDIR='' cmake --install "$build" --prefix "$prefix" --component bench >/dev/null

glibc='^(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv|libutil)\.so'
ldd "$dist/bin/cuprobe" | awk '$2 == "=>" { print $1, $3 }' | while read -r name path; do
	if [ "$path" = not ]; then
		echo "dist.sh: '$name' is missing on this machine" >&2
		exit 1
	fi
	if ! echo "$name" | grep -qE "$glibc"; then
		install -m 755 "$path" "$dist/lib/$name"
	fi
done

newest() # the newest glibc symbol version that the tree asks for
{
	find "$dist/bin" "$dist/lib" -type f -exec objdump -T {} + 2>/dev/null |
		grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1 | sed 's/GLIBC_//'
}
echo "$dist: runs with glibc $(newest) or newer"
