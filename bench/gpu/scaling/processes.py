#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are GPUs slower in a process each than in one? Whole runs, ns/day, a JSON line for each, then a table in Markdown.

    bench/gpu/scaling/processes.py build-cuda/parhelion --repetitions 2 > processes.jsonl

Ways: `one`, one process; `peer`, one for each GPU with the program's own memory; `nvshmem`, with NVSHMEM's, whose library the loader has to
find. Ways take turns, so that what else happens on the machine meets all of them. The table compares medians with `one`. Exit code 1 if a
way is slower than LIMITS allow.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

LIMITS = {"peer": 5.0, "nvshmem": 10.0}  # % slower than one process


def ways_of(gpus):
    n = str(gpus)
    return {"one": ["--gpus", n], "peer": ["--gpus", n, "--processes", n], "nvshmem": ["--processes", n, "--device", "gpu", "--transport", "nvshmem"]}


def measure(program, gpus, way, halo, folder, steps):
    words = [program, "run", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "md", "-q", "--json", "--new", "--ranks", str(gpus), "--grid", f"{gpus}x1x1",
             "--halo", halo, "--steps", str(steps), *ways_of(gpus)[way]]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{result.stderr}")
    report = json.loads(result.stdout[result.stdout.index("{"):])
    return {"ns_per_day": report["ns_per_day"], "device": report["device"], "version": report["version"]["program"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--ways", nargs="+", default=list(LIMITS), choices=LIMITS, help="beside one process")
    parser.add_argument("--halo", nargs="+", default=["direct", "staged-fused"])
    parser.add_argument("--atoms", nargs="+", type=int, default=[45000, 180000, 360000])
    parser.add_argument("--atom-steps", type=float, default=1.8e9, help="of a run: atoms times steps")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    ways = ["one", *options.ways]
    program, runs = str(Path(options.program).resolve()), defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        for atoms in options.atoms:
            subprocess.run([program, "generate", "ethanol-water", "--atoms", str(atoms), "-d", f"{scratch}/{atoms}"], check=True, capture_output=True)
        for atoms in options.atoms:
            for halo in options.halo:
                for _ in range(options.repetitions):
                    for way in ways:
                        measured = measure(program, options.gpus, way, halo, f"{scratch}/{atoms}", int(options.atom_steps / atoms))
                        runs[atoms, halo, way].append(measured["ns_per_day"])
                        print(json.dumps({"case": "processes", "gpus": options.gpus, "way": way, "halo": halo, "atoms": atoms} | measured), flush=True)
    slower = {(atoms, halo, way): 100 * (1 - median(rates) / median(runs[atoms, halo, "one"])) for (atoms, halo, way), rates in runs.items()}
    print("| atoms | halo | " + " | ".join(ways) + " |\n|---|---|" + "---|" * len(ways), file=sys.stderr)
    for atoms in options.atoms:
        for halo in options.halo:
            cells = [f"{median(runs[atoms, halo, way]):.0f} ({slower[atoms, halo, way]:+.1f} %)" for way in ways]
            print(f"| {atoms} | {halo} | " + " | ".join(cells) + " |", file=sys.stderr)
    sys.exit(any(percent > LIMITS.get(way, 0) for (_, _, way), percent in slower.items()))


if __name__ == "__main__":
    main()
