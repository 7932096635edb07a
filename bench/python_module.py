#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time per step by the program and through Python, alternating: python_module.py PROGRAM [--steps N] [--repetitions N]. PYTHONPATH has
the module (build/python). Each number is of the steady part, as the report has it: the first tenth of the steps is left out."""
import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import parhelion


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--atoms", default="3000")
    given = parser.parse_args()
    program = given.program.resolve()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "generate", "ethanol-water", "--atoms", given.atoms, "-d", folder], check=True, capture_output=True)
        files = [str(Path(folder) / name) for name in ("md.mdp", "conf.gro", "topol.top")]
        times: dict[str, list[float]] = {"program": [], "Simulation": [], "run": []}
        for _ in range(given.repetitions):
            subprocess.run([program, "run", "-q", "--new", "-f", files[0], "-c", files[1], "-p", files[2], "-o", "a", "--threads", "1",
                            "--device", "cpu", "--steps", str(given.steps)], check=True, cwd=folder, capture_output=True)
            times["program"].append(json.loads((Path(folder) / "a.report.json").read_text())["us_per_step"])
            with parhelion.Simulation(parhelion.load(*files), threads=1, device="cpu") as simulation:
                times["Simulation"].append(simulation.run(given.steps).us_per_step)
            result = parhelion.run(*files, prefix=f"{folder}/b", fresh=True, threads=1, device="cpu", steps=given.steps)
            times["run"].append(result.report["us_per_step"])
    for name, values in times.items():
        relative = statistics.median(a / b for a, b in zip(values, times["program"], strict=True)) - 1
        print(f"{name:12} {statistics.median(values):9.1f} us/step  {100 * relative:+.2f} % of the program's")


if __name__ == "__main__":
    main()
