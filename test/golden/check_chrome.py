#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a Chrome trace keeps what viewers and HTA rely on: check_chrome.py FILE..."""
import collections
import decimal
import gzip
import json
import re
import sys

CPU = {"cuda_runtime", "cuda_driver"}
GPU = {"kernel", "gpu_memcpy", "gpu_memset"}
OTHER = {"cuda_sync", "overhead", "unified_memory", "user_annotation", "gpu_user_annotation"}
GPU_SORT_INDEX = 5000000


class Check:
    def __init__(self, path):
        self.errors = 0
        self.path = path
        opened = gzip.open if path.endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8", errors="strict") as f:
            text = f.read()
        self.trace = json.loads(text, parse_float=decimal.Decimal, strict=True)
        self.text = text
        self.events = self.trace["traceEvents"]

    def wrong(self, what, event=""):
        self.errors += 1
        if self.errors <= 20:
            print(f"{self.path}: {what} {event}", file=sys.stderr)

    def expect(self, holds, what, event=""):
        if not holds:
            self.wrong(what, event)

    def head(self):
        t = self.trace
        for key in ("schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds",
                    "distributedInfo", "traceEvents", "traceName"):
            self.expect(key in t, f"no {key}")
        self.expect(t["schemaVersion"] == 1, "schemaVersion is not 1")
        self.expect(t["displayTimeUnit"] == "ms", "displayTimeUnit is not ms")
        self.expect(isinstance(t["baseTimeNanoseconds"], int), "baseTimeNanoseconds")
        self.expect(re.search(r'"rank":\s+\d+', self.text), 'no "rank": N as HTA looks for it')
        for device in t["deviceProperties"]:
            for key in ("id", "name", "totalGlobalMem", "computeMajor", "computeMinor", "numSms"):
                self.expect(key in device, f"deviceProperties without {key}", device)

    def time(self, event, key):
        value = event.get(key)
        good = isinstance(value, decimal.Decimal) and value.as_tuple().exponent == -3
        self.expect(good and value >= 0, f"{key} is not microseconds with three decimals", event)
        return int(value * 1000) if good else 0

    def arguments(self, e):
        args, cat = e["args"], e["cat"]
        if cat in GPU:
            for key in ("device", "context", "stream", "correlation"):
                self.expect(key in args, f"no {key}", e)
        else:
            self.expect("stream" not in args, "an event off the GPU has a stream", e)
        if cat in CPU:
            self.expect("cbid" in args, "no cbid", e)
            self.expect("correlation" in args or "runtime correlation" in args, "uncorrelated", e)
        if cat in ("gpu_memcpy", "gpu_memset"):
            self.expect("bytes" in args, "no bytes", e)
        self.expect(cat in CPU | GPU | OTHER, "unknown category", e)
        self.expect(not re.search(r"[\ud800-\udfff]", e["name"]), "lone surrogate in a name", e)

    def sort(self):
        self.slices, self.starts, self.ends = collections.defaultdict(list), {}, []
        self.named, self.cats = {}, collections.Counter()
        for e in self.events:
            ph = e["ph"]
            ts = self.time(e, "ts")
            lane = (e.get("pid"), e.get("tid"))
            if ph == "X":
                self.slices[lane].append((ts, ts + self.time(e, "dur"), e))
                self.cats[e["cat"]] += 1
                self.arguments(e)
            elif ph == "s":
                self.expect(e["id"] not in self.starts, "two starts of one flow", e)
                self.starts[e["id"]] = (ts, lane, e)
            elif ph == "f":
                self.expect(e.get("bp") == "e", 'no "bp":"e"', e)
                self.ends.append((ts, lane, e))
            elif ph == "M":
                key = (e["name"],) + lane if e["name"].startswith("thread") else (e["name"], lane[0])
                self.expect(key not in self.named, "named twice", e)
                self.named[key] = e["args"]
            else:
                self.expect(ph in "Ci", "unknown phase", e)
            if ph in "sf":
                self.expect(e["cat"] == "ac2g" and e["name"] == "ac2g", "not ac2g", e)

    def overlaps(self):
        for lane, slices in self.slices.items():
            open_ends = []
            for start, end, e in sorted(slices, key=lambda s: (s[0], -s[1])):
                while open_ends and open_ends[-1] <= start:
                    open_ends.pop()
                self.expect(not open_ends or end <= open_ends[-1], f"partial overlap in {lane}", e)
                open_ends.append(end)

    def flows(self):
        launched = [(lane[0], s[2]["args"]["correlation"]) for lane, slices in self.slices.items()
                    for s in slices if s[2]["cat"] in CPU and "Launch" in s[2]["name"] and
                    "correlation" in s[2]["args"]]
        self.expect(len(launched) == len(set(launched)), "a launch is there twice")
        begins = {lane: {s[0] for s in slices} for lane, slices in self.slices.items()}
        ended = set()
        for ts, lane, e in self.ends:
            self.expect(ts in begins.get(lane, ()), "a flow ends where no slice begins", e)
            start = self.starts.get(e["id"])
            if start:
                ended.add(e["id"])
                self.expect(start[0] <= ts, "a flow ends before it starts", e)
                self.expect(start[1][0] != lane[0], "a flow within one process", e)
        for ts, lane, e in self.starts.values():
            self.expect(ts in begins.get(lane, ()), "a flow starts where no slice begins", e)
        launches = {s[2]["args"].get("correlation") for lane in self.slices.values() for s in lane
                    if s[2]["cat"] in CPU and re.match(r"_*cu(da)?\w*Launch(?!Host)", s[2]["name"])}
        without = [e for _, _, e in self.ends if e["id"] not in self.starts and
                   e["id"] % 2**32 in launches]
        for e in without:
            self.wrong("a launch is there, but the flow does not start", e)
        return len(ended)

    def lanes(self):
        names = set()
        for lane, slices in self.slices.items():
            self.expect(("process_name", lane[0]) in self.named, f"process {lane[0]} has no name")
            self.expect(("process_sort_index", lane[0]) in self.named, f"no order for {lane[0]}")
            name = self.named.get(("thread_name",) + lane, {}).get("name")
            self.expect(name, f"lane {lane} has no name")
            self.expect((lane[0], name) not in names, f"two lanes are called {name}")
            names.add((lane[0], name))
            for _, _, e in slices:
                if e["cat"] in GPU:
                    index = self.named[("process_sort_index", lane[0])]["sort_index"]
                    device = e["args"]["device"]
                    self.expect(index == GPU_SORT_INDEX + device, "wrong sort index", e)

    def run(self):
        self.head()
        self.sort()
        self.overlaps()
        joined = self.flows()
        self.lanes()
        counts = " ".join(f"{cat}={n}" for cat, n in sorted(self.cats.items()))
        print(f"{self.path}: {counts} lanes={len(self.slices)} flows={len(self.starts)} "
              f"joined={joined} unstarted={sum(e['id'] not in self.starts for _, _, e in self.ends)}")
        return self.errors


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(1 if sum(Check(path).run() for path in sys.argv[1:]) else 0)
