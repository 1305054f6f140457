#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to read the Python frames of a thread: stacks of 10, 20 and 80 functions."""
import ctypes
import os
import sys

DEPTHS = (10, 20, 80)

library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libbench_python.so"))
source = "def f1():\n    return library.measure()\n"
for i in range(2, max(DEPTHS)):
    source += f"def f{i}():\n    x = {i}\n    return f{i - 1}() + x\n"
exec(compile(source, os.path.abspath(__file__), "exec"))

print(f"CPython {sys.version.split()[0]}", flush=True)
for depth in DEPTHS:
    if not globals()[f"f{depth - 1}"]():
        sys.exit("python_walk: the frames of this Python cannot be read")
