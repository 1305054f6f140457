# SPDX-License-Identifier: Apache-2.0
"""NVTX as Python programs use it, through the package of that name. With an argument: waits for a
line on stdin after the first range."""
import sys

import nvtx


@nvtx.annotate("decorated", color="green", domain="python")
def decorated():
    pass


def work():
    with nvtx.annotate("with", color="red", domain="python", category="phase", payload=7):
        decorated()
    with nvtx.annotate("default domain"):
        pass
    nvtx.push_range("pushed", domain="python", payload=0.5)
    nvtx.pop_range(domain="python")
    across = nvtx.start_range("started", domain="python")
    nvtx.end_range(across)
    nvtx.mark("marked", domain="python")
    counted = nvtx.get_domain("python")
    tokens = counted.get_counter("tokens", int)
    tokens.sample(42)
    tokens.batch_submit([43], [counted.get_timestamp()])
    fast = nvtx.get_domain("fast")
    attributes = fast.get_event_attributes(message="reused")
    for _ in range(1000):
        fast.push_range(attributes)
        fast.pop_range()


if len(sys.argv) > 1:
    with nvtx.annotate("before", domain="python"):
        pass
    print("ready", flush=True)
    sys.stdin.readline()
work()
