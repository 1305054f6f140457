#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are there enough PC samples of a language model's kernels, and by name?

    sampled_check.py REPORT.json STALLS.json

Both from one recording of kernels and PC samples: `report --json`, `report --stalls --json`. Shares
by samples and by time are printed side by side and need not be equal: a sample is of one
multiprocessor, and small kernels keep few of them busy. stalls_check.py compares those of large ones.
"""
import json
import sys

import claims


def shares(rows, key):
    total = sum(row[key] for row in rows)
    return {row["name"]: row[key] / total for row in rows}, total


def main():
    report = json.load(open(sys.argv[1], encoding="utf-8"))
    stalls = json.load(open(sys.argv[2], encoding="utf-8"))
    by_time, _ = shares(report["kernels"], "total_ns")
    by_samples, samples = shares(stalls["stalls"], "samples")
    claims.claim(samples >= 100000, f"{samples} samples of {len(by_samples)} kernels by name")
    rest = {key: stalls[key] for key in stalls if key.startswith("samples_")}
    claims.claim(rest["samples_non_user"] <= 0.05 * samples, f"the others: {rest}")
    for name in sorted(by_time, key=lambda n: -by_time[n])[:6]:
        print(f"    {by_time[name]:6.1%} of the time, {by_samples.get(name, 0):6.1%} of the samples: "
              f"{name[:90]}")
    return claims.status()


if __name__ == "__main__":
    sys.exit(main())
