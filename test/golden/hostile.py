#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py CUPROBE CAPTURE COUNT [SEED]: captures with something wrong inside, in every form that can be asked
for: each output is sound, or there is a message, a status and no file.

The layout of the file is that of src/collector/capture.h; what is changed lies below its checksums.
"""

import csv
import ctypes
import ctypes.util
import json
import os
import random
import struct
import subprocess
import sys
import xml.parsers.expat
import zlib

BATCHES, CUBIN = 3, 6
HEAD_BYTES = 64
BATCH_HEAD = 48
LONGEST_S = 60
OUTPUT = "output.svg"  # only `flame` looks at the end of the name
VALUES = [0, 1, 2, 8, 64, 127, 255, 4096, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1]
TEXTS = [b"", b'"', b'a,"b"\r\n', b"\\", b"\xff\xfe\x80", b"\xed\xa0\x80", "\uffff".encode(), b"]]></script>", b"a;b\\c",
         b"\x1b[31m", b"%s%n", b"nan", b"_Z1f" + b"P" * 200 + b"i", b"_ZN" + b"3fooIN" * 30, b"[" * 200, b"-1", b"1e999"]

zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
for function in (zstd.ZSTD_compressBound, zstd.ZSTD_compress, zstd.ZSTD_decompress):
    function.restype = ctypes.c_size_t


def unpacked(data, size):
    room = ctypes.create_string_buffer(max(size, 1))
    assert zstd.ZSTD_decompress(room, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data))) == size
    return room[:size]


def packed(data):
    room = ctypes.create_string_buffer(zstd.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    return room[:zstd.ZSTD_compress(room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)), 1)]


def chunks(capture):
    """The magic number, kind and contents of each."""
    at = HEAD_BYTES
    while at < len(capture):
        magic, kind, stored, size = struct.unpack_from("<IIQQ", capture, at)
        at += 32
        yield magic, kind, unpacked(capture[at:at + stored], size)
        at += stored + -stored % 8


def chunk(magic, kind, contents):
    data = packed(contents)
    head = struct.pack("<IIQQII", magic, kind, len(data), len(contents), zlib.crc32(data), 0)
    return head + data + bytes(-len(data) % 8)


def changed(rnd, data, first=0):
    """A few of its words, bytes, texts, or lengths are others."""
    data = bytearray(data)
    for _ in range(rnd.choice([1, 1, 2, 4, 16])):
        if len(data) <= first:
            break
        at, how = rnd.randrange(first, len(data)), rnd.random()
        if how < .5:
            size = rnd.choice([1, 2, 4, 8])
            at -= at % size
            value = rnd.choice(VALUES) & (1 << 8 * size) - 1
            data[at:at + size] = value.to_bytes(size, "little")[:len(data) - at]
        elif how < .75:
            text = rnd.choice(TEXTS)
            data[at:at + len(text)] = text[:len(data) - at]
        elif how < .85:
            data[at:at] = rnd.choice(TEXTS)
        elif how < .95:
            del data[at:at + rnd.choice([1, 8, 48, 200])]
        else:
            data[at:at] = data[at:at + rnd.choice([8, 48, 1000])]
    return bytes(data)


def batches_changed(rnd, data):
    """One batch of many: its records, so that the others are still read; seldom its head."""
    starts, at = [], 0
    while at + BATCH_HEAD <= len(data):
        starts.append(at)
        size, = struct.unpack_from("<I", data, at + 32)
        at += BATCH_HEAD + size + -size % 8
    for start in rnd.sample(starts, min(len(starts), rnd.choice([1, 2, 8]))):
        size, = struct.unpack_from("<I", data, start + 32)
        records = slice(start + BATCH_HEAD, start + BATCH_HEAD + size)
        if rnd.random() < .1:
            records = slice(start, start + BATCH_HEAD)
        old = data[records]
        data = data[:records.start] + changed(rnd, old)[:len(old)].ljust(len(old), b"\0") + data[records.stop:]
    return data


def capture_changed(rnd, head, parts):
    parts = list(parts)
    for _ in range(rnd.choice([1, 1, 2])):
        i = rnd.randrange(len(parts))
        magic, kind, contents = parts[i]
        if kind == BATCHES:
            contents = batches_changed(rnd, contents)
        else:
            contents = changed(rnd, contents, 16 if kind == CUBIN else 0)
        parts[i] = magic, kind, contents
    return head + b"".join(chunk(*part) for part in parts)


def json_is_sound(text):
    json.loads(text, parse_constant=lambda word: sys.exit(f"JSON has {word}"))


def csv_is_sound(text):
    widths = {len(row) for row in csv.reader(text.splitlines(keepends=True), strict=True)}
    assert len(widths) == 1, widths


def folded_is_sound(text):
    for line in text.split("\n")[:-1]:
        int(line.rsplit(" ", 1)[1])


def xml_is_sound(text):
    xml.parsers.expat.ParserCreate().Parse(text, True)


def text_is_sound(text):
    assert "\x1b" not in text, "it can control the terminal"


FORMS = [
    ("report", text_is_sound), ("report --json", json_is_sound), ("report --stacks --nvtx", text_is_sound),
    ("report --lines", text_is_sound), ("report --html", None), ("export -f chrome", json_is_sound),
    ("export -f csv", csv_is_sound), ("export -f folded", folded_is_sound), ("export -f pprof", None),
    ("flame", xml_is_sound),
]


def form_is_sound(cuprobe, form, check):
    if os.path.exists(OUTPUT):
        os.unlink(OUTPUT)
    run = subprocess.run([cuprobe, *form.split(), "-o", OUTPUT, "hostile.cup"], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=LONGEST_S, check=False)
    assert run.returncode in (0, 1), f"status {run.returncode}"
    if run.returncode:
        assert run.stdout.startswith(b"cuprobe: "), "no message"
        assert not os.path.exists(OUTPUT), "a file is left"
    elif check:
        with open(OUTPUT, encoding="utf-8", newline="") as file:
            check(file.read())


def main():
    cuprobe, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with open(path, "rb") as file:
        capture = file.read()
    parts = list(chunks(capture))
    for number in range(seed, seed + count):
        with open("hostile.cup", "wb") as file:
            file.write(capture_changed(random.Random(number), capture[:HEAD_BYTES], parts))
        for form, check in FORMS:
            try:
                form_is_sound(cuprobe, form, check)
            except Exception as trouble:
                sys.exit(f"FAILED: seed {number}, {form}: {type(trouble).__name__}: {trouble}")
    print(f"{count} captures, {len(FORMS)} forms each")


main()
