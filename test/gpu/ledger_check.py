#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the ledger of a recording balance, and was nothing lost?

    ledger_check.py [--whole] [--csv CSV] REPORT [TRACE]

REPORT is what `cuprobe report --json` printed. --whole: the recording covers the process from its
start to its end, so that everything the library produced must have arrived. TRACE is the Chrome
trace of the same capture, CSV the table: each must hold as many kernels, copies and memsets as the
report counts.
"""
import argparse
import csv
import json
import sys
from collections import Counter

import traces

LOSSES = ("lost_ring", "lost_probe", "lost_in_process", "lost_in_cupti", "invalid",
          "malformed_batches", "unknown")
# Table of the report: category in a trace, kind in a CSV.
TABLES = {"kernels": ("kernel", "kernel"), "copies": ("gpu_memcpy", "memcpy"),
          "memsets": ("gpu_memset", "memset")}
# The library counts the ledger's own record after it is written.
SELF = "status"


def unbalanced(row):
    fate = sum(row[key] for key in ("delivered", "lost_on_the_way", "lost_in_process",
                                    "discarded", "invalid", "pending"))
    return row["probe"] != SELF and row["produced"] != fate


def same_counts(name, report, found):
    failed = 0
    for table, events in found.items():
        rows = sum(row["calls"] for row in report[table])
        failed += traces.verdict(rows == events, f"report and {name} have the same {table}",
                                 f"{rows}, {events}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report")
    parser.add_argument("trace", nargs="?")
    parser.add_argument("--csv")
    parser.add_argument("--whole", action="store_true")
    args = parser.parse_args()
    with open(args.report, encoding="utf-8") as f:
        report = json.load(f)
    totals = report["totals"]
    failed = traces.verdict(
        totals["delivered"] > 0 and not any(totals[key] for key in LOSSES), "nothing is lost",
        f"{totals['delivered']} delivered, " +
        (", ".join(f"{totals[key]} {key}" for key in LOSSES if totals[key]) or "0 lost"))
    if args.whole:
        wrong = [row for row in report["ledger"] if unbalanced(row)]
        failed += traces.verdict(report["ledger"] and not wrong, "produced = delivered + the rest",
                                 f"{len(report['ledger'])} probes, {len(wrong)} do not balance")
        for row in wrong:
            print(f"    {row}")
    if args.trace:
        found = Counter(r.kind for r in traces.load(args.trace))
        failed += same_counts("trace", report, {t: found[k] for t, (k, _) in TABLES.items()})
    if args.csv:
        with open(args.csv, newline="", encoding="utf-8", errors="replace") as f:
            found = Counter(row["kind"] for row in csv.DictReader(f))
        failed += same_counts("CSV", report, {t: found[k] for t, (_, k) in TABLES.items()})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
