#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole steps of ranks on CPUs by what carries their halos: time in communication, of the step, and of the processor. A JSON line for each run.

    bench/onesided/steps.py build/parhelion --mpiexec "mpirun.mpich" --ranks 2 4 8 16 --atoms 45000 --steps 400 > steps.jsonl

Communication: positions out and forces back, as rank 0 sees them, waits for slower ranks included. Processor time: of rank 0's process, shared
out among its ranks. Runs alternate, so that what else happens on the machine meets all of them.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOST = {"threads": lambda r: ["--ranks", str(r)], "processes": lambda r: ["--ranks", str(r), "--processes", str(r)]}


def command(program, launcher, transport, ranks):
    words = [program, "run", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "md", "-q", "--json", "--new", "--threads", "1"]
    if transport in HOST:
        return words + HOST[transport](ranks)
    return [*launcher, "-n", str(ranks), *words, "--transport", transport]


def measure(words, folder, seconds):
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=seconds)
    if result.returncode != 0:
        raise RuntimeError(result.stderr[-400:])
    report = json.loads(result.stdout[result.stdout.index("{"):])
    phases, step = report["phases"], report["us_per_step"]
    own = report["ranks"] if report["transport"] == "threads" else 1
    return {"grid": report["grid"], "communication_us": phases["send coordinates"] + phases["return forces"], "reduce_us": phases["reduce"],
            "migrate_us": phases["migrate"], "step_us": step, "processor_us": step * report["host_load"] / own, "ns_per_day": report["ns_per_day"],
            "machine": report["version"]["machine"], "version": report["version"]["program"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--mpiexec", default="mpirun.mpich", help="the launcher, with its options")
    parser.add_argument("--transports", nargs="+", default=["threads", "processes", "tcp", "mpi", "mpi-rma", "mpi-put"])
    parser.add_argument("--halo", nargs="+", default=["staged-host"])
    parser.add_argument("--ranks", nargs="+", type=int, default=[2])
    parser.add_argument("--atoms", nargs="+", type=int, default=[45000])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no run after so many")
    parser.add_argument("--timeout", type=float, default=120, help="s, of a run")
    options = parser.parse_args()
    program, start = str(Path(options.program).resolve()), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        for atoms in options.atoms:
            subprocess.run([program, "generate", "ethanol-water", "--atoms", str(atoms), "-d", f"{scratch}/{atoms}"], check=True, capture_output=True)
        cases = [(a, r, t, h) for a in options.atoms for r in options.ranks for t in options.transports for h in options.halo]
        for repetition in range(options.repetitions):
            for atoms, ranks, transport, halo in cases:
                if time.monotonic() - start > options.seconds:
                    print(f"no time left for {transport} on {ranks} ranks, {atoms} atoms, repetition {repetition}", file=sys.stderr)
                    continue
                words = command(program, options.mpiexec.split(), transport, ranks) + ["--halo", halo, "--steps", str(options.steps)]
                known = {"case": "steps", "transport": transport, "halo": halo, "ranks": ranks, "atoms": atoms, "steps": options.steps}
                try:
                    print(json.dumps(known | measure(words, f"{scratch}/{atoms}", options.timeout)), flush=True)
                except (RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
                    print(f"{transport} on {ranks} ranks, {atoms} atoms: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
