#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_pprof.py PROFILE FOLDED: reads a profile by the public numbers of its fields, and compares its stacks with
those of a folded file."""

import gzip
import re
import sys


def fields(data):
    """(number, value) of each field of a message: integers, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 == 2, f"wire type {tag & 7}"
            size = varint()
            yield tag >> 3, data[at:at + size]
            at += size


def integers(value):
    """A repeated number: packed, or one."""
    if isinstance(value, int):
        return [value]
    return [v for _, v in fields(b"".join(b"\x08" + bytes(c) for c in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", value)))]


def message(data, repeated=()):
    result = {n: [] for n in repeated}
    for number, value in fields(data):
        if number in repeated:
            result[number].append(value)
        else:
            result[number] = value
    return result


def read(path):
    with open(path, "rb") as file:
        raw = file.read()
    assert raw[:2] == b"\x1f\x8b", "not gzip"
    profile = message(gzip.decompress(raw), (1, 2, 3, 4, 5, 6))
    strings = [s.decode() for s in profile[6]]
    assert strings[0] == ""
    types = [(strings[t[1]], strings[t[2]]) for t in map(message, profile[1])]
    assert types == [("gpu_time", "nanoseconds"), ("launches", "count")], types
    assert strings[profile[14]] == "gpu_time"
    return profile, strings


def short(path):
    return "/".join(path.split("/")[-2:])


def texts(location, functions, mappings, strings):
    """What a location is called in a folded file, the caller first."""
    lines = []
    for line in map(message, location[4]):
        function = functions[line[1]]
        name, file = strings[function.get(2, 0)], strings[function.get(4, 0)]
        assert function.get(2, 0) != function.get(3, 0), f"pprof would cut brackets off '{name}'"
        lines.append(f"{name} ({short(file)}:{line[2]})" if file.endswith(".py") else name)
    if lines:
        return lines[::-1]
    if 2 not in location:
        return ["[unknown]"]
    m = mappings[location[2]]
    return [f"{strings[m[5]].split('/')[-1]}+0x{location[3] - m[2] + m.get(4, 0):x}"]


def stacks(profile, strings):
    functions = {f[1]: f for f in map(message, profile[5])}
    mappings = {m[1]: m for m in map(message, profile[3])}
    locations = {l[1]: l for l in (message(d, (4,)) for d in profile[4])}
    result, launches = {}, 0
    for sample in (message(d, (3,)) for d in profile[2]):
        labels = {strings[l[1]]: strings[l[2]] for l in map(message, sample[3])}
        assert {"kernel", "device", "stream", "process"} <= set(labels), labels
        path = [t for i in integers(sample[1])[::-1] for t in texts(locations[i], functions, mappings, strings)]
        assert labels["kernel"] in path
        time, count = integers(sample[2])
        result[";".join(path)] = result.get(";".join(path), 0) + time
        launches += count
    return result, launches, {strings[m[5]]: strings[m.get(6, 0)] for m in mappings.values()}


def folded(path):
    result = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, ns = line.rsplit(" ", 1)
            stack = re.sub(r"_\[[gij]\](?=;|$)", "", stack)
            stack = re.sub(r"\\x(..)", lambda m: chr(int(m[1], 16)), stack)
            result[stack] = result.get(stack, 0) + int(ns)
    return result


def main():
    profile, strings = read(sys.argv[1])
    got, launches, builds = stacks(profile, strings)
    wanted = folded(sys.argv[2])
    different = {k for k in got.keys() | wanted.keys() if got.get(k) != wanted.get(k)}
    assert not different, [(k[:200], got.get(k), wanted.get(k)) for k in sorted(different)]
    print(f"program {strings[message(profile[3][0])[5]]}")
    print(f"{sys.argv[1]}: {len(got)} stacks, {sum(got.values())} ns, {launches} launches, build ids {builds}")


main()
