#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program in Python that launches kernels on the simulator, each from another place, and says
from where:

        app.py TRUTH [ROUNDS]

TRUTH becomes JSON: the name of each kernel, and the frames (function, file, line) it is launched
from, the innermost first.
"""
import ctypes
import json
import sys
import threading

cuda = ctypes.CDLL("libcuda.so.1")
QUALIFIED = sys.version_info >= (3, 11)
truth = {}


def check(result):
    if result:
        sys.exit(f"app.py: CUDA error {result}")


def frames(frame):
    told = []
    while frame:
        code = frame.f_code
        name = code.co_qualname if QUALIFIED else code.co_name
        told.append((name, code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return told


class Module:
    def __init__(self):
        context = ctypes.c_void_p()
        check(cuda.cuInit(0))
        check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        self.context = context
        self.handle = ctypes.c_void_p()
        self.enter()
        check(cuda.cuModuleLoadData(ctypes.byref(self.handle), b"// kernels"))
        self.functions = {}

    def enter(self):
        check(cuda.cuCtxSetCurrent(self.context))

    def launch(self, name):
        if name not in self.functions:
            function = ctypes.c_void_p()
            check(cuda.cuModuleGetFunction(ctypes.byref(function), self.handle, name.encode()))
            self.functions[name] = function
        told = frames(sys._getframe()); result = cuda.cuLaunchKernel(  # noqa: E702
            self.functions[name], *[1] * 6, 0, None, None, None)
        truth.setdefault(name, told)
        check(result)


def recursive(module, depth):
    if depth:
        return recursive(module, depth - 1)
    return module.launch("from_recursion")


def generated(module):
    yield module.launch("from_generator")


async def awaited(module):
    module.launch("from_coroutine")


class Layer:
    def __init__(self, module):
        self.module = module

    def __call__(self, name):
        list(map(self.module.launch, [name]))


def work(module):
    module.enter()
    module.launch("from_thread")


def main(rounds):
    module = Module()
    source = "def made_up(m):\n\n    m.launch('from_made_up_code')\n"
    made = {}
    exec(compile(source, "<generated>", "exec"), made)
    for _ in range(rounds):
        module.launch("from_main")
        recursive(module, 20)
        list(generated(module))
        try:
            awaited(module).send(None)
        except StopIteration:
            pass
        (lambda: module.launch("from_lambda"))()
        Layer(module)("from_layer")
        made["made_up"](module)
        thread = threading.Thread(target=work, args=(module,))
        thread.start()
        thread.join()
    check(cuda.cuCtxSynchronize())


main(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
with open(sys.argv[1], "w", encoding="utf-8") as f:
    json.dump(truth, f, indent=1)
