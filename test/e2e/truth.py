#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a capture hold what the simulator says it did?

    truth.py [--lossy] CUPROBE CAPTURE TRUTH...

TRUTH is the file that MOCK_TRUTH names, one for each process; the capture was made from the start
and with --graphs=node. Kernels by name, copies by direction with their bytes, memsets, and the
ledger. --lossy: what is missing must be in the ledger, to the record.
"""
import json
import subprocess
import sys

FATES = ("delivered", "lost_on_the_way", "lost_in_process", "discarded", "invalid", "pending")


def report_of(cuprobe, capture, pid):
    command = [cuprobe, "report", "--json", "--mangled", "-p", str(pid), capture]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=True)
    return json.loads(done.stdout.decode(errors="replace"))


def different(what, got, wanted):
    if got == wanted:
        return 0
    print(f"{what}: {got}, not {wanted}")
    return 1


def names_differ(report, truth):
    # the truth writes bytes that are no ASCII one by one
    wanted = {name.encode("latin-1").decode(errors="replace"): n
              for name, n in truth["kernels"]["names"].items()}
    got = {}
    for row in report["kernels"]:
        got[row["name"]] = got.get(row["name"], 0) + row["calls"]
    return different("kernels", got, wanted)


def copies_differ(report, truth):
    got = {}
    for row in report["copies"]:
        direction = got.setdefault(row["name"].split()[0], {"count": 0, "bytes": 0})
        direction["count"] += row["calls"]
        direction["bytes"] += row["bytes"]
    failed = different("copies", got, truth["copies"])
    got = {"count": sum(row["calls"] for row in report["memsets"]),
           "bytes": sum(row["bytes"] for row in report["memsets"])}
    return failed + different("memsets", got, truth["memsets"])


def made(truth):
    """Records that CUPTI made, by probe."""
    counts = {kind: row["made"] for kind, row in truth["records"].items()}
    return {"kernel": counts.get("10", 0), "memset": counts.get("2", 0),
            "memcpy": counts.get("1", 0) + counts.get("22", 0),
            "api": counts.get("4", 0) + counts.get("5", 0)}


def ledger_differs(report, truth):
    rows = {row["probe"]: row for row in report["ledger"] if row["pid"] == truth["pid"]}
    dropped = sum(row["dropped"] for row in truth["records"].values())
    failed = different("dropped by CUPTI", report["totals"]["lost_in_cupti"], dropped)
    for probe, row in rows.items():
        failed += different(f"fates of {probe}", sum(row[fate] for fate in FATES), row["produced"])
    if dropped:
        return failed
    for probe, count in made(truth).items():
        produced = rows[probe]["produced"] if probe in rows else 0
        # a call that was under way at the end has no record
        if probe != "api" or produced > count:
            failed += different(f"{probe} records", produced, count)
    return failed


def main():
    lossy = sys.argv[1] == "--lossy"
    cuprobe, capture, *truths = sys.argv[1 + lossy:]
    failed = 0
    for path in truths:
        with open(path, encoding="ascii") as file:
            truth = json.load(file)
        report = report_of(cuprobe, capture, truth["pid"])
        failed += different("violations", truth["violations"], [])
        failed += ledger_differs(report, truth)
        if not lossy:
            failed += names_differ(report, truth) + copies_differ(report, truth)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
