#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does cuprobe record what torch.profiler records for the same work?

    compare_counts.py [--skip-ms MS] TORCH_TRACE CUPROBE_TRACE

Two runs of llm.py, the first under torch.profiler, the second under cuprobe, exported as Chrome
trace. Each is cut into passes at the marker kernel, by correlation id; every pass of the one must
hold the same kernels (name, grid, block, registers, shared memory), copies (direction, memory
kinds, bytes) and memsets as every pass of the other. So it does not matter what either tool saw
before, after or of how many passes, and one missing record is seen. --skip-ms: for recordings
attached midway, leaves out passes that near to the recording's ends.
"""
import argparse
import sys
from collections import Counter

import traces


def differences(ours, theirs):
    both = Counter(ours)
    both.subtract(theirs)
    for key, n in sorted(both.items(), key=lambda item: -abs(item[1]))[:12]:
        if n:
            print(f"    {n:+d} {key}")


def same_passes(name, passes):
    distinct = {frozenset(p.items()) for p in passes}
    bad = traces.verdict(len(distinct) == 1, f"all passes of {name} are alike",
                         f"{len(passes)} passes, {len(distinct)} kinds")
    if len(distinct) > 1:
        usual = Counter(frozenset(p.items()) for p in passes).most_common(1)[0][0]
        odd = next(p for p in passes if frozenset(p.items()) != usual)
        differences(odd, Counter(dict(usual)))
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("torch")
    parser.add_argument("cuprobe")
    parser.add_argument("--marker", default="spin_kernel")
    parser.add_argument("--skip-ms", type=int, default=0)
    args = parser.parse_args()
    theirs, ours = traces.load(args.torch), traces.load(args.cuprobe)
    fold = any(traces.is_graph_copy(r) for r in theirs + ours)
    theirs = traces.count(traces.cut(theirs, args.marker), fold)
    ours = traces.count(traces.cut(ours, args.marker, args.skip_ms * 1000000), fold)
    if not theirs or not ours:
        return traces.verdict(False, "both traces hold whole passes",
                              f"torch {len(theirs)}, cuprobe {len(ours)}")
    failed = same_passes("torch.profiler", theirs) + same_passes("cuprobe", ours)
    failed += traces.verdict(
        ours[0] == theirs[0], "a pass is the same for both",
        f"cuprobe {traces.totals(ours[0])}; torch.profiler {traces.totals(theirs[0])}")
    if ours[0] != theirs[0]:
        differences(ours[0], theirs[0])
    if not args.skip_ms:
        # The profiler begins after the warm-up, which cuprobe sees too.
        total, reference = sum(ours[-len(theirs):], Counter()), sum(theirs, Counter())
        failed += traces.verdict(
            total == reference, f"the last {len(theirs)} passes are the same for both",
            f"cuprobe {traces.totals(total)}; torch.profiler {traces.totals(reference)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
