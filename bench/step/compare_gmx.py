#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times whole runs of the ethanol-water series against Debian's GROMACS on the same cores, alternating.

usage: bench/step/compare_gmx.py build/parhelion [--atoms 45000] [--electrostatics pme] [--threads 2] [--steps 2000]
       [--repeats 3] [--json FILE]

Both programs read the same generated files with their default settings and report the rate of the steady part (ours: after the first tenth,
at least 500 steps; gmx: -resethway, the second half). One JSON line per program goes to FILE. Needs gmx (Debian package gromacs).
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--atoms", type=int, default=45000)
    parser.add_argument("--electrostatics", choices=["rf", "pme"], default="rf")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    program = options.program.resolve()

    rates = {"parhelion": [], "gmx": []}
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            result = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
            if result.returncode != 0:
                sys.exit(result.stdout + result.stderr)
            return result.stdout + result.stderr

        run(program, "generate", "ethanol-water", "--atoms", options.atoms, "--electrostatics", options.electrostatics, "-d", ".")
        run("gmx", "grompp", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "gmx.tpr")
        for _ in range(options.repeats):
            run(program, "run", "-q", "--new", "--steps", options.steps, "--threads", options.threads, "-o", "ours")
            report = json.loads((pathlib.Path(folder) / "ours.report.json").read_text())
            rates["parhelion"].append(report["ns_per_day"])
            text = run("gmx", "mdrun", "-s", "gmx.tpr", "-nt", options.threads, "-nsteps", options.steps, "-resethway", "-noconfout", "-g", "gmx.log")
            rates["gmx"].append(float(re.search(r"Performance:\s+(\S+)", text).group(1)))
        version = run("gmx", "--version")
    gmx_version = re.search(r"GROMACS version:\s+(\S+)", version).group(1) + " " + re.search(r"SIMD instructions:\s+(\S+)", version).group(1)

    lines = []
    for name, values in rates.items():
        lines.append({"case": options.electrostatics, "atoms": options.atoms, "gpus": 0, "threads": options.threads, "program": name,
                      "ns_per_day": statistics.median(values), "us_per_step": 172800 / statistics.median(values), "repetitions": values,
                      "machine": report["version"]["machine"], "version": gmx_version if name == "gmx" else report["version"]["program"],
                      "command": f"bench/step/compare_gmx.py build/parhelion --atoms {options.atoms} --electrostatics {options.electrostatics} "
                                 f"--threads {options.threads} --steps {options.steps} --repeats {options.repeats}"})
        print(f"{name:<10} {statistics.median(values):8.2f} ns/day   {' '.join(f'{v:.2f}' for v in values)}")
    print(f"ratio      {statistics.median(rates['parhelion']) / statistics.median(rates['gmx']):8.2f}")
    if options.json:
        with options.json.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    main()
