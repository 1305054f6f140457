#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares folded stacks with what test/mock/app.py says: python_stacks.py TRUTH FOLDED"""
import json
import os
import re
import sys

# Between the two innermost frames of Python there, map() is on the native stack.
THROUGH_C = "from_layer"
PYTHON_FRAME = re.compile(r"(.+) \((.+):(\d+)\)$")


def python_frames(stack):
    matches = [PYTHON_FRAME.match(frame) for frame in stack]
    return [(m[1], os.path.basename(m[2]), int(m[3])) for m in matches if m]


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        truth = json.load(f)
    seen = set()
    with open(sys.argv[2], encoding="utf-8") as f:
        for line in f:
            stack = line.rsplit(" ", 1)[0].split(";")
            kernel = stack[-1].removesuffix("_[g]")
            if kernel not in truth:
                continue
            seen.add(kernel)
            expected = [(name, os.path.basename(path), number)
                        for name, path, number in reversed(truth[kernel])]
            if python_frames(stack) != expected:
                sys.exit(f"{kernel}: launched from {expected}, shown under {line}")
            at = [i for i, frame in enumerate(stack) if PYTHON_FRAME.match(frame)]
            if kernel == THROUGH_C and at[-1] == at[-2] + 1:
                sys.exit(f"{kernel}: no native frames where C called: {line}")
    if seen != set(truth):
        sys.exit(f"no stack shows {set(truth) - seen}")
    print(f"{len(seen)} kernels are under the Python frames that launched them")


main()
