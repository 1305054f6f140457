#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the test consumer of parcagpu read against the contract and what the simulator did.

    check.py [--all] [--per-thread N] [--threads N] [--left N] CONSUMED TRUTH

--all: every launch was told, and every kernel of it came. Otherwise a sample was, of at most N
launches of each thread. With --left N the consumer came and left while the program ran: kernels may be
missing of what was launched while it attached, probe by probe, or before CUPTI recorded, and of the
last N launches.
"""
import argparse
import collections
import json
import sys

GRAPH_LAUNCHES = {311, 312, -514, -515}


class Consumed:
    """What came, in the order in which it came."""

    def __init__(self, path):
        self.told = {}  # correlation: (cbid, API name)
        self.coming = 0  # launches told while the consumer attached, probe by probe
        self.kernels = []  # (correlation, start, end, device, stream, graph, node, name)
        self.executed = []
        self.batches = []
        self.faults = []
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                self.take(line.rstrip("\n").split(" ", 9))

    def take(self, words):
        kind = words[0]
        if "UNREADABLE" in words:
            self.faults.append("a text cannot be read: " + " ".join(words))
        if kind == "attached":
            self.coming = len(self.told)
        elif kind == "correlation":
            self.take_launch(int(words[2]), int(words[3]), words[4])
        elif kind == "kernel":
            self.take_kernel(self.kernels, words)
        elif kind == "executed":
            self.take_kernel(self.executed, words)
        elif kind == "batch":
            self.batches.append(int(words[2]))
        elif kind in ("bad", "lost") or (kind == "missed" and words[1] != "0"):
            self.faults.append(" ".join(words))

    def take_launch(self, correlation, cbid, name):
        if correlation in self.told:
            self.faults.append(f"launch {correlation} told twice")
        if (cbid > 0) != name.lstrip("_").startswith("cuda"):
            self.faults.append(f"{name} told as {cbid}")
        if (cbid in GRAPH_LAUNCHES) != ("GraphLaunch" in name):
            self.faults.append(f"{name} told as {cbid}")
        self.told[correlation] = (cbid, name)

    def take_kernel(self, kernels, words):
        kernel = tuple(int(w) for w in words[2:9]) + (words[9],)
        if self.told and kernel[0] not in self.told:
            self.faults.append(f"kernel of launch {kernel[0]} came before it, or without")
        if not 0 < kernel[1] <= kernel[2]:
            self.faults.append(f"times {kernel[1]} to {kernel[2]}")
        kernels.append(kernel)


def names_equal(kernels, truth):
    counted = collections.Counter(k[7] for k in kernels)
    wanted = truth["kernels"]["names"]
    return [f"{name}: {counted[name]} kernels, {wanted.get(name, 0)} launched"
            for name in set(counted) | set(wanted) if counted[name] != wanted.get(name, 0)]


def launches_whole(consumed, kernels, left):
    """The launches whose kernels must all have come. Threads launch while recording begins: a few more."""
    told = list(consumed.told)
    if not left:
        return told
    recorded = {k[0] for k in kernels}
    first = next((i for i, c in enumerate(told) if i >= consumed.coming and c in recorded), len(told))
    return told[first + 10:-left]


def kernels_equal(consumed, left):
    """Kernels one by one and in batches are the same, in the same order."""
    whole = set(launches_whole(consumed, consumed.executed, left))
    alone, batched = ([k for k in kernels if not consumed.told or k[0] in whole]
                      for kernels in (consumed.executed, consumed.kernels))
    if alone != batched:
        yield f"kernel_executed and activity_batch differ: {len(alone)} and {len(batched)} kernels"


def launches_complete(consumed, kernels, left):
    """A launch has its one kernel; one of a graph all of the graph's, each once."""
    by_launch = collections.defaultdict(list)
    for k in kernels:
        by_launch[k[0]].append(k)
    nodes = max((len(by_launch[c]) for c, (cbid, _) in consumed.told.items()
                 if cbid in GRAPH_LAUNCHES), default=0)
    whole = launches_whole(consumed, kernels, left)
    if not whole:
        yield "no launch is whole"
    for correlation in whole:
        cbid, name = consumed.told[correlation]
        got = by_launch[correlation]
        wanted = nodes if cbid in GRAPH_LAUNCHES else 1
        if len(got) != wanted or len({k[6] for k in got}) != wanted:
            yield f"{name} {correlation}: {len(got)} kernels of {wanted}"
        if any((k[5] != 0) != (cbid in GRAPH_LAUNCHES) for k in got):
            yield f"{name} {correlation}: graph ids"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("consumed")
    p.add_argument("truth")
    p.add_argument("--all", action="store_true")
    p.add_argument("--per-thread", type=float)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--left", type=int, default=0)
    args = p.parse_args()

    consumed = Consumed(args.consumed)
    with open(args.truth, encoding="utf-8") as f:
        truth = json.load(f)
    faults = consumed.faults
    if truth["violations"]:
        faults.append(str(truth["violations"]))
    if any(not 1 <= n <= 128 for n in consumed.batches):
        faults.append(f"batches of {consumed.batches}")
    kernels = consumed.kernels or consumed.executed
    if not kernels:
        faults.append("no kernels came")
    if consumed.kernels and consumed.executed:
        faults += kernels_equal(consumed, args.left)
    if args.all:
        faults += names_equal(kernels, truth)
    if consumed.told:
        faults += launches_complete(consumed, kernels, args.left)
    if args.per_thread and len(consumed.told) > args.per_thread * args.threads:
        faults.append(f"{len(consumed.told)} launches told, allowed {args.per_thread} a thread")
    for fault in faults[:20]:
        print(fault)
    print(f"{len(consumed.told)} launches, {len(kernels)} kernels")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
