#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a build and closes with one line: N passed, N failed, N skipped.

As root, or through sudo where that asks for no password, since BPF needs it. A line for each test
as it ends; then every skipped test with its reason and every failed one with its output. The exit
status is not 0 when a test failed or none ran.
"""
import argparse
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

LINE = re.compile(r"\s*\d+/\d+ Test\s+#\d+: (\S+) \.*\s*(?:\*\*\*)?(\S.*?)\s+([\d.]+) sec")
FAILED_LINES = 200


def parse_args():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("build", help="build folder")
    p.add_argument("--only", metavar="REGEX", help="tests whose name matches")
    p.add_argument("--but", metavar="REGEX", help="not those whose name matches")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at a time")
    p.add_argument("--tally", metavar="FILE", help="append 'passed failed skipped' to FILE")
    return p.parse_args()


def as_root():
    """The words before a command that make it run as root; none when that cannot be had."""
    if os.geteuid() == 0:
        return []
    probe = ["sudo", "-n", "true"]
    try:
        ok = subprocess.run(probe, stderr=subprocess.DEVNULL, check=False).returncode == 0
    except FileNotFoundError:
        ok = False
    if not ok:
        print("check: neither root nor sudo without a password: tests that need BPF will skip")
    return ["sudo", "-n", "-E"] if ok else []


def run_tests(args, junit):
    """Runs ctest and shows each test as it ends; returns all that ctest said."""
    command = ["ctest", "--test-dir", args.build, "--output-junit", junit, "-j", str(args.jobs)]
    command += ["--test-output-size-passed", "65536", "--test-output-size-failed", "1048576"]
    if args.only:
        command += ["-R", args.only]
    if args.but:
        command += ["-E", args.but]
    root = as_root()
    said = ""
    with subprocess.Popen(root + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as ctest:
        for line in ctest.stdout:
            said += line
            m = LINE.match(line)
            if m:
                word = "ok" if m[2] == "Passed" else m[2].lower()
                print(f"{word:8} {m[1]}  {m[3]} s", flush=True)
    if root:
        owner = f"{os.getuid()}:{os.getgid()}"
        subprocess.run(["sudo", "-n", "chown", "-R", owner, args.build], check=False)
    return said


def reason(output):
    """Why a test says that it skipped."""
    lines = [s.strip() for s in output.splitlines() if s.strip()]
    marked = [s for s in lines if s.startswith("SKIP")]
    if marked:
        return re.sub(r"^SKIP:?\s*", "", marked[0])
    return lines[-1] if lines else "gives no reason"


def report(cases):
    """Shows what did not pass; returns (passed, failed, skipped)."""
    passed = failed = skipped = 0
    for case in cases:
        output = case.findtext("system-out") or ""
        skip = case.find("skipped")
        if case.get("status") == "run":
            passed += 1
        elif skip is not None and skip.get("message", "").startswith("SKIP_"):
            skipped += 1
            print(f"skipped {case.get('name')}: {reason(output)}")
        else:
            failed += 1
            tail = output.splitlines()[-FAILED_LINES:]
            print(f"\n--- failed: {case.get('name')}")
            print("\n".join("    " + s for s in tail))
    return passed, failed, skipped


def main():
    args = parse_args()
    junit = os.path.abspath(os.path.join(args.build, "check.xml"))
    if os.path.exists(junit):
        os.unlink(junit)
    said = run_tests(args, junit)
    if not os.path.exists(junit):
        print(f"{said}check: no result: is there a build in '{args.build}'?", file=sys.stderr)
        return 2
    passed, failed, skipped = report(ET.parse(junit).getroot().iter("testcase"))
    if args.tally:
        with open(args.tally, "a", encoding="utf-8") as f:
            f.write(f"{passed} {failed} {skipped}\n")
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
