#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `cuprobe report` shows of PC samples, beside what it showed when somebody last looked. UPDATE=1
# takes what it shows now.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cuprobe=$(realpath "${CUPROBE:?}")
make_capture=$(realpath "${MAKE_CAPTURE:?}")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

compare() {
	name=$1
	shift
	# nvdisasm is not everywhere; the source is here, and not where it was compiled.
	(cd "$here/../cubin" && PATH=/nowhere "$cuprobe" "$@" "$tmp/demo.cup") |
		sed "s|$tmp/||" >"$tmp/$name"
	if [ -n "${UPDATE:-}" ]; then
		cp "$tmp/$name" "$here/$name"
	elif ! diff -u "$here/$name" "$tmp/$name"; then
		echo "FAILED: cuprobe $* is not as in $name"
		failed=1
	fi
}

"$make_capture" demo "$tmp/demo.cup"
compare stalls.txt report --stalls --lines -p 1000
compare stalls.json report --lines --json -p 1000
compare stalls-source.txt report --source=kernels.cu
compare stalls-html.txt report --html
compare stalls-folded.txt export -q -f folded -o - --kinds=pc_sample
"$cuprobe" export -f folded -o "$tmp/folded" --kinds=pc_sample "$tmp/demo.cup" 2>"$tmp/message"
grep -q "; 100.00 % of it without a known launch" "$tmp/message" || {
	echo "FAILED: samples alone have no launch: $(cat "$tmp/message")"
	failed=1
}
cd "$here"
if "$cuprobe" report --source=other.cu "$tmp/demo.cup" 2>"$tmp/message"; then failed=1; fi
grep -q "no PC sample of '.*' is in a line of 'other.cu'" "$tmp/message" || {
	cat "$tmp/message"
	failed=1
}
(cd "$tmp" && "$cuprobe" report --source=kernels.cu demo.cup) | grep -q "cannot be read" || failed=1

# Where no line is known, what the toolkit's disassembler says of the instruction.
mkdir "$tmp/bin"
printf '#!/bin/sh\nprintf "\\t.section\\t.text._Z10notInCubinv,\\"ax\\"\\n"\n' >"$tmp/bin/nvdisasm"
printf 'printf "        /*0030*/      NOP ;\\n        /*0040*/  @P0 LDG.E R1, [R2] ;\\n"\n' >>"$tmp/bin/nvdisasm"
chmod +x "$tmp/bin/nvdisasm"
PATH="$tmp/bin:$PATH" "$cuprobe" report --lines "$tmp/demo.cup" | grep -q '+0x40 *@P0 LDG.E R1, \[R2\] ' || {
	echo "FAILED: an instruction without a line is not shown as nvdisasm has it"
	failed=1
}
exit $failed
