#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frames as the library reads them, beside those that the interpreter tells, in all its forms.

        frames.py libpython_walk.so [-v]

Every case calls same() somewhere inside: the innermost frame is same()'s own caller's.
"""
import asyncio
import atexit
import collections
import contextlib
import ctypes
import functools
import gc
import operator
import re
import sys
import sysconfig
import threading
import time

FREE_THREADING = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
MOST = 4096
QUALIFIED = sys.version_info >= (3, 11)
SHARED = sys.version_info >= (3, 11)  # several frames in one evaluation loop


class Frame(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("function", "file", "line", "evaluation")]


def library(load):
    lib = load(sys.argv[1])
    lib.text.restype = ctypes.c_char_p
    return lib


LIB = library(ctypes.CDLL)  # gives the GIL away for the call
LOCKED = library(ctypes.PyDLL)
counts = collections.Counter()
failures = []


def told(frame):
    """The frames as the interpreter tells them."""
    frames = []
    while frame:
        code = frame.f_code
        name = code.co_qualname if QUALIFIED else code.co_name
        frames.append((name, code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    return frames


def read(lib=LIB, most=MOST):
    """The frames as the library reads them, without the one of this function."""
    frames = (Frame * most)()
    evaluations = ctypes.c_int()
    count = lib.capture(frames, most, ctypes.byref(evaluations))
    assert count, "no frames were read"
    names = [(lib.text(f.function), lib.text(f.file), f.line) for f in frames[:count]]
    return names[1:], [f.evaluation for f in frames[:count]], evaluations.value


def encoded(frames):
    return [(n.encode("utf-8", "surrogatepass"), f.encode("utf-8", "surrogateescape"), line)
            for n, f, line in frames]


def same(lib=LIB):
    """Compares; the caller's line must be that of the call."""
    expected = encoded(told(sys._getframe(1)))
    got, loops, native = read(lib)
    if expected[:1] == got[1:2]:
        got = got[1:]  # this function's own
    counts["stacks"] += 1
    counts["frames"] += len(got)
    if got != expected:
        for pair in zip(expected + [None] * len(got), got + [None] * len(expected)):
            if pair[0] != pair[1]:
                failures.append(f"differs: told {pair[0]} read {pair[1]}")
                break
    if loops != sorted(loops) or (not SHARED and loops != list(range(len(loops)))):
        failures.append(f"evaluations out of order: {loops}")
    if native != loops[-1] + 1:
        failures.append(f"{loops[-1] + 1} evaluations were read, {native} are on the stack")
    return loops


def plain():
    same()
    same(LOCKED)


def lines():
    same(
    )
    x = [
        same(),

        same()]
    for _ in range(3):

        x.append(same()) if x else None
    return (x
            and same())


def recursion(depth):
    if depth:
        recursion(depth - 1)
    else:
        same()


def through_c(depth):
    if depth:
        list(map(through_c, [depth - 1]))
    else:
        same()


def generators():
    def inner():
        yield same()
        yield (same(),
               same())

    def outer():
        yield from inner()
        yield same()

    for _ in outer():
        same()
    for _ in (same() for _ in range(2)):
        same()
    sum(1 for _ in outer())


async def coroutine(depth):
    same()
    if depth:
        await coroutine(depth - 1)
    await asyncio.sleep(0)
    same()


async def ticks():
    for _ in range(2):
        same()
        yield 1
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def around():
    same()
    yield
    same()


async def asynchronous():
    await asyncio.gather(coroutine(3), coroutine(0))
    async for _ in ticks():
        same()
    _ = [same() async for _ in ticks()]
    async with around():
        same()


def comprehensions():
    _ = [same() for _ in range(2)]
    _ = {same() and 1 for _ in range(2)}
    _ = {i: same() for i in range(2)}
    _ = [[same() for _ in range(2)]
         for _ in range(2)]
    (lambda: same())()
    (lambda: [
        same() for _ in range(1)
    ])()


