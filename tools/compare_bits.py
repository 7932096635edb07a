#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
r"""Do two programs compute the same bits? Takes the same runs with --reproducible with both and compares what they write.

    tools/compare_bits.py OLD/parhelion NEW/parhelion                  # on the CPU, and on the GPUs there are
    tools/compare_bits.py OLD/parhelion NEW/parhelion --gpus 0 --only 'cpu.*nve'
    PARHELION_STANDIN_GPUS=2 tools/compare_bits.py OLD/parhelion_standin NEW/parhelion_standin --gpus 2 --only GPU --system spce \
        --set nsteps=7 --set nstlist=3 --set rcoulomb=0.4 --set rvdw=0.4          # kernels on a CPU, in some minutes a run

Compares trajectories, energies and the last configuration byte by byte, and of the checkpoint all but what it says of the log, which
tells times. Prints a row for each run; exit code 1 if anything differs or if a run fails. Needs Python alone, and 15 minutes for a
program of two cores and two GPUs.
"""
import argparse
import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from visible_gpus import visible_gpus

SYSTEMS = Path(__file__).resolve().parents[1] / "tests" / "data" / "refdata"
# Everything is due within a few steps, at intervals without a common pattern, and lists are built several times.
SETTINGS = {
    "integrator": "md", "dt": 0.002, "nsteps": 40, "nstlist": 10, "coulombtype": "reaction-field", "epsilon-rf": 0, "rcoulomb": 0.9,
    "rvdw": 0.9, "DispCorr": "EnerPres", "constraints": "h-bonds", "tc-grps": "System", "tau-t": 0.2, "ref-t": 300, "tau-p": 2,
    "ref-p": 1, "compressibility": 4.5e-5, "gen-vel": "yes", "gen-temp": 300, "gen-seed": 11, "ld-seed": 12, "nsttcouple": 2,
    "nstpcouple": 4, "nstcomm": 6, "nstxout-compressed": 7, "nstxout": 11, "nstvout": 11, "nstfout": 12, "nstenergy": 9,
    "nstcalcenergy": 3,
}
PHYSICS = {
    "nve": {"tcoupl": "no"},
    "v-rescale, c-rescale": {"tcoupl": "v-rescale", "pcoupl": "C-rescale"},
    "Berendsen": {"tcoupl": "berendsen", "pcoupl": "berendsen"},
    "Nose-Hoover, Parrinello-Rahman": {"tcoupl": "nose-hoover", "pcoupl": "Parrinello-Rahman"},
    "stochastic": {"integrator": "sd", "tcoupl": "no"},
}
ALLOWED = ["W112", "W114", "W115", "W117"]  # warnings about thermostats and barostats
FILES = ["xtc", "trr", "edr", "gro"]
METHODS = ["staged-host", "staged-fused", "direct"]
METHODS_ON_GPUS = METHODS + ["staged-dma"]


def places(gpus):
    """Where to run: name, options."""
    found = [("cpu, 1 rank", ["--device", "cpu", "--ranks", "1"])]
    found += [(f"cpu, 4 ranks, {method}", ["--device", "cpu", "--ranks", "4", "--halo", method]) for method in METHODS]
    on_gpus = [(1, 1), (1, 2)] if gpus else []
    on_gpus += [(2, 2), (2, 4)] if gpus > 1 else []
    for used, ranks in on_gpus:
        for method in METHODS_ON_GPUS if ranks > 1 else ["direct"]:
            name = f"{used} GPU{'s' * (used > 1)}, {ranks} rank{'s' * (ranks > 1)}" + f", {method}" * (ranks > 1)
            found.append((name, ["--device", "gpu", "--gpus", str(used), "--ranks", str(ranks), "--halo", method]))
    return found


def runs(gpus):
    """Every place with every physics in mixed precision, and with one in double: name, settings, options."""
    for place, options in places(gpus):
        for physics, settings in PHYSICS.items():
            yield f"{place}, {physics}", settings, options
        yield f"{place}, nve, double", PHYSICS["nve"], [*options, "--precision", "double"]


def checkpoint(path):
    """The sections of a checkpoint, whose headers are name, bytes, hash; without what is said of the log."""
    content, begin, sections = path.read_bytes(), 32, {}
    while begin < len(content):
        name, size = struct.unpack_from("<8sQ", content, begin)
        sections[name.decode().strip()] = content[begin + 24:begin + 24 + size]
        begin += 24 + size
    about = json.loads(sections["about"])
    about["outputs"] = {key: value for key, value in about["outputs"].items() if not key.startswith("log")}
    sections["about"] = json.dumps(about, sort_keys=True).encode()
    return sections


def difference(old, new):
    """Of two byte strings: where they begin to differ; empty: nowhere."""
    if old == new:
        return ""
    return f"byte {next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))}"


def differences(old, new):
    """Of the outputs of two runs, by file."""
    found = {}
    for suffix in FILES:
        paths = [folder / f"md.{suffix}" for folder in (old, new)]
        if all(path.exists() for path in paths):
            found[suffix] = difference(*(path.read_bytes() for path in paths))
        else:
            found[suffix] = "missing"
    sections = [checkpoint(folder / "md.cpt") for folder in (old, new)]
    differ = [f"{name} {where}" for name in sections[0] if (where := difference(sections[0][name], sections[1].get(name, b"")))]
    found["cpt"] = ", ".join(differ)
    return found


def run(program, system, settings, options, folder):
    """What a failed run says; empty: it has not failed."""
    folder.mkdir()
    (folder / "md.mdp").write_text("".join(f"{key} = {value}\n" for key, value in {**SETTINGS, **settings}.items()))
    command = [program, "run", "-q", "--reproducible", "--threads", "1", *options, "-c", SYSTEMS / system / "conf.gro"]
    command += ["-p", SYSTEMS / system / "topol.top", *(word for warning in ALLOWED for word in ("--allow", warning))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("old", type=Path)
    arguments.add_argument("new", type=Path)
    arguments.add_argument("--gpus", type=int, help="to use of them; default: all")
    arguments.add_argument("--system", default="villin", help="a folder of tests/data/refdata, or another with conf.gro and topol.top")
    arguments.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a run parameter, where all runs are to have another")
    arguments.add_argument("--only", default="", help="runs whose name this expression finds")
    options = arguments.parse_args()
    programs = [options.old.resolve(), options.new.resolve()]
    changed = dict(assignment.split("=", 1) for assignment in options.set)
    gpus = len(visible_gpus()) if options.gpus is None else options.gpus
    compared = different = 0
    for name, settings, where in runs(gpus):
        if not re.search(options.only, name):
            continue
        with tempfile.TemporaryDirectory(prefix="parhelion-bits-") as parent:
            folders = [Path(parent) / side for side in ("old", "new")]
            failures = [run(program, options.system, {**settings, **changed}, where, folder) for program, folder in zip(programs, folders)]
            found = {} if any(failures) else differences(*folders)
        compared += 1
        different += any(failures) or any(found.values())
        told = [f"{side} failed: {text}" for side, text in zip(("old", "new"), failures) if text]
        told += [f"{file}: {where}" for file, where in found.items() if where]
        print(f"{name:60} {'; '.join(told) or 'the same bits'}", flush=True)
    print(f"{compared} runs, {different} of which differ or fail")
    return 0 if compared and not different else 1


if __name__ == "__main__":
    sys.exit(main())
