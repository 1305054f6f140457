#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does Holistic Trace Analysis read a Chrome trace of cuprobe, and give its breakdowns?

    hta_check.py TRACE        (exit status 77: the package HolisticTraceAnalysis is not there)
"""
import gzip
import os
import shutil
import sys
import tempfile

import traces


def main():
    # HTA's own rounding to microseconds gives kernels below one a negative length.
    os.environ.setdefault("HTA_DISABLE_NS_ROUNDING", "1")
    try:
        from hta.trace_analysis import TraceAnalysis
    except ImportError:
        print("SKIP: needs the Python package HolisticTraceAnalysis")
        return 77
    folder = tempfile.mkdtemp(prefix="cuprobe-hta-")
    target = os.path.join(folder, "rank0.json.gz")
    with open(sys.argv[1], "rb") as source, open(target, "wb") as out:
        data = source.read()
        out.write(data if sys.argv[1].endswith(".gz") else gzip.compress(data))
    try:
        analysis = TraceAnalysis(trace_dir=folder)
        temporal = analysis.get_temporal_breakdown(visualize=False)
        kinds, kernels = analysis.get_gpu_kernel_breakdown(visualize=False)
        launches = analysis.get_cuda_kernel_launch_stats(visualize=False)
    finally:
        shutil.rmtree(folder)
    expect = len({r.name for r in traces.load(sys.argv[1]) if r.kind == "kernel"})
    failed = traces.verdict(len(temporal) == 1, "the temporal breakdown has the rank",
                            temporal.to_dict("records"))
    failed += traces.verdict(len(kinds) > 0, "the kernel breakdown has kinds",
                             kinds.to_dict("records"))
    failed += traces.verdict(0 < len(kernels) <= expect + 40, "the kernel breakdown has kernels",
                             f"{len(kernels)} rows, {expect} names in the trace")
    failed += traces.verdict(sum(len(v) for v in launches.values()) > 0,
                             "kernels are joined with their launches",
                             f"{sum(len(v) for v in launches.values())} launches")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
