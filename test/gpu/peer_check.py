#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has each GPU its own work, and each copy its way? peer_check.py PEER_OUT EVENTS.csv"""
import csv
import json
import sys
from collections import Counter

import claims


def main():
    truth = json.loads([line for line in open(sys.argv[1]) if line.startswith("{")][-1])
    kernels, copies, moved = Counter(), Counter(), Counter()
    for row in csv.DictReader(open(sys.argv[2], encoding="utf-8")):
        if row["kind"] == "kernel":
            kernels[row["device"]] += 1
        elif row["kind"] == "memcpy":
            way = f"{row['src_device']}>{row['dst_device']}"
            copies[way] += 1
            moved[way] += int(row["bytes"])
    for what, found, expected in (
            ("kernels", dict(kernels), truth["kernels"]),
            ("copies", {way: [n, moved[way]] for way, n in copies.items()}, truth["copies"])):
        claims.claim(found == expected, f"{what}: {found}, {expected} were made")
    return claims.status()


if __name__ == "__main__":
    sys.exit(main())
