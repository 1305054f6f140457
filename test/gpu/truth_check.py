#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does cuprobe record exactly what mix did?

    truth_check.py [--graphs node|graph] [--no-calls] [--report REPORT] TRUTH TRACE
    truth_check.py --partial [--skip-ms 500] TRUTH TRACE

TRUTH is what mix printed, TRACE is cuprobe's Chrome trace of it, with the kinds kernel, memcpy,
memset, sync and api (and graph, for --graphs graph, where the insides of graphs must be absent).
--partial: the recording covers a part of the run of one thread (attached midway). It is cut into
rounds at the kernel `mark`, whose grid is the round's number; the rounds must follow one another
and each must be whole. --no-calls: without the API calls, whose names an old libcupti does not
know. --skip-ms leaves out rounds that near to the recording's ends. REPORT, of `cuprobe report
--json`, is asked for the number of graph launches too.
"""
import argparse
import json
import sys
from collections import Counter

import traces

# A call in the Chrome trace: how often mix makes it, from the truth.
CALLS = {
    "cudaLaunchKernel": lambda t: t["launches"] + t["nodes"] * t["threads"],
    "cudaMemcpyAsync": lambda t: sum(n for n, _ in t["copies"].values()) + t["threads"],
    "cudaMemsetAsync": lambda t: t["memsets"][0] + t["threads"],
    "cudaGraphLaunch": lambda t: t["graph_launches"],
    "cudaEventRecord": lambda t: t["event_records"],
    "cudaStreamWaitEvent": lambda t: t["event_waits"],
    "cudaEventSynchronize": lambda t: t["event_syncs"],
    "cudaStreamSynchronize": lambda t: t["stream_syncs"],
    "cudaDeviceSynchronize": lambda t: t["device_syncs"],
    "cudaMalloc": lambda t: t["allocs"]["device"],
    "cudaMallocAsync": lambda t: t["allocs"]["async"],
    "cudaFreeAsync": lambda t: t["allocs"]["async"],
}


def short(name):
    """'void templated_kernel<1>(float*)' -> 'templated_kernel<1>'"""
    return name.split("(")[0].removeprefix("void ").strip()


def expected(truth, inside):
    """Kernels, copies and memsets as a counter; `inside`: with those inside graphs."""
    want = Counter()
    for key in ("kernels", "graph_kernels") if inside else ("kernels",):
        for name, n in truth[key].items():
            want["kernel", name] += n
    for key in ("copies", "graph_copies") if inside else ("copies",):
        for name, (n, size) in truth[key].items():
            want["copies", name] += n
            want["copied bytes", name] += size
    for key in ("memsets", "graph_memsets") if inside else ("memsets",):
        want["memsets", ""] += truth[key][0]
        want["set bytes", ""] += truth[key][1]
    return want


def seen(records, truth):
    count, size = truth["graph_copies"].get("DtoD", (0, 0))
    got = Counter()
    for r in records:
        if traces.is_graph_copy(r):
            got["copies", "DtoD"] += 1
            got["copied bytes", "DtoD"] += size // count if count else 0
        elif r.kind == "kernel":
            got["kernel", short(r.name)] += 1
        elif r.kind == "gpu_memcpy":
            direction = r.name.split()[1]
            got["copies", direction] += 1
            got["copied bytes", direction] += int(r.args["bytes"])
        elif r.kind == "gpu_memset":
            got["memsets", ""] += 1
            got["set bytes", ""] += int(r.args["bytes"])
    return got


def compare(claim, got, want):
    failed = 0
    for key in sorted(set(got) | set(want)):
        failed += traces.verdict(got[key] == want[key], f"{claim}{' '.join(key).strip()}",
                                 f"{got[key]}, should be {want[key]}")
    return failed


def calls(records, truth):
    got = Counter(r.name.lstrip("_").split("_")[0] for r in records
                  if r.kind == "cuda_runtime")
    failed = 0
    for name, times in CALLS.items():
        failed += traces.verdict(got[name] == times(truth), f"calls of {name}",
                                 f"{got[name]}, should be {times(truth)}")
    return failed


def per_round(truth):
    """The truth of one round: all of it is the same number of times in each."""
    rounds = truth["rounds"]
    one = {}
    for key in ("kernels", "graph_kernels"):
        one[key] = {name: n // rounds for name, n in truth[key].items()}
    for key in ("copies", "graph_copies"):
        one[key] = {name: (n // rounds, size // rounds) for name, (n, size) in truth[key].items()}
    for key in ("memsets", "graph_memsets"):
        one[key] = [n // rounds for n in truth[key]]
    return one


def partial(records, truth, skip_ns, inside):
    rounds = traces.cut(records, "mark", skip_ns)
    numbers = [int(r.args["grid"][0]) for one in rounds for r in one
               if r.kind == "kernel" and short(r.name) == "mark"]
    failed = traces.verdict(
        len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers))),
        "the rounds follow one another",
        f"{len(numbers)} of {truth['rounds']}" + (f", from {numbers[0]}" if numbers else ""))
    want = expected(per_round(truth), inside)
    wrong = [(n, seen(one, truth)) for n, one in zip(numbers, rounds) if seen(one, truth) != want]
    failed += traces.verdict(rounds and not wrong, "every round is whole",
                             f"{len(rounds)} rounds, {len(wrong)} are not")
    for number, got in wrong[:3]:
        got.subtract(want)
        print(f"    round {number}: {dict((k, n) for k, n in got.items() if n)}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth")
    parser.add_argument("trace")
    parser.add_argument("--graphs", choices=("node", "graph"), default="node")
    parser.add_argument("--no-calls", dest="calls", action="store_false")
    parser.add_argument("--report")
    parser.add_argument("--partial", action="store_true")
    parser.add_argument("--skip-ms", type=int, default=0)
    args = parser.parse_args()
    with open(args.truth, encoding="utf-8") as f:
        truth = json.loads([line for line in f if line.startswith('{"rounds"')][-1])
    records = traces.load(args.trace)
    inside = args.graphs == "node"
    if args.partial:
        return 1 if partial(records, truth, args.skip_ms * 1000000, inside) else 0
    failed = compare("", seen(traces.gpu(records), truth), expected(truth, inside))
    if args.calls:
        failed += calls(records, truth)
    graphs = sum(r.kind == "graph" for r in records)
    want = 0 if inside else truth["graph_launches"]
    failed += traces.verdict(graphs == want, "graph launches as a whole",
                             f"{graphs}, should be {want}")
    if args.report:
        with open(args.report, encoding="utf-8") as f:
            graphs = sum(row["calls"] for row in json.load(f)["graphs"])
        failed += traces.verdict(graphs == want, "graphs in the report",
                                 f"{graphs}, should be {want}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
