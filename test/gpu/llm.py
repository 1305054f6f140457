#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A realistic load: one-token passes of a Qwen3 model with random weights, eager or as CUDA graph.

    llm.py --mode eager --passes 20                 run, print the rate as a JSON line
    llm.py --mode graph --passes 20 --profile T     the same under torch.profiler, Chrome trace in T
    llm.py --mode eager --seconds 10                pass after pass for that long
    llm.py --ranges                                 NVTX ranges around the layers
    llm.py --serve                                  measure once for each line of standard input,
                                                    "LABEL eager|graph [profile]"
    llm.py --serve --hold                           the same, with no call of CUDA before a first line

Every pass is the same GPU work, and the kernel `spin_kernel` (torch.cuda._sleep) runs before each
pass and after the last. So any two recordings, by whichever tool, whole or in part, can be cut into
passes and compared pass by pass: compare_counts.py does it.
"""
import argparse
import ctypes
import json
import os
import statistics
import sys
import time

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM


def cudart():
    """The libcudart that torch has mapped; torch itself offers no memset call."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        for line in maps:
            if "/libcudart.so" in line:
                return ctypes.CDLL(line.split()[-1])
    return None


class Load:
    def __init__(self, layers):
        config = Qwen3Config(
            vocab_size=32000, hidden_size=1024, intermediate_size=3072, num_hidden_layers=layers,
            num_attention_heads=16, num_key_value_heads=8, head_dim=128,
            max_position_embeddings=4096)
        torch.manual_seed(1)
        with torch.device("cuda"):
            self.model = Qwen3ForCausalLM(config).to(torch.bfloat16).eval()
        self.ids = torch.zeros((1, 1), dtype=torch.long, device="cuda")
        self.positions = torch.zeros((1, 1), dtype=torch.long, device="cuda")
        # A mask of four dimensions is taken as it is: no look at its values, so no wait.
        self.mask = torch.zeros((1, 1, 1, 1), dtype=torch.bfloat16, device="cuda")
        self.host_ids = torch.zeros((1, 1), dtype=torch.long).pin_memory()
        self.host_next = torch.zeros((1, 1), dtype=torch.long).pin_memory()
        self.scratch = torch.zeros(65536, dtype=torch.uint8, device="cuda")
        self.cudart = cudart()
        self.graph = None

    def name_layers(self):
        """Puts an NVTX range around each layer, and one around all of it."""
        layers = self.model.model.layers
        named = [(self.model.model, "model")] + [(l, f"layer {n}") for n, l in enumerate(layers)]

        def pop(*_):
            torch.cuda.nvtx.range_pop()

        for module, name in named:
            def push(*_, name=name):
                torch.cuda.nvtx.range_push(name)

            module.register_forward_pre_hook(push)
            module.register_forward_hook(pop)

    def forward(self):
        logits = self.model(input_ids=self.ids, position_ids=self.positions,
                            attention_mask=self.mask, use_cache=False).logits
        return logits.argmax(-1)

    def capture(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.forward()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.next = self.forward()

    def step(self, mode):
        self.ids.copy_(self.host_ids, non_blocking=True)
        if self.cudart:
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.cudart.cudaMemsetAsync(ctypes.c_void_p(self.scratch.data_ptr()), 0,
                                        ctypes.c_size_t(65536), stream)
        if mode == "graph":
            self.graph.replay()
            result = self.next
        else:
            result = self.forward()
        self.host_next.copy_(result, non_blocking=True)

    def warm_up(self, mode):
        if mode == "graph" and not self.graph:
            self.capture()
        for _ in range(3):
            torch.cuda._sleep(1)
            self.step(mode)
        torch.cuda.synchronize()


def passes(load, mode, count, seconds):
    """Runs marked passes, and says how long each 16 took; returns how many."""
    begun = time.monotonic()
    end = begun + seconds
    done = 0
    while done < count or time.monotonic() < end:
        torch.cuda._sleep(1)
        load.step(mode)
        done += 1
        if done % 16 == 0:
            torch.cuda.synchronize()
            last, begun = begun, time.monotonic()
            print(f"round {(begun - last) * 1e6:.0f}", flush=True)
    torch.cuda._sleep(1)
    torch.cuda.synchronize()
    return done


def rate(load, mode, seconds):
    """Passes a second, and the thread's nanoseconds of CPU a pass, of each short chunk of them."""
    chunk = 24 if mode == "graph" else 4
    rates, cpu_ns = [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        start, cpu_start = time.monotonic(), time.thread_time_ns()
        for _ in range(chunk):
            load.step(mode)
        cpu_ns.append((time.thread_time_ns() - cpu_start) / chunk)
        torch.cuda.synchronize()
        rates.append(chunk / (time.monotonic() - start))
    return rates, cpu_ns


def summary(values):
    quartiles = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return {"median": statistics.median(values), "q1": quartiles[0], "q3": quartiles[2],
            "min": min(values), "max": max(values), "n": len(values)}


def profiler():
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])


def serve(load, seconds):
    for mode in ("eager", "graph"):
        load.warm_up(mode)
    print(json.dumps({"ready": True, "pid": os.getpid()}), flush=True)
    for line in sys.stdin:
        label, mode, *how = line.split()
        if "profile" in how:
            with profiler():
                load.warm_up(mode)
                rates, cpu_ns = rate(load, mode, seconds)
        else:
            load.warm_up(mode)
            rates, cpu_ns = rate(load, mode, seconds)
        print(json.dumps({"program": "llm", "label": label, f"{mode}_per_s": summary(rates),
                          f"{mode}_cpu_ns": summary(cpu_ns)}), flush=True)


def once(load, args):
    load.warm_up(args.mode)
    print(json.dumps({"ready": True, "pid": os.getpid()}), flush=True)
    start = time.monotonic()
    if args.profile:
        with profiler() as prof:
            done = passes(load, args.mode, args.passes, args.seconds)
        seconds = time.monotonic() - start
        prof.export_chrome_trace(args.profile)
    else:
        done = passes(load, args.mode, args.passes, args.seconds)
        seconds = time.monotonic() - start
    print(json.dumps({"program": "llm", "mode": args.mode, "passes": done,
                      "per_s": round(done / seconds, 1)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=("eager", "graph"), default="eager")
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--profile", metavar="TRACE")
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--ranges", action="store_true")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--hold", action="store_true")
    args = parser.parse_args()
    if args.hold:
        print(json.dumps({"held": True}), flush=True)
        sys.stdin.readline()
    with torch.no_grad():
        load = Load(args.layers)
        if args.ranges:
            load.name_layers()
        if args.serve:
            serve(load, args.seconds or 1.0)
        else:
            once(load, args)


if __name__ == "__main__":
    main()
