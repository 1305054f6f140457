#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that everything a GPU did belongs to one launch, and that every launch has a stack.

    launches.py CUPROBE CAPTURE

Also that whatever graphs launched has, beside the stack of the launch, one of its own.
"""
import collections
import json
import subprocess
import sys

WORK = ("kernel", "graph", "memcpy", "memset")


def events(cuprobe, capture):
    out = subprocess.run([cuprobe, "export", "-q", "-f", "jsonl", "-o", "-", capture], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def main():
    launches = collections.defaultdict(list)
    work = collections.Counter()
    nodes, launched_nodes = {}, set()
    wrong = []

    for e in events(*sys.argv[1:3]):
        if e["kind"] == "launch" and not e["graph_node_id"]:
            launches[e["pid"], e["correlation"]].append(e)
        elif e["kind"] == "launch":
            nodes[e["pid"], e["graph_node_id"]] = e["stack"]
        elif e["kind"] in WORK:
            work[e["pid"], e["correlation"]] += 1
            if e.get("graph_node_id"):
                launched_nodes.add((e["pid"], e["graph_node_id"]))
    for key, of in launches.items():
        if len(of) != 1:
            wrong.append(f"launch {key} is told {len(of)} times: {[e['name'] for e in of]}")
        if not all(e["stack"] for e in of):
            wrong.append(f"launch {key}, {of[0]['name']}, has no stack")
        if key not in work:
            wrong.append(f"launch {key}, {of[0]['name']}, put nothing on a GPU")
    wrong += [f"{count} records of {key} have no launch" for key, count in work.items()
              if key not in launches]
    wrong += [f"node {key} has no stack" for key in launched_nodes if not nodes.get(key)]
    stacks = {e["stack"] for of in launches.values() for e in of if "Graph" in e["name"]}
    wrong += [f"node {key} has a stack of a graph's launch" for key in launched_nodes
              if nodes.get(key) in stacks]
    if not launches:
        wrong.append("no launches at all")
    for line in wrong[:10]:
        print(line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
