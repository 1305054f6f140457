#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the GPU time of a Python program hang under the Python lines that cause it?

    stacks_check.py [--python] FOLDED REPORT.json

FOLDED is what `cuprobe export -f folded` makes of a recording of kernels with launch stacks, REPORT
what `cuprobe report --json` makes of it. --python: a Python line must be in the stacks, too.
"""
import argparse
import json
import re
import sys

import claims

ROOTS = re.compile(r"^(main|_start|start_thread|clone3?|__clone3?|__libc_start_.*|Py_BytesMain)$")
PYTHON = re.compile(r"\.py:\d+|<string>:\d+")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="store_true")
    parser.add_argument("folded")
    parser.add_argument("report")
    args = parser.parse_args()
    total = rooted = with_line = unattributed = stacks = 0
    without = {}
    for line in open(args.folded, encoding="utf-8"):
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        frames, weight = stack.split(";"), int(weight)
        stacks += 1
        total += weight
        unattributed += weight if any("[unattributed" in f for f in frames) else 0
        has_root = any(ROOTS.match(f.split(" ")[0]) for f in frames)
        has_line = any(PYTHON.search(f) for f in frames)
        rooted += weight if has_root else 0
        with_line += weight if has_root and has_line else 0
        if not has_root or args.python and not has_line:
            without[stack] = without.get(stack, 0) + weight
    report = json.load(open(args.report, encoding="utf-8"))
    kernels = sum(k["total_ns"] for k in report["kernels"])
    claims.claim(total == kernels, f"{total} ns in {stacks} stacks, {kernels} ns in the table of kernels")
    claims.claim(rooted >= 0.99 * total, f"{rooted / total:.2%} of the time is under main or a thread's start")
    if args.python:
        claims.claim(with_line >= 0.99 * total, f"{with_line / total:.2%} is under a Python line, too")
    claims.claim(unattributed <= 0.01 * total, f"{unattributed / total:.2%} of the time has no launch")
    for stack, weight in sorted(without.items(), key=lambda item: -item[1])[:5]:
        print(f"    {weight / total:.2%} {stack[:400]}")
    return claims.status()


if __name__ == "__main__":
    sys.exit(main())
