#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulator's own tests: selftest.py FOLDER CASE, the folder being `mock` in the build tree."""
import json
import os
import subprocess
import sys
import tempfile

KERNEL, MEMCPY, MEMCPY2, MEMSET, GRAPH = 10, 1, 22, 2, 51
DRIVER, RUNTIME = 4, 5
VERSIONS = ("13.0", "12.9", "12.4", "11.8")


class Run:
    """One run of the workload with the plain client: its exit status, output, counts and truth."""

    def __init__(self, folder, *args, kinds=(), version="13.0", env=None, static=False):
        with tempfile.TemporaryDirectory() as tmp:
            environ = dict(os.environ, MOCK_TRUTH=f"{tmp}/truth.json", **(env or {}))
            environ.pop("CUDA_INJECTION64_PATH", None)
            # ASan's dlopen does not know the caller's RUNPATH, and there may be a real libcupti
            environ["LD_LIBRARY_PATH"] = folder
            if kinds:
                environ["CUDA_INJECTION64_PATH"] = f"{folder}/libmock_client_{version}.so"
                environ["MOCK_CLIENT_KINDS"] = ",".join(str(kind) for kind in kinds)
                environ["MOCK_CLIENT_OUT"] = f"{tmp}/client"
                environ.setdefault("MOCK_STRICT", "1")
            app = "mock_app_static" if static else "mock_app"
            done = subprocess.run([f"{folder}/{app}", *map(str, args)], env=environ, timeout=50,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.status = done.returncode
            self.output = (done.stdout + done.stderr).decode(errors="replace")
            self.truth = self.read_json(f"{tmp}/truth.json")
            self.counts = self.read_counts(f"{tmp}/client")

    @staticmethod
    def read_json(path):
        if not os.path.exists(path):
            return None
        with open(path, encoding="ascii") as file:
            return json.load(file)

    @staticmethod
    def read_counts(path):
        if not os.path.exists(path):
            return {}
        with open(path, encoding="ascii") as file:
            pairs = (line.split() for line in file)
            return {int(k) if k.isdigit() else k: int(v) for k, v in pairs}

    def calls(self, domain):
        return sum(self.truth["calls"][domain].values())


def equal(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, not {wanted}")


def test_records_equal_what_happened(folder):
    for version in VERSIONS:
        run = Run(folder, "loop", "-n500", "-t2", "-g2", "-s2", "--api=mixed", "--copy-every=5",
                  "--copy-bytes=4096", "--sync-every=50", version=version,
                  kinds=(KERNEL, MEMCPY, MEMCPY2, MEMSET))
        equal("status", (run.status, run.output), (0, run.output))
        equal("kernels launched", run.truth["kernels"]["total"], 1000)
        equal(f"kernel records of {version}", run.counts[KERNEL], 1000)
        copies = run.truth["copies"]
        equal("copies", run.counts[MEMCPY], copies["HtoD"]["count"] + copies["DtoH"]["count"])
        equal("peer copies", run.counts[MEMCPY2], copies["PtoP"]["count"])
        equal("memsets", run.counts[MEMSET], run.truth["memsets"]["count"])
        equal("records before their work was done", run.counts["early"], 0)


def test_each_call_gives_a_record(folder):
    run = Run(folder, "loop", "-n300", "--api=mixed", kinds=(DRIVER, RUNTIME),
              env={"MOCK_CLIENT_CALLBACKS": "1"})
    # cuInit and the runtime call around it began before the client was there
    equal("driver records", run.counts[DRIVER], run.calls("driver") - 1)
    equal("runtime records", run.counts[RUNTIME], run.calls("runtime") - 1)
    equal("callbacks", run.counts["enters"], run.counts["exits"] - 2)


def test_graph_records_replace_kernels(folder):
    args = ("loop", "-n20", "--graph=50")
    run = Run(folder, *args, kinds=(KERNEL,))
    equal("kernels", run.counts[KERNEL], 20 * 50)
    run = Run(folder, *args, kinds=(KERNEL, GRAPH))
    equal("graphs", run.counts[GRAPH], 20)
    equal("kernels", run.counts.get(KERNEL, 0), 0)
    equal("kernels that ran", run.truth["kernels"]["total"], 20 * 50)


def test_nth_call_fails(folder):
    run = Run(folder, "loop", "-n100", env={"MOCK_DO": "fail cudaLaunchKernel 719 nth=5"})
    equal("status", run.status, 1)
    equal("launches", run.truth["kernels"]["total"], 4)
    run = Run(folder, "loop", "-n100", kinds=(KERNEL,),
              env={"MOCK_DO": "fail cuptiActivityEnable CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"})
    equal("status", (run.status, "INSUFFICIENT_PRIVILEGES" in run.output), (1, True))


def test_bad_directives_are_refused(folder):
    for text in ("fial cuInit 3", "fail cuInit", "fail cuInit CUDA_ERROR_NONE", "delay cuInit",
                 "clock at=5"):
        run = Run(folder, "loop", env={"MOCK_DO": text})
        equal(text, (run.status, "MOCK_DO:1" in run.output), (2, True))
    for text in ("set kernel begin=0", "emit nothing", "drop 55000", "complete threads=99"):
        run = Run(folder, "loop", kinds=(KERNEL,), env={"MOCK_DO": text})
        equal(text, (run.status, "MOCK_DO:1" in run.output), (2, True))


def test_records_can_be_changed_lost_and_invented(folder):
    args = ("loop", "-n1000")
    run = Run(folder, *args, kinds=(KERNEL,),
              env={"MOCK_DO": "set kernel every=10 start=0 end=0; set kernel nth=7 end=start-5"})
    equal("invalid", run.counts["invalid"], 101)
    run = Run(folder, *args, kinds=(KERNEL,), env={"MOCK_DO": "drop kernel every=10"})
    equal("kept", (run.counts[KERNEL], run.counts["dropped"]), (900, 100))
    equal("truth", run.truth["records"][str(KERNEL)],
          {"made": 1000, "delivered": 900, "dropped": 100})
    run = Run(folder, *args, kinds=(KERNEL, DRIVER), env={"MOCK_DO": "drop all silently=1"})
    equal("lost in silence", (run.counts.get(KERNEL), run.counts["dropped"]), (None, 0))
    run = Run(folder, "loop", "-d0.1", "-r1000", kinds=(KERNEL,),
              env={"MOCK_DO": "emit 60 count=5; emit kernel count=3 name=NULL end=INT64_MIN"})
    equal("of an unknown kind", run.counts[60], 5)
    equal("invalid", run.counts["invalid"], 3)


def test_buffers_come_on_foreign_threads(folder):
    run = Run(folder, "loop", "-n50000", "-t3", kinds=(KERNEL, DRIVER),
              env={"MOCK_DO": "complete threads=3 order=random"})
    equal("kernels", run.counts[KERNEL], 150000)


def test_rival_is_named(folder):
    run = Run(folder, "rival", env={"MOCK_DO": "rival Nsight"})
    equal("status", (run.status, "Nsight" in run.output), (3, True))
    run = Run(folder, "rival", "-d0.3", env={"MOCK_DO": "rival Nsight until=100"})
    equal("status", (run.status, run.output), (0, run.output))


def test_broken_contract_fails_the_process(folder):
    run = Run(folder, "loop", kinds=(KERNEL,), env={"MOCK_CLIENT_BREAK": "1"})
    equal("status", run.status, 86)
    equal("violations", len(run.truth["violations"]), 1)


def test_client_can_come_and_go(folder):
    for version in VERSIONS:
        run = Run(folder, "loop", "-d1", "-t4", version=version, kinds=(KERNEL, RUNTIME, DRIVER),
                  env={"MOCK_CLIENT_CYCLES": "1000"})
        equal("status", (run.status, run.output), (0, run.output))
        if run.counts["cycles"] < 5:
            sys.exit(f"only {run.counts['cycles']} cycles")


def test_graphs_break_as_they_do(folder):
    cases = [
        # kinds, threads, extra, status, said
        ((RUNTIME,), 1, {}, 0, ""),
        ((KERNEL,), 1, {}, 86, "LAUNCH_FAILED"),
        ((KERNEL,), 1, {"MOCK_CLIENT_KEEP": "1"}, 0, ""),
        ((KERNEL,), 3, {"MOCK_CLIENT_KEEP": "1"}, 86, "another thread inside CUDA"),
        ((GRAPH,), 1, {"MOCK_CLIENT_KEEP": "1"}, 86, "contract broken"),
    ]
    for kinds, threads, extra, status, said in cases:
        run = Run(folder, "loop", "-d1", "-r2000", "--graph=5", f"-t{threads}", kinds=kinds,
                  env={"MOCK_CLIENT_CYCLES": "50", **extra})
        equal(f"{kinds} {threads} {extra}", (run.status, said in run.output), (status, True))


def test_processes_end_as_they_should(folder):
    modes = {"fork-before": 0, "fork-after": 0, "fork-after-exit": 0, "fork-exec": 0,
             "fork-workers": 0, "exit-handler": 0, "exit-static": 0, "exit-quick": 0,
             "exit-thread": 0, "exit-busy": 0, "exit-main-thread": 0, "exit-signal": -15,
             "no-cuda": 0}
    for mode, status in modes.items():
        run = Run(folder, mode, "-n200", kinds=(KERNEL, DRIVER))
        equal(mode, (run.status, run.output), (status, run.output))


def test_every_kind_is_made(folder):
    kinds = (1, 2, 4, 5, 8, 9, 10, 17, 22, 25, 36, 37, 38, 49, 50)
    for version in VERSIONS:
        run = Run(folder, "all", "-n3", version=version, kinds=kinds)
        equal(f"kinds of {version}", tuple(k for k in kinds if k in run.counts), kinds)
        equal("kernels", run.counts[KERNEL], run.truth["kernels"]["total"])
        equal("migrations", run.counts[25], run.truth["migrations"]["count"])


def test_static_runtime_works(folder):
    needed = subprocess.run(["readelf", "-d", f"{folder}/mock_app_static"], check=True,
                            stdout=subprocess.PIPE).stdout
    equal("libraries named", b"libcud" in needed, False)
    run = Run(folder, "loop", "-n100", static=True, kinds=(KERNEL,))
    equal("kernels", run.counts[KERNEL], 100)


def test_any_name_is_possible(folder):
    run = Run(folder, "loop", "-n80", "--hostile-names", kinds=(KERNEL,))
    equal("names", len(run.truth["kernels"]["names"]), 8)
    run = Run(folder, "loop", "-n4", "-k2", "--name-bytes=524288", kinds=(KERNEL,))
    equal("bytes", {len(name) for name in run.truth["kernels"]["names"]}, {524288})


def main():
    folder, case = sys.argv[1:]
    globals()[f"test_{case}"](folder)


if __name__ == "__main__":
    main()
