#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a folder of input as its user would, stage after stage without editing, and compares averages with GROMACS'.

    tools/run_stages.py run build/parhelion FOLDER OUT                        # every stage as its .mdp says, 100 ps of the last
    tools/run_stages.py run build/parhelion FOLDER OUT --steps 50             # at most 50 steps of each
    tools/run_stages.py run build-cuda/parhelion FOLDER OUT --start equil.gro --repeats 4
    tools/run_stages.py compare OUT/md.run?.edr --with gromacs.edr --from 20

FOLDER/stages.txt has a line for each stage: NAME MDP START TOPOLOGY INDEX REFERENCE, where "prev" is the end of the stage before and "-"
is none. Files may be gzipped. A stage takes velocities of the one before from its checkpoint, unless it draws its own. With --start the
last stage is repeated from that structure, too: the runs OUT/NAME.run1 ... differ in the thermostat's random numbers.
OUT/stages.jsonl says what each run took and said; `compare` prints a table, and with --json lines of JSON. Exit code 1 if a run failed
or a term differs. Needs Python alone.

How averages are compared (tools/mean_errors.py). Of each run the same stretch of time counts, what all runs have of it. All runs began
with the same state. With six runs or more, of both programs together, the error of a mean is that of the spread of runs, or that of the
correlated samples within runs where this is larger. With fewer, only correlated samples tell the error: a term is UNDECIDED if a run
has less than twenty independent samples, and motions slower than a run go unseen. A term agrees if the means are within three standard
errors of their difference, at the likelihood that three have in a normal distribution: of hundreds of terms that agree 0.3 % do not.
"""
import argparse
import gzip
import json
import math
import re
import shutil
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

from energy_file import read_energies
from mean_errors import compare_runs, run_mean

Stage = namedtuple("Stage", "name mdp start topology index reference")
LEAST_SAMPLES = 10
LIMIT = 3  # standard errors
ROUNDING = 1e-6  # of a mean, relative: a mixed-precision .edr has 24 bits, and so has a box that never changes
# No averages of the ensemble, or sums of others: the thermostat's bookkeeping, the constraints' error, rates, -2 Vir = Pres V - 2 Ekin.
LEFT_OUT = re.compile(r"Conserved|Constr\. rmsd|Box-Vel|Vir-|Lamb-|Mu-|Xi-|pV$|Enthalpy")


# --- running

def read_stages(path):
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return [Stage(*words[:6]) for words in lines if words]


def options_of(mdp):
    """The options of an .mdp file that matter here, by their names in small letters with hyphens."""
    pairs = (line.split(";")[0].split("=", 1) for line in mdp.read_text().splitlines() if "=" in line.split(";")[0])
    return {key.strip().lower().replace("_", "-"): value.strip().lower() for key, value in pairs}


class Folder:
    """Runs stages of a folder; their files are in `out`."""

    def __init__(self, chosen):
        self.chosen, self.source, self.out = chosen, chosen.folder.resolve(), chosen.out.resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.stages = read_stages(self.source / "stages.txt")
        self.failed, self.began = False, time.monotonic()

    def left(self):
        """Seconds; None: as many as it takes."""
        return None if self.chosen.seconds is None else max(0.0, self.began + self.chosen.seconds - time.monotonic())

    def plain(self, name):
        """A file of the folder, unpacked where it is gzipped."""
        path, packed = self.source / name, self.source / f"{name}.gz"
        if path.exists() or not packed.exists():
            return path
        path = self.out / name
        with gzip.open(packed) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target)
        return path

    def command(self, stage, prefix, start, checkpoint, steps, reference):
        mdp = self.source / stage.mdp
        words = [self.chosen.program.resolve(), "run", "-q", "--new", "-f", mdp, "-p", self.source / stage.topology, "-c", start, "-o", prefix]
        words += ["-n", self.source / stage.index] if stage.index != "-" else []
        words += ["-r", reference] if reference else []
        words += ["-t", checkpoint] if checkpoint else []
        words += ["--steps", steps] if steps is not None else []
        return [str(word) for word in [*words, *self.chosen.options.split()]]

    def run(self, *what):
        """Whether the program ended well; adds a line to stages.jsonl."""
        command, began = self.command(*what), time.monotonic()
        stage, prefix = what[:2]
        process = subprocess.Popen(command, cwd=self.out, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            said, _ = process.communicate(timeout=self.left())
        except subprocess.TimeoutExpired:
            process.terminate()  # it ends after a step, with complete files
            said, _ = process.communicate()
        code = process.returncode
        report = self.out / f"{prefix}.report.json"
        facts = json.loads(report.read_text()) if code == 0 else {}
        line = {"folder": self.source.name, "stage": prefix, "mdp": stage.mdp, "exit": code, "wall_s": round(time.monotonic() - began, 1)}
        line |= {key: facts.get(key) for key in ("device", "gpus", "ranks", "atoms", "steps", "ns_per_day")}
        line |= {"said": said.strip().splitlines()[-8:], "command": " ".join(command)}
        with open(self.out / "stages.jsonl", "a") as lines:
            lines.write(json.dumps(line) + "\n")
        speed = f"{facts['ns_per_day']:.1f} ns/day on {facts['device']}" if facts else f"exit code {code}: {said.strip()[-600:]}"
        print(f"{self.source.name:22} {prefix:12} {facts.get('steps', 0):7} steps {line['wall_s']:7.1f} s  {speed}", flush=True)
        self.failed |= code != 0
        return code == 0

    def production_steps(self):
        """Of the last stage: so many as its share of time takes, or --steps."""
        dt = float(options_of(self.source / self.stages[-1].mdp).get("dt", "0.001"))
        steps = math.ceil(self.chosen.production / dt - 1e-6)
        return steps if self.chosen.steps is None else min(steps, self.chosen.steps)

    def run_all(self):
        end = checkpoint = None
        for stage in self.stages:
            options = options_of(self.source / stage.mdp)
            start = end if stage.start == "prev" else self.plain(stage.start)
            reference = end if stage.reference == "prev" else self.plain(stage.reference) if stage.reference != "-" else None
            steps = self.production_steps() if stage is self.stages[-1] else self.chosen.steps
            going_on = checkpoint if options.get("gen-vel", "no") != "yes" else None
            if not self.run(stage, stage.name, start, going_on, steps, reference):
                return
            end = self.out / f"{stage.name}.gro"
            checkpoint = self.out / f"{stage.name}.cpt" if options.get("integrator", "md") != "steep" else None

    def repeat_last(self):
        stage, start = self.stages[-1], self.plain(self.chosen.start)
        for repeat in range(1, self.chosen.repeats + 1):
            if self.left() != 0:
                self.run(stage, f"{stage.name}.run{repeat}", start, None, self.production_steps(), None)


def run(chosen):
    folder = Folder(chosen)
    if not chosen.only_last:
        folder.run_all()
    if chosen.start:
        folder.repeat_last()
    return folder.failed


# --- comparing

class Series:
    """The samples of a run, by term."""

    def __init__(self, path):
        names, samples = read_energies(path)
        self.path = path
        self.times, self.counts = [s.time for s in samples], [s.count for s in samples]
        self.terms = {name: [s.means[i] for s in samples] for i, name in enumerate(names) if not LEFT_OUT.search(name)}
        if {"Box-X", "Box-Y"} <= self.terms.keys():
            self.terms["Area"] = [x * y for x, y in zip(self.terms["Box-X"], self.terms["Box-Y"])]

    def end(self):
        return self.times[-1]

    def mean_and_error(self, term, begin, end):
        picked = [(value, count) for value, count, at in zip(self.terms[term], self.counts, self.times) if begin < at <= end + 1e-6]
        if len(picked) < LEAST_SAMPLES:
            raise SystemExit(f"{self.path}: {len(picked)} energies in {begin:g} to {end:g} ps; write them more often or simulate longer")
        values, counts = zip(*picked)
        return run_mean(values, counts, ROUNDING * max(map(abs, values)))


def compare_term(term, ours, theirs, window):
    found = [[run.mean_and_error(term, *window) for run in side] for side in (ours, theirs)]
    result = compare_runs(*found, least_error=ROUNDING * abs(found[0][0].mean))
    return {"term": term, "ours": result.means[0], "error": result.errors[0], "gromacs": result.means[1], "gromacs_error": result.errors[1],
            "distance": result.distance, "decided": result.is_decided, "within": result.is_decided and abs(result.distance) <= LIMIT}


def compare(chosen):
    ours, theirs = [Series(path) for path in chosen.ours], [Series(path) for path in chosen.others]
    window = chosen.begin, min(run.end() for run in ours + theirs)
    present = [set.intersection(*(set(run.terms) for run in side)) for side in (ours, theirs)]
    lines = [compare_term(term, ours, theirs, window) for term in theirs[0].terms if term in present[0] & present[1]]
    outside = [line["term"] for line in lines if line["decided"] and not line["within"]]
    undecided = [line["term"] for line in lines if not line["decided"]]
    print(f"{chosen.name}: {window[0]:g} to {window[1]:g} ps, {len(ours)} runs beside {len(theirs)} of GROMACS")
    print(f"{'term':22} {'ours':>14} {'error':>10} {'GROMACS':>14} {'error':>10} {'distance':>9}")
    for line in lines:
        print("{term:22} {ours:14.5g} {error:10.3g} {gromacs:14.5g} {gromacs_error:10.3g} {distance:9.2f}".format(**line), "" if line["within"] else " OUTSIDE" if line["decided"] else " UNDECIDED")
    alone = sorted(present[0] ^ present[1])
    within = len(lines) - len(outside) - len(undecided)
    print(f"{within} of {len(lines)} terms within {LIMIT} standard errors" + f", {len(undecided)} undecided" * bool(undecided) + f"; on one side alone: {', '.join(alone)}" * bool(alone))
    if chosen.json:
        with open(chosen.json, "a") as file:
            for line in lines:
                file.write(json.dumps({"folder": chosen.name, "begin_ps": window[0], "end_ps": window[1], **line}) + "\n")
    return bool(outside) or within == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run")
    runs.set_defaults(do=run)
    runs.add_argument("program", type=Path)
    runs.add_argument("folder", type=Path)
    runs.add_argument("out", type=Path)
    runs.add_argument("--steps", type=int, help="of each stage, at most; default: what its .mdp says")
    runs.add_argument("--production", type=float, default=100, metavar="PS", help="of the last stage")
    runs.add_argument("--start", help="a structure from which the last stage is repeated")
    runs.add_argument("--repeats", type=int, default=1, help="of it")
    runs.add_argument("--only-last", action="store_true", help="with --start: no stages before it")
    runs.add_argument("--options", default="", help="more words for the program, as '-I DIR --device cpu'; by itself it takes a GPU where it can")
    runs.add_argument("--seconds", type=float, help="for all runs together; the one that is under way then is ended, later ones are not begun")
    compares = commands.add_parser("compare")
    compares.set_defaults(do=compare)
    compares.add_argument("ours", type=Path, nargs="+", metavar="EDR")
    compares.add_argument("--with", dest="others", type=Path, nargs="+", required=True, metavar="EDR")
    compares.add_argument("--from", dest="begin", type=float, default=0, metavar="PS", help="what comes before is left out")
    compares.add_argument("--name", default="averages")
    compares.add_argument("--json", type=Path, metavar="FILE", help="add lines of JSON to it")
    chosen = parser.parse_args()
    return int(chosen.do(chosen))


if __name__ == "__main__":
    sys.exit(main())
