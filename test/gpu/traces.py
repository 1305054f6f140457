# SPDX-License-Identifier: Apache-2.0
"""Chrome traces, torch.profiler's or cuprobe's, as records; and cutting them at marker kernels.

Both tools write the same categories, names and args, so one reader serves both, and what differs
in a comparison is the recording. Times are nanoseconds from the trace's own base.
"""
import gzip
import json
from collections import Counter, namedtuple

Record = namedtuple("Record", "kind name start end correlation args pid tid")
GPU = ("kernel", "gpu_memcpy", "gpu_memset")


def load(path):
    """All complete events with a category, in the order of the file.

    A graph launched as a whole is a slice among the kernels, known by its exec id; here it has a
    kind of its own, `graph`.
    """
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as f:
        events = json.load(f)["traceEvents"]
    records = []
    for e in events:
        if e.get("ph") != "X" or "cat" not in e:
            continue
        args = e.get("args", {})
        start = round(float(e["ts"]) * 1000)
        kind = "graph" if "graph exec id" in args else e["cat"]
        records.append(Record(kind, e.get("name", ""), start,
                              start + round(float(e.get("dur", 0)) * 1000),
                              args.get("correlation", 0), args, e.get("pid"), e.get("tid")))
    return records


def gpu(records):
    return [r for r in records if r.kind in GPU]


def is_graph_copy(r):
    """A copy on the device, in a graph that was instantiated before CUPTI came: CUPTI tells it as
    the kernel that does it."""
    return r.kind == "kernel" and r.name.startswith("memcpy") and r.name.endswith("_post")


def what(r, fold):
    """What a GPU record says of the work, and two runs of the same work share.

    fold: copies on the device are the same however they are told."""
    if fold and (is_graph_copy(r) or r.name.startswith("Memcpy DtoD")):
        return ("gpu_memcpy", "on the device")
    if r.kind == "kernel":
        shape = tuple(str(r.args.get(key)) for key in
                      ("grid", "block", "registers per thread", "shared memory"))
        return (r.kind, "".join(r.name.split())) + shape
    return (r.kind, r.name, int(r.args["bytes"]))


def cut(records, marker, skip_ns=0):
    """A list of the GPU records of each pass: between two neighbouring markers.

    Correlation ids of one thread grow with its calls, so they say which pass a record belongs to,
    wherever the GPU ran it. skip_ns: leaves out passes that near to the first and last record,
    where a recording that was switched on or off midway had not yet, or no longer, every kind.
    """
    work = gpu(records)
    markers = sorted(((r.correlation, r) for r in work if r.kind == "kernel" and marker in r.name),
                     key=lambda pair: pair[0])
    if not markers:
        return []
    first = min(r.start for r in work) + skip_ns
    last = max(r.end for r in work) - skip_ns
    bounds = [(c, r) for c, r in markers if not skip_ns or first <= r.start <= last]
    passes = [[] for _ in bounds[1:]]
    ordered = sorted(work, key=lambda r: r.correlation)
    at = 0
    for r in ordered:
        while at < len(bounds) and r.correlation >= bounds[at][0]:
            at += 1
        if 0 < at < len(bounds):
            passes[at - 1].append(r)
    return passes


def count(passes, fold=False):
    return [Counter(what(r, fold) for r in one) for one in passes]


def totals(counter):
    """'850 kernels, 2 copies, 1 memsets'"""
    by_kind = Counter()
    for key, n in counter.items():
        by_kind[key[0]] += n
    return (f"{by_kind['kernel']} kernels, {by_kind['gpu_memcpy']} copies, "
            f"{by_kind['gpu_memset']} memsets")


def verdict(ok, claim, figures):
    print(f"{'PASS' if ok else 'FAIL'} {claim}: {figures}", flush=True)
    return 0 if ok else 1
