#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every cell of the overhead table in turns; see bench-gpu.sh.

Cells: bare; loaded (the library, nobody attached); kernel, graph, default (recorded from the
start), stacks (kernels, their launches and the stacks of these), pc (PC samples), parca (a reader
of cuda_correlation and activity_batch); late-* (attached while it runs); after (the last consumer
left, and CUPTI is given back); floor-* (CUPTI alone, buffers thrown away, callbacks empty); profiler
(torch.profiler, the PyTorch load only). Each cell of a CUDA program is a process of its own in each
round; of PyTorch, bare and loaded are several processes that take turns. A round visits every cell
once; a ratio is taken within a round, and the table shows the median and the range of the rounds.

--pairs N adds eager PyTorch with kernels recorded all the time (stacks-off), and their launches and
stacks with them (stacks-on), in quick turns: the speed of a shared host changes within seconds.

--fresh ROUNDS adds PyTorch cells that are processes of their own in each round too (fresh_*): what
is on since the start changes the graphs that are instantiated under it.
"""
import argparse
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LOWER_IS_BETTER = ("_ns",)
KERNEL = ["--kinds", "kernel"]  # each node of a graph too
GRAPH = ["--kinds", "kernel,graph"]
SAMPLED = ["--kinds", "pc_sample"]
STACKS = ["--kinds", "kernel,launch,stack"]
RECORDED = {"kernel": KERNEL, "graph": GRAPH, "default": [], "pc": SAMPLED, "stacks": STACKS}
FLOORS = {"floor-kernel": "kernel", "floor-graph": "kernel,graph",
          "floor-default": "kernel,graph,memcpy,memset,sync,api,overhead", "floor-pc": "pc_sample",
          "floor-parca": "kernel,launch"}
LATE = {"late-kernel": KERNEL, "late-pc": SAMPLED}
FRESH = ("bare", "floor-pc", "pc")
PARCA = ["cuda_correlation", "activity_batch"]
TWINS = 3  # processes of PyTorch for bare and for loaded: one differs from another by some percent
SETTLE_S = 1.2  # from starting `record -p` until collection is surely on
PAIR_SETTLE_S = 0.6  # the same beside another recorder
RELEASE_S = 2.5  # of calls after the last consumer left, in which CUPTI is given back
# (cell, against, metric, ratio of speed at least)
GOALS = (
    ("loaded", "bare", "node_ns", 0.995),
    ("loaded", "bare", "launch_ns", 0.98),
    ("after", "bare", "node_ns", 0.995),
    ("after", "bare", "launch_ns", 0.98),
    ("kernel", "floor-kernel", "launch_ns", 1 / 1.10),
    ("graph", "bare", "node_ns", 0.99),
    ("pc", "floor-pc", "launch_ns", 0.95),
    ("pc", "bare", "node_ns", 0.99),
    ("loaded", "bare", "graph_per_s", 0.995),
    ("after", "bare", "graph_per_s", 0.995),
    ("graph", "bare", "graph_per_s", 0.99),
    ("late-pc", "bare", "graph_per_s", 0.99),
    ("pc", "bare", "fresh_graph_per_s", 0.99),
    ("parca", "floor-parca", "launch_ns", 0.97),
    ("stacks-on", "stacks-off", "eager_per_s", 0.93),
)


class Failed(Exception):
    pass


class Server:
    """A load that measures once for each line it is given, and waits in between."""

    def __init__(self, command, env, start_s):
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pending = b""
        self.start_s = start_s

    def line(self, timeout_s):
        end = time.monotonic() + timeout_s
        while b"\n" not in self.pending:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Failed(f"no answer in {timeout_s} s from {self.process.args}")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                raise Failed(f"{self.process.args} ended with {self.process.wait()}")
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        return line.decode()

    def said(self, what):
        while f'"{what}"' not in self.line(self.start_s):
            pass
        return self

    def ready(self):
        return self.said("ready")

    def ask(self, what, timeout_s=30):
        self.process.stdin.write((what + "\n").encode())
        self.process.stdin.flush()
        while True:
            line = self.line(timeout_s)
            if line.startswith("{"):
                return json.loads(line)

    def begin(self):
        """Lets a program go on that holds."""
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return self.ready()

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed(f"{self.process.args} did not end") from None


class Bench:
    def __init__(self, args):
        self.args = args
        self.cuprobe = os.path.join(args.dist, "bin", "cuprobe")
        self.library = os.path.join(args.dist, "lib", "libcuprobe.so")
        self.floor = os.path.join(args.dist, "bench", "libcupti_floor.so")
        self.scratch = tempfile.mkdtemp(prefix="cuprobe-bench-")
        self.raw = open(args.raw, "w", encoding="utf-8")
        self.results = {}  # (metric, cell) -> {round: median}
        self.faults = []

    def cells(self):
        """Those of the CUDA programs that have a process of their own."""
        cells = ["bare", *RECORDED, *FLOORS, "parca"]
        return [c for c in cells if c not in self.args.skip]

    def env(self, cell):
        env = dict(os.environ)
        if cell in FLOORS:
            env.update(CUDA_INJECTION64_PATH=self.floor, FLOOR_KINDS=FLOORS[cell])
        elif cell != "bare":
            env.update(CUDA_INJECTION64_PATH=self.library)
        return env

    def keep(self, cell, number, result):
        self.raw.write(json.dumps({"cell": cell, "round": number, **result}) + "\n")
        self.raw.flush()
        for metric, stat in result.items():
            if isinstance(stat, dict):
                self.results.setdefault((metric, cell), {})[number] = stat["median"]

    def fault(self, cell, what):
        self.faults.append(f"{cell}: {what}")
        print(f"bench_gpu: {cell}: {what}", file=sys.stderr, flush=True)

    def record(self, options, rest, name="bench"):
        out = os.path.join(self.scratch, f"{name}.cup")
        if os.path.exists(out):
            os.unlink(out)
        return [self.cuprobe, "record", "--quiet", *options, "-o", out, *rest]

    def attach(self, pid, options, name="bench", settle_s=SETTLE_S):
        recorder = subprocess.Popen(self.record(options, ["-p", str(pid)], name),
                                    stdout=subprocess.DEVNULL)
        time.sleep(settle_s)
        if recorder.poll() is not None:
            raise Failed(f"record -p ended with {recorder.returncode}")
        return recorder

    @staticmethod
    def detach(recorder):
        recorder.send_signal(signal.SIGINT)
        try:
            recorder.wait(timeout=15)
        except subprocess.TimeoutExpired:
            recorder.kill()
            raise Failed("record -p did not end in 15 s") from None
        if recorder.returncode != 0:
            raise Failed(f"record -p: exit status {recorder.returncode}")

    @staticmethod
    def release(server, what):
        end = time.monotonic() + RELEASE_S
        while time.monotonic() < end:
            server.ask(what)

    def run_once(self, command, env):
        """A program that measures once and prints one JSON line among others."""
        run = subprocess.run(command, env=env, stdout=subprocess.PIPE, timeout=40, check=False)
        lines = [l for l in run.stdout.decode().splitlines() if l.startswith('{"program"')]
        if run.returncode or not lines:
            raise Failed(f"{command}: exit status {run.returncode}")
        return json.loads(lines[-1])

    # The CUDA programs start in no time: a process of their own for each cell.

    def cuda_cell(self, program, cell):
        path = os.path.join(self.args.dist, "bench", program)
        if cell in RECORDED:
            return self.run_once(self.record(RECORDED[cell], ["--", path]), os.environ)
        if cell == "parca":
            return self.read_as_parca([path])
        return self.run_once([path], self.env(cell))

    def read_as_parca(self, command):
        reader = subprocess.Popen([os.path.join(self.args.dist, "bench", "parca_consumer"),
                                   self.library, *PARCA], stdout=subprocess.PIPE)
        waster = None
        try:
            if b"attached" not in reader.stdout.readline():
                raise Failed("parca_consumer does not attach")
            waster = subprocess.Popen(["cat"], stdin=reader.stdout, stdout=subprocess.DEVNULL)
            return self.run_once(command, self.env("loaded"))
        finally:
            reader.terminate()
            reader.wait(timeout=20)
            if waster:
                waster.wait(timeout=20)

    def cuda_lifetime(self, program, number):
        """loaded, late and after, in one process."""
        path = os.path.join(self.args.dist, "bench", program)
        server = Server([path, "--serve"], self.env("loaded"), 20).ready()
        try:
            self.keep("loaded", number, server.ask("loaded"))
            with open(f"/proc/{server.process.pid}/maps", encoding="utf-8") as maps:
                if "libcupti" in maps.read():
                    self.fault("loaded", "libcupti is mapped with nobody attached")
            for cell, options in LATE.items():
                recorder = self.attach(server.process.pid, options)
                try:
                    self.keep(cell, number, server.ask("late"))
                finally:
                    self.detach(recorder)
                self.release(server, "release")
            self.keep("after", number, server.ask("after"))
        finally:
            server.close()

    def cuda_round(self, program, number):
        cells = self.cells()
        first = number % len(cells)  # so that none always follows the same one
        for cell in cells[first:] + cells[:first]:
            try:
                self.keep(cell, number, self.cuda_cell(program, cell))
            except (Failed, subprocess.TimeoutExpired) as e:
                self.fault(cell, e)
        if "loaded" in self.args.skip:
            return
        try:
            self.cuda_lifetime(program, number)
        except Failed as e:
            self.fault("loaded", e)

    # PyTorch takes long to start: one process for each way of life, which take turns.

    def llm_command(self):
        llm = os.path.join(os.path.dirname(__file__), "..", "test", "gpu", "llm.py")
        return [sys.executable, llm, "--serve", "--seconds", str(self.args.llm_seconds)]

    def llm_start(self):
        command = self.llm_command()
        ways = [(f"{cell}{n}", cell) for cell in ("bare", "loaded") for n in range(TWINS)]
        ways += [("attached", "loaded"), ("late-pc", "loaded"), ("floor-kernel", "floor-kernel"),
                 ("profiler", "bare")]
        servers = {name: Server(command, self.env(cell), 120) for name, cell in ways
                   if name.rstrip("012") not in self.args.skip}
        if "graph" not in self.args.skip:
            servers["graph"] = Server(self.record(GRAPH, ["--", *command], "llm"), os.environ, 120)
        for server in servers.values():
            server.ready()
        return servers

    def llm_late(self, server, number, mode, cell, options, **how):
        if cell in self.args.skip:
            return
        recorder = self.attach(server.process.pid, options, **how)
        try:
            self.keep(cell, number, server.ask(f"{cell} {mode}"))
        finally:
            self.detach(recorder)

    def llm_attached(self, server, number, mode):
        cells = [("late-kernel", KERNEL), ("default", [])]
        first = number % len(cells)
        for cell, options in cells[first:] + cells[:first]:
            self.llm_late(server, number, mode, cell, options)
        if "after" not in self.args.skip:
            self.release(server, f"release {mode}")
            self.keep("after", number, server.ask(f"after {mode}"))

    def llm_round(self, servers, number):
        for mode in self.args.modes:
            for cell in ("bare", "loaded", "graph", "floor-kernel"):
                twin = f"{cell}{number % TWINS}"
                server = servers.get(twin, servers.get(cell))
                if server:
                    self.keep(cell, number, server.ask(f"{cell} {mode}"))
            if "profiler" in servers:
                self.keep("profiler", number,
                          servers["profiler"].ask(f"profiler {mode} profile", 90))
            # In a process of its own: to switch kernels off for it would stay with the others.
            if "late-pc" in servers:
                self.llm_late(servers["late-pc"], number, mode, "late-pc", SAMPLED)
            if "attached" in servers:
                self.llm_attached(servers["attached"], number, mode)

    def llm(self, servers, end):
        try:
            self.rounds(end, lambda number: self.llm_round(servers, number))
        except (Failed, subprocess.TimeoutExpired) as e:
            self.fault("llm", e)
        finally:
            for server in servers.values():
                server.process.kill()

    def pair(self, server, number):
        """Once without stacks and once with them, the one that is first in turns."""
        for cell in ("stacks-off", "stacks-on")[::-1 if number % 2 else 1]:
            if cell == "stacks-off":
                self.keep(cell, number, server.ask(f"{cell} eager"))
            else:
                self.llm_late(server, number, "eager", cell, STACKS, name="second",
                              settle_s=PAIR_SETTLE_S)

    def pairs(self):
        server = Server(self.llm_command(), self.env("loaded"), 120).ready()
        recorder = self.attach(server.process.pid, KERNEL)
        try:
            for number in range(self.args.pairs):
                self.pair(server, number)
        except (Failed, subprocess.TimeoutExpired) as e:
            self.fault("pairs", e)
        finally:
            self.detach(recorder)
            server.close()

    def fresh_start(self, cell, number):
        command = [*self.llm_command(), "--hold"]
        if cell in RECORDED:
            command = self.record(RECORDED[cell], ["--", *command], f"fresh{number}")
            return Server(command, os.environ, 120)
        return Server(command, self.env(cell), 120)

    def fresh_round(self, servers, number):
        for cell in FRESH:
            server = servers.pop(0).begin()
            for mode in self.args.modes:
                result = server.ask(f"{cell} {mode}")
                self.keep(cell, number, {f"fresh_{name}": value for name, value in result.items()})
            server.close()

    def fresh(self):
        """All are started at once, as that takes longest, and run one after the other."""
        servers = [self.fresh_start(cell, n) for n in range(self.args.fresh) for cell in FRESH]
        try:
            for server in servers:
                server.said("held")
            for number in range(self.args.fresh):
                self.fresh_round(servers, number)
        except (Failed, subprocess.TimeoutExpired) as e:
            self.fault("fresh", e)
        finally:
            for server in servers:
                server.process.kill()

    def rounds(self, end, one):
        longest = 0
        for number in range(self.args.rounds):
            start = time.monotonic()
            if number and start + longest > end:
                print(f"bench_gpu: time is up after {number} rounds", file=sys.stderr)
                break
            one(number)
            longest = max(longest, time.monotonic() - start)

    def run(self):
        start = time.monotonic()
        share = 0.3 if self.args.llm else 1 / max(len(self.args.programs), 1)
        servers = self.llm_start() if self.args.llm else None
        for n, program in enumerate(self.args.programs, 1):
            self.rounds(start + n * share * self.args.budget,
                        lambda number, p=program: self.cuda_round(p, number))
        if servers:
            self.llm(servers, start + self.args.budget - 5)
        if self.args.pairs:
            self.pairs()
        if self.args.fresh:
            self.fresh()


def speeds(results, metric, cell, against):
    """Speed of `cell` relative to `against`, round by round."""
    ours, theirs = results.get((metric, cell), {}), results.get((metric, against), {})
    lower = metric.endswith(LOWER_IS_BETTER)
    return [theirs[n] / ours[n] if lower else ours[n] / theirs[n] for n in ours if n in theirs]


def table(results):
    lines = [f"{'metric':<16}{'cell':<14}{'median':>10}{'range of rounds':>24}"
             f"{'speed/bare':>12}{'range':>18}{'n':>4}"]
    metrics = list(dict.fromkeys(metric for metric, _ in results))
    for metric in metrics:
        for cell in [c for m, c in results if m == metric]:
            values = list(results[metric, cell].values())
            ratios = speeds(results, metric, cell, "bare") or [float("nan")]
            lines.append(
                f"{metric:<16}{cell:<14}{statistics.median(values):>10.1f}"
                f"{min(values):>12.1f} ..{max(values):>9.1f}"
                f"{statistics.median(ratios):>12.4f}{min(ratios):>9.4f} ..{max(ratios):.4f}"
                f"{len(values):>4}")
    return "\n".join(lines)


def goals(results, skip):
    """PASS or FAIL for each claim that was not left out; one without figures fails."""
    failed = 0
    for cell, against, metric, least in GOALS:
        ratios = speeds(results, metric, cell, against)
        if {cell, against} & set(skip) or metric not in {measured for measured, _ in results}:
            continue
        median = statistics.median(ratios) if ratios else 0.0
        failed += median < least
        print(f"{'PASS' if median >= least else 'FAIL'} {metric} of {cell}: {median:.4f} of "
              f"{against}, at least {least:.4f}, {len(ratios)} rounds")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=340, help="seconds for everything")
    parser.add_argument("--quick", action="store_true", help="2 rounds in about 2 minutes")
    parser.add_argument("--skip", type=lambda text: text.split(","), default=[],
                        metavar="CELL[,CELL]", help="leave these cells out")
    parser.add_argument("--programs", type=lambda text: [p for p in text.split(",") if p],
                        default=["graph", "launch"], metavar="PROGRAM[,PROGRAM]",
                        help="CUDA programs to run; '' for none")
    parser.add_argument("--modes", type=lambda text: text.split(","), default=["eager", "graph"],
                        metavar="MODE[,MODE]", help="of PyTorch")
    parser.add_argument("--no-llm", dest="llm", action="store_false")
    parser.add_argument("--pairs", type=int, default=0, metavar="N",
                        help="of eager PyTorch without and with stacks (default none)")
    parser.add_argument("--fresh", type=int, default=0, metavar="ROUNDS",
                        help="of PyTorch processes for each cell (default none)")
    parser.add_argument("--llm-seconds", type=float, default=1.0)
    parser.add_argument("--raw", default="bench-gpu.jsonl")
    args = parser.parse_args()
    args.dist = os.path.abspath(args.dist)
    if args.quick:
        args.rounds, args.budget = min(args.rounds, 2), min(args.budget, 120)
        args.skip += ["default", "floor-default", "stacks", "pc", "floor-pc", "parca", "floor-parca"]
    bench = Bench(args)
    bench.run()
    print(table(bench.results))
    failed = goals(bench.results, args.skip) + len(bench.faults)
    for fault in bench.faults:
        print(f"FAIL {fault}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