def decorated():
    def twice(f):
        @functools.wraps(f)
        def wrapper(*args, **kw):
            same()
            return f(*args, **kw) or f(*args, **kw)
        same()
        return wrapper

    @twice
    @functools.lru_cache(maxsize=None)
    def f(x, *, y):
        same()
        return x + y

    f(1, y=2)
    functools.partial(f, 2, y=3)()
    functools.reduce(lambda a, b: same() and a or b, range(3))
    sorted([3, 1, 2], key=lambda x: same() and x)


def classes():
    class Meta(type):
        def __new__(mcs, *args):
            same()
            return super().__new__(mcs, *args)

        def __call__(cls, *args):
            same()
            return super().__call__(*args)

    class Body(metaclass=Meta):
        same()
        field = [same() for _ in range(1)]

        def __init__(self, depth=1):
            same()
            if depth:
                Plain(depth - 1)

        def __getattr__(self, name):
            same()
            return name

        @property
        def value(self):
            return same()

        def __add__(self, other):
            return same()

        def __enter__(self):
            same()

        def __exit__(self, *args):
            same()

        def __del__(self):
            same()

    class Plain:
        def __init__(self, depth):
            same()
            if depth:
                Plain(depth - 1)

    for _ in range(20):  # specialised after some calls
        Plain(2)
    body = Body()
    body.anything
    body.value
    body + 1
    with body:
        same()
    operator.attrgetter("value")(body)
    del body
    cycle = Body()
    cycle.self = cycle
    del cycle
    gc.collect()


def errors():
    try:
        try:
            raise ValueError
        except ValueError:
            same()
            raise KeyError from None
        finally:
            same()
    except KeyError as e:
        same()
        del e
    with contextlib.suppress(ZeroDivisionError):
        same()
        1 / 0
    same()


def made_up():
    """Code with odd names, far lines, and lines that run backwards."""
    names = ["<string>", "/tmp/dëjà.py", "/tmp/文件.py", "/tmp/🐍.py", "/tmp/\udcff\udc80.py", "",
             "x" * 5000]
    for name in names:
        exec(compile("same()\n\n\nsame()", name, "exec"), globals())
    exec(compile("def 函数(): same()\n函数()", "<odd>", "exec"), globals())
    eval(compile("[same(),\n\n\nsame()]", "<eval>", "eval"), globals())
    for gap in (1, 100, 127, 128, 129, 255, 256, 300, 70000):
        source = "same()" + "\n" * gap + "[same(), same(\n" + "\n" * gap + ")]"
        exec(compile(source, f"<gap {gap}>", "exec"), globals())
    long = "if 1:\n" + " same()\n x = 0\n" * 2 + " x = (" + "x +\n" * 400 + "0)\n same()\n"
    exec(compile(long, "<long>", "exec"), globals())


def reused():
    """Code objects that take each other's place in memory."""
    for i in range(300):
        exec(compile(f"def f{i % 7}():\n" + "\n" * (i % 5) + f" same()\nf{i % 7}()",
                     f"<cell {i:04}>", "exec"), {"same": same})
    for i in range(300):
        exec(compile("\n" * (i % 3) + "same()" + "\n" * (i % 2) + "\nsame()", f"<{i % 9}>",
                     "exec"), {"same": same})


def callbacks():
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)

    def again(depth):
        same()
        return kind(again)(depth - 1) if depth else 0

    kind(again)(3)
    re.sub("a", lambda m: same() and "b", "aaa")
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int),
                               ctypes.POINTER(ctypes.c_int))
    numbers = (ctypes.c_int * 3)(3, 1, 2)
    ctypes.CDLL(None).qsort(numbers, 3, 4, compare(lambda a, b: same() and a[0] - b[0]))


def traced():
    def trace(frame, event, arg):
        return trace

    sys.settrace(trace)
    try:
        same()
        recursion(2)
        lines()
    finally:
        sys.settrace(None)
    sys.setprofile(lambda *args: None)
    try:
        same()
        comprehensions()
    finally:
        sys.setprofile(None)


