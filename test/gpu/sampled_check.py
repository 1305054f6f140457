#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do PC samples share the time among kernels as their records do?

    sampled_check.py REPORT.json STALLS.json

Both from one recording of kernels and PC samples: `report --json`, `report --stalls --json`.
"""
import json
import sys

failed = 0


def claim(holds, what):
    global failed
    failed += not holds
    print(("PASS " if holds else "FAIL ") + what)


def shares(rows, key):
    total = sum(row[key] for row in rows)
    return {row["name"]: row[key] / total for row in rows}, total


def main():
    report = json.load(open(sys.argv[1], encoding="utf-8"))
    stalls = json.load(open(sys.argv[2], encoding="utf-8"))
    by_time, _ = shares(report["kernels"], "total_ns")
    by_samples, samples = shares(stalls["stalls"], "samples")
    claim(samples >= 100000, f"{samples} samples of {len(by_samples)} kernels by name")
    rest = {key: stalls[key] for key in stalls if key.startswith("samples_")}
    claim(rest["samples_non_user"] <= 0.02 * samples, f"the others: {rest}")
    far = {name: by_samples.get(name, 0) - share for name, share in by_time.items()}
    worst = max(far, key=lambda name: abs(far[name]))
    claim(abs(far[worst]) <= 0.03,
          f"shares by samples and by time differ by {abs(far[worst]) * 100:.1f} points at most")
    for name in sorted(by_time, key=lambda n: -by_time[n])[:6]:
        print(f"    {by_time[name]:6.1%} of the time, {by_samples.get(name, 0):6.1%} of the samples: "
              f"{name[:90]}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
