#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does every kernel lie between its launch and the end of the next synchronisation?

    check_times.py [--tolerance-ns 2000] TRACE

TRACE is cuprobe's Chrome trace with the kinds kernel, sync and api. A kernel must not start before
the API call with its correlation id does, and must have ended when the next synchronisation that
covers it (of its context, or of its stream) after that call returned. The tolerance is for the
conversion of the GPU's clock; the worst figures are printed whatever it is.
"""
import argparse
import bisect
import sys

import traces


def covering(syncs):
    """Waits by what they cover: {(context, stream or None): sorted [(start, end)]}."""
    waits = {}
    for s in syncs:
        kind = (s.name + str(s.args.get("cuda_sync_kind", ""))).lower()
        context = s.args.get("context")
        if "context" in kind or "device" in kind:
            waits.setdefault((context, None), []).append((s.start, s.end))
        elif "stream sync" in kind:
            waits.setdefault((context, s.args.get("on stream")), []).append((s.start, s.end))
    for spans in waits.values():
        spans.sort()
    return waits


def next_end(waits, key, after):
    spans = waits.get(key, [])
    at = bisect.bisect_left(spans, (after, 0))
    return spans[at][1] if at < len(spans) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--tolerance-ns", type=int, default=2000)
    args = parser.parse_args()
    records = traces.load(args.trace)
    calls = {}
    for r in records:
        if r.kind in ("cuda_runtime", "cuda_driver"):
            calls[r.correlation] = r
    waits = covering([r for r in records if r.kind == "cuda_sync"])
    early, late, orphans, unwaited, checked = [], [], 0, 0, 0
    for k in (r for r in records if r.kind == "kernel"):
        call = calls.get(k.correlation)
        if not call:
            orphans += 1
            continue
        early.append(call.start - k.start)
        context, stream = k.args.get("context"), k.args.get("stream")
        ends = [e for e in (next_end(waits, (context, None), call.end),
                            next_end(waits, (context, stream), call.end)) if e is not None]
        if ends:
            late.append(k.end - min(ends))
            checked += 1
        else:
            unwaited += 1
    kernels = len(early) + orphans
    failed = traces.verdict(kernels and not orphans, "every kernel has its launch",
                            f"{kernels} kernels, {orphans} without")
    worst = max(early, default=0)
    failed += traces.verdict(early and worst <= args.tolerance_ns,
                             "no kernel starts before its launch",
                             f"worst {worst} ns, {sum(e > 0 for e in early)} above 0")
    worst = max(late, default=0)
    failed += traces.verdict(late and worst <= args.tolerance_ns,
                             "no kernel outlives the next synchronisation",
                             f"worst {worst} ns, {sum(e > 0 for e in late)} above 0, "
                             f"{checked} checked, {unwaited} with none after them")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
