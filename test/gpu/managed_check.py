#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the bytes that managed memory moved there? managed_check.py MANAGED_OUT REPORT.json"""
import json
import sys

import claims


def main():
    truth = json.loads([line for line in open(sys.argv[1]) if line.startswith("{")][-1])
    rows = json.load(open(sys.argv[2]))["unified_memory"]
    for direction in ("HtoD", "DtoH"):
        moved = sum(row["bytes"] for row in rows if direction in row["name"])
        claims.claim(moved >= truth["bytes"],
                     f"{moved} bytes {direction}, {truth['bytes']} at least")
    return claims.status()


if __name__ == "__main__":
    sys.exit(main())
