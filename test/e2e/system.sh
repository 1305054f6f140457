#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `-a` finds every copy of the library, once: running, new, deleted, and in several containers.
. "$(dirname "$0")/common"

cp "$CUDA_INJECTION64_PATH" "$tmp/libcuprobe-deleted.so"
CUDA_INJECTION64_PATH=$tmp/libcuprobe-deleted.so "$fire" wanted sleep:300 batches:1:11 unwanted &
deleted=$!
"$fire" wanted sleep:300 batches:1:12 unwanted say >"$tmp/running" &
running=$!
sleep 0.3
rm "$tmp/libcuprobe-deleted.so"

# Two overlays on one directory, as two containers of one image have.
mkdir "$tmp/image" "$tmp/up1" "$tmp/up2" "$tmp/w1" "$tmp/w2" "$tmp/c1" "$tmp/c2"
cp "$CUDA_INJECTION64_PATH" "$tmp/image/libcuprobe-image.so"
containers=
for n in 1 2; do
	mount -t overlay -o "lowerdir=$tmp/image,upperdir=$tmp/up$n,workdir=$tmp/w$n" overlay \
		"$tmp/c$n" 2>/dev/null || break
	containers="$containers $n"
	cleanup="umount -l $tmp/c$n; $cleanup"
	CUDA_INJECTION64_PATH=$tmp/c$n/libcuprobe-image.so "$fire" wanted sleep:300 batches:1:2$n \
		unwanted &
	eval "container$n=$!"
done

listen -a -d 4000 >"$tmp/out" &
listening=$!
until_line attached "$tmp/out"

# New processes of a known file, and of one that nobody has seen.
fire say batches:1:13 >"$tmp/known"
cp "$CUDA_INJECTION64_PATH" "$tmp/libcuprobe-new.so"
CUDA_INJECTION64_PATH=$tmp/libcuprobe-new.so fire wanted sleep:50 batches:1:14
# Named like the library, but not ours.
cp /bin/true "$tmp/libcuprobe-not.so"
cp "$CUDA_INJECTION64_PATH" "$tmp/libcuprobe-newer.so"
CUDA_INJECTION64_PATH=$tmp/libcuprobe-newer.so fire wanted sleep:50 batches:1:15
wait $listening

expect "records $deleted kernel: 11 missed 0 twice 0" "$tmp/out"
expect "records $running kernel: 12 missed 0 twice 0" "$tmp/out"
expect wanted "$tmp/known"
for records in 13 14 15; do
	expect "records [0-9]* kernel: $records missed 0 twice 0" "$tmp/out"
done
for n in $containers; do
	eval "pid=\$container$n"
	# shellcheck disable=SC2154
	expect "records $pid kernel: 2$n missed 0 twice 0" "$tmp/out"
done
[ "$containers" = " 1 2" ] || echo "not tried: overlay file systems cannot be mounted here"
until_line unwanted "$tmp/running"
