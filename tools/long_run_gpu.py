#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A million steps on several GPUs that nothing may be said about: simulates a box of the series at constant energy and fails if the program
says anything, drifts, or ends otherwise than well.

    tools/long_run_gpu.py build-cuda/parhelion

Takes all GPUs there are, unless --gpus says how many. Prints a JSON line with what was run, its speed and its drift; exit code 1 if something was said. 70 s on four GPUs.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from series_box import prepare
from visible_gpus import visible_gpus

SETTINGS = {"gen-vel": "yes", "gen-temp": 300, "gen-seed": 1, "nstenergy": 1000, "nstlog": 100000, "nstxout-compressed": 0, "tcoupl": "no"}
DRIFT = 0.01  # kT/ns/atom, either way


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--gpus", type=int, default=max(1, len(visible_gpus())))
    parser.add_argument("--ranks", type=int, default=1, help="if more than GPUs")
    parser.add_argument("--halo", default="direct")
    parser.add_argument("--atoms", type=int, default=45000)
    parser.add_argument("--steps", type=int, default=1000000)
    options = parser.parse_args()
    program = options.program.resolve()
    with tempfile.TemporaryDirectory(prefix="parhelion-long-") as name:
        folder = Path(name)
        prepare(program, options.atoms, {**SETTINGS, "nsteps": options.steps}, folder)
        command = [program, "run", "-q", "-o", "md", "--device", "gpu", "--gpus", options.gpus, "--ranks", max(options.ranks, options.gpus),
                   "--halo", options.halo]
        ended = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
        said = [line for line in (ended.stdout + ended.stderr).splitlines() if line.strip()]
        log = folder / "md.log"
        said += [line for line in (log.read_text().splitlines() if log.exists() else []) if "warning" in line.lower()]
        report = json.loads((folder / "md.report.json").read_text()) if ended.returncode == 0 else {}
    drift = report.get("conserved_drift_kT_per_ns_per_atom")
    well = ended.returncode == 0 and not said and report["steps"] == options.steps and abs(drift) <= DRIFT
    line = {"case": "long run", "atoms": options.atoms, "gpus": options.gpus, "ranks": max(options.ranks, options.gpus), "halo": options.halo,
            "exit": ended.returncode, "steps": report.get("steps"), "ns_per_day": report.get("ns_per_day"), "drift_kT_per_ns_per_atom": drift,
            "said": said[:20], "well": well}
    print(json.dumps(line))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
