#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the ledger of a recording balance, and was nothing lost?

    ledger_check.py [--whole] REPORT [TRACE]

REPORT is what `cuprobe report --json` printed. --whole: the recording covers the process from its
start to its end, so that everything the library produced must have arrived. TRACE is the Chrome
trace of the same capture: it must hold as many kernels, copies and memsets as the report counts.
"""
import argparse
import json
import sys

import traces

LOSSES = ("lost_ring", "lost_probe", "lost_in_process", "lost_in_cupti", "invalid",
          "malformed_batches", "unknown")
TABLES = {"kernels": "kernel", "copies": "gpu_memcpy", "memsets": "gpu_memset"}
# The library counts the ledger's own record after it is written.
SELF = "status"


def unbalanced(row):
    fate = sum(row[key] for key in ("delivered", "lost_on_the_way", "lost_in_process",
                                    "discarded", "invalid", "pending"))
    return row["probe"] != SELF and row["produced"] != fate


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report")
    parser.add_argument("trace", nargs="?")
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
        records = traces.load(args.trace)
        for table, kind in TABLES.items():
            rows = sum(row["calls"] for row in report[table])
            events = sum(r.kind == kind for r in records)
            failed += traces.verdict(rows == events, f"report and trace have the same {table}",
                                     f"{rows}, {events}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
