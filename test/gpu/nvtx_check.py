#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the GPU time of an NVTX range that of the kernels launched inside it?

    nvtx_check.py REPORT.json TRACE

REPORT is of `cuprobe report --nvtx --json`, TRACE cuprobe's Chrome trace of the same recording of one
thread, with the kinds kernel, api and nvtx. The trace is summed up here once more: by the time and
the correlation ids of the calls, without the join that the report is made by.
"""
import bisect
import json
import sys
from collections import Counter

import claims
import traces


def main():
    rows = {row["name"]: row for row in json.load(open(sys.argv[1], encoding="utf-8"))["nvtx"]}
    records = traces.load(sys.argv[2])
    kernels = {}
    for r in records:
        if r.kind == "kernel":
            kernels.setdefault(r.correlation, []).append(r.end - r.start)
    calls = sorted((r.start, r.tid, r.correlation) for r in records
                   if r.kind in ("cuda_runtime", "cuda_driver") and r.correlation in kernels)
    starts = [start for start, _, _ in calls]
    gpu_ns, count = Counter(), Counter()
    for r in records:
        if r.kind != "user_annotation":
            continue
        inside = calls[bisect.bisect_left(starts, r.start):bisect.bisect_right(starts, r.end)]
        for correlation in {c for _, tid, c in inside if tid == r.tid}:
            gpu_ns[r.name] += sum(kernels[correlation])
            count[r.name] += len(kernels[correlation])
    layers = [name for name in rows if name.startswith("layer ")]
    claims.claim(len(layers) == 28 and "model" in rows, f"{len(layers)} layers and the model have ranges")
    claims.claim(len({rows[name]["calls"] for name in rows if name in layers}) == 1,
          f"each as often as the others: {rows[layers[0]]['calls'] if layers else 0} times")
    for name in ["model"] + layers[:1] + layers[-1:]:
        row = rows.get(name, {"kernel_ns": 0, "kernels": 0})
        claims.claim(row["kernel_ns"] == gpu_ns[name] > 0 and row["kernels"] == count[name],
              f"{name}: {row['kernel_ns']} ns in {row['kernels']} kernels; its launches' kernels: "
              f"{gpu_ns[name]} ns in {count[name]}")
    claims.claim(all(rows[name]["kernel_ns"] == gpu_ns[name] for name in layers), "and so all the others")
    return claims.status()


if __name__ == "__main__":
    sys.exit(main())
