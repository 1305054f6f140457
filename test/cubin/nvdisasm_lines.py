#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the source line of every instruction of a cubin as nvdisasm has it.

    nvdisasm_lines.py NVDISASM FILE.cubin

One line an instruction: section, address in it, and FILE:LINE for each frame, innermost first. It
does not print where a sequence of lines ends, so that what is behind the last one of a section
belongs to that.
"""
import re
import subprocess
import sys

ANNOTATION = re.compile(r'//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?$')
CODE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s")


def lines(nvdisasm, cubin):
    text = subprocess.run(
        [nvdisasm, "-gi", "-c", cubin], check=True, capture_output=True, text=True
    ).stdout
    section, frames, collecting = None, [], False
    for line in text.splitlines():
        begins = re.match(r"\s*\.section\s+\.text\.([^,]+),", line)
        if begins:
            section, frames = begins.group(1), []
        annotation = ANNOTATION.search(line)
        if annotation:
            frames = frames if collecting else []
            frames.append(f"{annotation.group(1)}:{annotation.group(2)}")
            collecting = True
            continue
        code = CODE.match(line)
        if code and section:
            yield section, int(code.group(1), 16), frames
            collecting = False


for name, address, places in lines(sys.argv[1], sys.argv[2]):
    print(name.strip('"'), f"{address:x}", *places)
