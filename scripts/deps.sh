#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what this machine lacks to build, test and lint cuprobe, and says what that is. Nothing
# to do: silent.
#
#	scripts/deps.sh [build] [test] [lint]
set -eu

build="gcc g++ libc6-dev make cmake ninja-build pkg-config clang bpftool libbpf-dev libdw-dev
	libelf-dev libiberty-dev libzstd-dev zlib1g-dev libprotobuf-c-dev
	protobuf-c-compiler systemtap-sdt-dev libcmocka-dev
	python3 python3-pip"
test="bpftrace procps libdebuginfod1 chromium-headless-shell fonts-dejavu-core"
lint="git clang-format clang-tidy cppcheck shellcheck mandoc"

wanted=
for group in "${@:-build}"; do
	case $group in
	build) wanted="$wanted $build" ;;
	test) wanted="$wanted $test" ;;
	lint) wanted="$wanted $lint" ;;
	*)
		echo "deps.sh: unknown group: '$group': use build, test or lint" >&2
		exit 2
		;;
	esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "deps.sh: no apt here: install what matches these Debian packages:$wanted" >&2
	exit 0
fi

set --
for package in $wanted; do
	status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || set -- "$@" "$package"
done
[ $# != 0 ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "deps.sh: missing packages, and neither root nor sudo to install them; as root:" >&2
		echo "	apt-get install --no-install-recommends $*" >&2
		exit 1
	fi
	as_root="sudo --preserve-env=DEBIAN_FRONTEND"
fi

echo "deps.sh: installing $*"
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $as_root apt-get -q update &&
	$as_root apt-get -q -y install --no-install-recommends "$@"; } >"$log" 2>&1; then
	cat "$log" >&2
	echo "deps.sh: apt-get failed, see above" >&2
	exit 1
fi