def evaluated_by_others():
    """As torch.compile has it: from 3.11 on each frame then has a loop of its own."""
    LOCKED.evaluator(1)
    try:
        loops = recursive(5)[:6]
        if loops != sorted(set(loops)):
            failures.append(f"frames that others evaluate share loops: {loops}")
        generators()
        classes()
        decorated()
    finally:
        LOCKED.evaluator(0)
    recursion(5)


def recursive(depth):
    return recursive(depth - 1) if depth else same()


def threads():
    def work():
        for i in range(50):
            recursion(i % 10)
            generators()
            comprehensions()

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    pool = [threading.Thread(target=work) for _ in range(8)]
    for t in pool:
        t.start()
    while any(t.is_alive() for t in pool):
        sys._current_frames()  # makes frame objects of other threads' frames
        gc.collect()
    for t in pool:
        t.join()
    sys.setswitchinterval(switch)


def evaluations():
    """Which frames share a loop, where that is plain."""
    def direct():
        return same()

    def called_by_c():
        return list(map(lambda _: same(), [0]))[0]

    loops = direct()[2:5]  # direct, this, main's
    if SHARED and len(set(loops[:2])) != 1:
        failures.append(f"frames that Python called are in several loops: {loops}")
    loops = called_by_c()[2:5]  # the lambda, called_by_c, this
    if loops[0] == loops[1]:
        failures.append(f"a frame that C called is in its caller's loop: {loops}")


def limited():
    frames = (Frame * 8)()
    loops = ctypes.c_int()
    if LIB.capture(frames, 5, ctypes.byref(loops)) > 5 or frames[5].function:
        failures.append("more frames than there was room for")


def found():
    """Waits until the library has found the interpreter, whose threads do not rest meanwhile."""
    frames = (Frame * 8)()
    loops = ctypes.c_int()
    busy = [threading.Thread(target=functools.partial(churn, 0.3)) for _ in range(3)]
    for t in busy:
        t.start()
    LIB.look_beside()
    deadline = time.monotonic() + 5
    while not LIB.capture(frames, 8, ctypes.byref(loops)) and time.monotonic() < deadline:
        churn(0.01)
        if FREE_THREADING:
            break
    for t in busy:
        t.join()


def churn(seconds):
    """Runs with deep and shallow stacks, and never gives the GIL away of its own."""
    def deep(depth):
        return deep(depth - 1) if depth else sum(i for i in range(30))

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        deep(20)


def messages():
    text = ctypes.create_string_buffer(400)
    said = []
    while LIB.notice(text, len(text)):
        said.append(text.value.decode())
    return said


def left_running():
    """A thread that goes on while the interpreter ends."""
    def work():
        frames = (Frame * 64)()
        loops = ctypes.c_int()
        while True:
            LIB.capture(frames, 64, ctypes.byref(loops))

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.02)


CASES = [plain, lines, generators, lambda: asyncio.run(asynchronous()), comprehensions, decorated,
         classes, errors, made_up, reused, callbacks, traced, evaluated_by_others, threads, evaluations, limited]


def main():
    found()
    said = messages()
    if FREE_THREADING:
        if len(said) != 1 or "free-threading" not in said[0]:
            failures.append(f"a free-threading build is not told: {said}")
    else:
        failures.extend(said)
        for case in CASES + CASES[:4]:
            case()
        for depth in (1, 10, 100, 500):
            recursion(depth)
            through_c(min(depth, 60))
    name = f"CPython {sys.version.split()[0]}"
    if failures:
        print(f"{name}: {len(failures)} failures, the first are:", *failures[:10], sep="\n  ")
        return 1
    print(f"{name}: {counts['stacks']} stacks, {counts['frames']} frames equal")
    if not FREE_THREADING:
        left_running()
    return 0


atexit.register(lambda: failures or FREE_THREADING or same())
sys.exit(main())
