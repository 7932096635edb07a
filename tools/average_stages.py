#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates the last stage of folders with this program and with GROMACS, many runs at a time, and compares averages.

    tools/average_stages.py build/parhelion OUT FOLDER... --runs 8 --seconds 480

FOLDER is one of tools/run_stages.py. All runs of a folder begin with its equilibrated state (--start), so that their spread tells how
far means may differ (tools/mean_errors.py). They differ in the thermostat's random numbers, for which the .mdp has ld-seed = -1. Energies
are written more often than the .mdp says, nothing else is changed. A run has --threads cores of its own and an equal share of the time
that all have; the runs of one folder are under way together. OUT/FOLDER has the files of its runs. OUT/averages.jsonl has the tables'
lines. GROMACS runs on CPUs. With --device gpu our runs of a folder share the GPU. Exit code 1 if a run failed or a term differs.
"""
import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from run_stages import Folder, read_stages

TOOLS = Path(__file__).resolve().parent


def set_option(mdp, key, value):
    """The text of an .mdp with this option set."""
    name = key.replace("-", "[-_]?")
    return re.sub(rf"(?mi)^\s*{name}\s*=.*$", "", mdp) + f"\n{key} = {value}\n"


class Case:
    """A folder: its last stage, ready to be run."""

    def __init__(self, chosen, source):
        self.chosen, self.name, self.out = chosen, source.name, (chosen.out / source.name).resolve()
        self.out.mkdir(parents=True)
        self.stage = read_stages(source / "stages.txt")[-1]
        self.source = source.resolve()
        start = argparse.Namespace(folder=source, out=self.out)
        self.start = Folder(start).plain(chosen.start)
        mdp = (source / self.stage.mdp).read_text()
        for key, value in {"nstenergy": chosen.every, "nstcalcenergy": chosen.every, "nsteps": 1_000_000_000}.items():
            mdp = set_option(mdp, key, value)
        self.mdp = self.out / "md.mdp"
        self.mdp.write_text(mdp)

    def files(self):
        index = ["-n", self.source / self.stage.index] if self.stage.index != "-" else []
        return ["-f", self.mdp, "-c", self.start, "-p", self.source / self.stage.topology, *index]

    def ours(self, k):
        threads = ["--threads", self.chosen.threads] if self.chosen.device == "cpu" else []
        return [[self.chosen.program.resolve(), "run", "-q", "--new", *self.files(), "-o", f"ours{k}", "--device", self.chosen.device, *threads,
                 *self.chosen.options.split()]]

    def gromacs(self, k):
        gmx = [self.chosen.gmx, "-quiet"]
        return [[*gmx, "grompp", *self.files(), "-o", f"gromacs{k}.tpr", "-po", f"gromacs{k}.mdp", "-maxwarn", "1"],
                [*gmx, "mdrun", "-deffnm", f"gromacs{k}", "-ntmpi", "1", "-ntomp", self.chosen.threads, "-pin", "off", "-nb", "cpu"]]

    def run(self, side, k, seconds, cores):
        """Whether the run ended well, or was ended after so many seconds."""
        until = time.monotonic() + seconds
        with open(self.out / f"{side}{k}.out", "w") as said:
            for command in getattr(self, side)(k):
                process = subprocess.Popen([str(word) for word in command], cwd=self.out, stdout=said, stderr=subprocess.STDOUT,
                                           preexec_fn=lambda: os.sched_setaffinity(0, cores))
                try:
                    process.wait(timeout=max(0.0, until - time.monotonic()))
                except subprocess.TimeoutExpired:
                    process.terminate()  # both programs end after some steps, with complete files
                    process.wait()
                    return True
                if process.returncode != 0:
                    print(f"{self.name}: {side}{k} ended with code {process.returncode}; see {said.name}", flush=True)
                    return False
        return True


def run_all(chosen, cases):
    """Whether all runs ended well."""
    usable = sorted(os.sched_getaffinity(0))
    places = queue.SimpleQueue()
    workers = max(1, len(usable) // chosen.threads)
    for k in range(workers):
        places.put(set(usable[k * chosen.threads:(k + 1) * chosen.threads]))
    jobs = [(case, side, k) for case in cases for k in range(1, chosen.runs + 1) for side in ("ours", "gromacs")]
    seconds = chosen.seconds / -(-len(jobs) // workers)
    print(f"{len(jobs)} runs, {workers} at a time, {seconds:.0f} s each", flush=True)

    def take(job):
        case, side, k = job
        cores = places.get()
        try:
            return case.run(side, k, seconds, cores)
        finally:
            places.put(cores)

    with ThreadPoolExecutor(workers) as pool:
        return all(list(pool.map(take, jobs)))


def compare(chosen, case):
    files = {side: sorted(case.out.glob(f"{side}*.edr")) for side in ("ours", "gromacs")}
    command = [sys.executable, "-B", TOOLS / "run_stages.py", "compare", *files["ours"], "--with", *files["gromacs"], "--from", chosen.begin,
               "--name", case.name, "--json", chosen.out / "averages.jsonl"]
    return subprocess.run([str(word) for word in command]).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--start", default="equil.gro", help="the structure from which all runs begin")
    parser.add_argument("--runs", type=int, default=8, help="of each program and folder")
    parser.add_argument("--seconds", type=float, default=480, help="for all runs together")
    parser.add_argument("--threads", type=int, default=1, help="of a run")
    parser.add_argument("--device", default="cpu", choices=["cpu", "gpu"], help="of our runs")
    parser.add_argument("--every", type=int, default=50, metavar="STEPS", help="between energies")
    parser.add_argument("--from", dest="begin", type=float, default=0, metavar="PS", help="what comes before is left out")
    parser.add_argument("--gmx", default=shutil.which("gmx") or "gmx")
    parser.add_argument("--options", default="", help="more words for the program, as '-I DIR'")
    chosen = parser.parse_args()
    cases = [Case(chosen, folder) for folder in chosen.folders]
    is_complete = run_all(chosen, cases)
    agree = [compare(chosen, case) for case in cases]
    return 0 if is_complete and all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
