#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times ranks on an uneven box, with borders that move and without, beside an even box of as many atoms.

usage: bench/step/compare_balance.py build/parhelion [--atoms 12000] [--electrostatics rf] [--ranks 2] [--steps 6000] [--repeats 3]
       [--json FILE]

The even box is one of the ethanol-water series. The uneven box has the same molecules at its lower end and is 2.5 times as long
along z, so 60 % of it are empty; with PME it is longer along x, where slabs are cut. Each rank has one thread. The runs alternate.
Their rates are those of the steady part, after the first tenth. Speed-ups are over one rank on the same box; the last line is the
speed-up of the uneven box as a fraction of that of the even box. One JSON line per kind of run goes to FILE.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def lengthened(gro, axis, factor):
    """The text of a .gro file with whole molecules in a box that is `factor` times as long along `axis`."""
    lines = gro.rstrip("\n").split("\n")
    edges = [float(word) for word in lines[-1].split()]
    atoms, residue, first = [], None, 0.0
    for line in lines[2:-1]:
        x = [float(line[20 + 8 * d:28 + 8 * d]) for d in range(3)]
        if line[:10] != residue:
            residue, first = line[:10], x[axis]
        x[axis] -= edges[axis] * round((x[axis] - first) / edges[axis])
        atoms.append(line[:20] + "".join(f"{value:8.3f}" for value in x) + line[44:])
    edges[axis] *= factor
    return "\n".join(lines[:2] + atoms + [" ".join(f"{edge:.5f}" for edge in edges)]) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--atoms", type=int, default=12000)
    parser.add_argument("--electrostatics", choices=["rf", "pme"], default="rf")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    program = options.program.resolve()
    axis = 0 if options.electrostatics == "pme" else 2
    grid = "x".join(str(options.ranks if d == axis else 1) for d in range(3))
    kinds = {"even, 1 rank": ("even", []), "even": ("even", ["--grid", grid]), "uneven, 1 rank": ("uneven", []),
             "uneven, equal cells": ("uneven", ["--grid", grid, "--dlb", "off"]), "uneven, balanced": ("uneven", ["--grid", grid, "--dlb", "auto"])}
    rates = {kind: [] for kind in kinds}
    reports = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(*command):
            result = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
            if result.returncode != 0:
                sys.exit(result.stdout + result.stderr)

        run(program, "generate", "ethanol-water", "--atoms", options.atoms, "--electrostatics", options.electrostatics, "-d", ".")
        even = (folder / "conf.gro").read_text()
        (folder / "even.gro").write_text(even)
        (folder / "uneven.gro").write_text(lengthened(even, axis, 2.5))
        for _ in range(options.repeats):
            for kind, (box, words) in kinds.items():
                run(program, "run", "-q", "--new", "--device", "cpu", "--steps", options.steps, "--threads", 1, "-c", f"{box}.gro",
                    "-o", "md", *words)
                reports[kind] = json.loads((folder / "md.report.json").read_text())
                rates[kind].append(reports[kind]["ns_per_day"])
    for kind, values in rates.items():
        print(f"{kind:22} {statistics.median(values):8.2f} ns/day  ({' '.join(f'{v:.2f}' for v in values)})  "
              f"{reports[kind].get('load_balance', '')} {reports[kind].get('borders', '')}")
        if options.json:
            with options.json.open("a") as file:
                line = {"kind": kind, "atoms": options.atoms, "electrostatics": options.electrostatics, "grid": reports[kind]["grid"],
                        "ns_per_day": values, "load_balance": reports[kind]["load_balance"], "borders": reports[kind]["borders"],
                        "version": reports[kind]["version"]}
                file.write(json.dumps(line) + "\n")

    def speed_up(kind, box):
        return statistics.median(rates[kind]) / statistics.median(rates[f"{box}, 1 rank"])

    of_even, still, balanced = speed_up("even", "even"), speed_up("uneven, equal cells", "uneven"), speed_up("uneven, balanced", "uneven")
    print(f"speed-ups: even {of_even:.2f}, uneven with equal cells {still:.2f}, balanced {balanced:.2f}: {balanced / of_even:.0%} of even")


if __name__ == "__main__":
    main()
