#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do PC samples say what is known of the kernels of stalls.cu?

    stalls_check.py [--windows] STALLS_OUT LINES.json

STALLS_OUT is what `stalls` printed, LINES.json what `cuprobe report --lines --json` makes of its
recording. One line for each claim. --windows: of serialised windows, outside of which the time that
STALLS_OUT has was spent, too: no shares.
"""
import json
import os
import sys

import claims

SOURCE = os.path.join(os.path.dirname(__file__), "..", "cubin", "kernels.cu")
# kernel, text of its hottest line, reasons of which one must be the first
EXPECTED = (
    ("gather", "at = next[at];", ("long_scoreboard",)),
    ("compute", "x = fmaf(x, 1.0001f, 0.5f);",
     ("wait", "math_pipe_throttle", "dispatch_stall", "not_selected", "selected")),
    # What waits at a barrier has its PC behind it.
    ("reduce", "sum += partial[0];", ("barrier",)),
)


def main():
    windows = sys.argv[1] == "--windows"
    out, report = sys.argv[1 + windows:]
    truth = json.loads([line for line in open(out) if line.startswith("{")][-1])
    report = json.load(open(report))
    source = open(SOURCE, encoding="utf-8").read().splitlines()
    samples = sum(kernel["samples"] for kernel in report["stalls"])
    claims.claim(samples >= 10000, f"{samples} samples are attributed")
    rest = report["samples_non_user"] + report["samples_other"]
    claims.claim(rest <= 0.02 * samples, f"{rest} samples are not, {report['samples_dropped']} dropped")
    total_ms = sum(kernel["ms"] for kernel in truth.values())
    for name, text, reasons in EXPECTED:
        kernels = [k for k in report["stalls"] if name in k["name"]]
        claims.claim(len(kernels) == 1, f"{name} is there")
        if not kernels:
            continue
        share = kernels[0]["samples"] / samples
        expected = truth[name]["ms"] / total_ms
        claims.claim(windows or abs(share - expected) <= 0.03,
              f"{name}: {share:.1%} of the samples, {expected:.1%} of the time")
        first = kernels[0]["stalls"].split(" ")[0]
        claims.claim(first in reasons, f"{name} waits for {kernels[0]['stalls']}")
        lines = [line for line in report["lines"] if name in line["kernel"] and line["file"]]
        hottest = source[lines[0]["line"] - 1].strip() if lines else "no line is known"
        claims.claim(hottest == text, f"{name}'s hottest line is '{hottest}'")
    inlined = {line["function"] for line in report["lines"]}
    claims.claim(any("multiply_add" in f for f in inlined), "inlined functions appear")
    return claims.status()


if __name__ == "__main__":
    sys.exit(main())
