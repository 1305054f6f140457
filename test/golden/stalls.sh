#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the command shows of the demo recording's PC samples.
. "$(dirname "$0")/common"

# expected NAME ARGUMENT...
expected() {
	name=$1
	shift
	# nvdisasm is not everywhere; the source is here, and not where it was compiled.
	(cd "$here/../cubin" && PATH=/nowhere "$cuprobe" "$@" "$tmp/demo.cup") |
		sed "s|$tmp/||" >"$name"
	as_expected "$name" "$name"
}

expected stalls.txt report --stalls --lines -p 1000
expected stalls.json report --lines --json -p 1000
expected stalls-source.txt report --source=kernels.cu
expected stalls-html.txt report --html
expected stalls-folded.txt export -q -f folded -o - --kinds=pc_sample
"$cuprobe" export -f folded -o folded --kinds=pc_sample demo.cup 2>message
says "; 100.00 % of it without a known launch" message
if "$cuprobe" report --source=other.cu demo.cup 2>message; then fail "other.cu is there"; fi
says "no PC sample of 'demo.cup' is in a line of 'other.cu'" message
"$cuprobe" report --source=kernels.cu demo.cup >source
says "cannot be read" source

# Where no line is known, what the toolkit's disassembler says of the instruction.
mkdir bin
printf '#!/bin/sh\nprintf "\\t.section\\t.text._Z10notInCubinv,\\"ax\\"\\n"\n' >bin/nvdisasm
printf 'printf "        /*0030*/      NOP ;\\n        /*0040*/  @P0 LDG.E R1, [R2] ;\\n"\n' >>bin/nvdisasm
chmod +x bin/nvdisasm
PATH="$tmp/bin:$PATH" "$cuprobe" report --lines demo.cup >lines
says '+0x40 *@P0 LDG.E R1, \[R2\] ' lines
exit $failed
