# SPDX-License-Identifier: Apache-2.0
"""What several files of tests do with a run: begin it in a folder of its own, stop it, compare what it wrote with what another did.

The program is $PARHELION_PROGRAM.
"""
import json
import os
import re
import signal
import subprocess
import time
import warnings
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[1] / "data" / "refdata" / "etoh"
# A coupling of each kind that has a state or a random number, and a list interval that divides none of the others. Short cut-offs: hundreds of
# these runs are compared byte by byte, and pairs take most of their time.
RUN = """
integrator = md
dt = 0.002
nsteps = 400
cutoff-scheme = Verlet
verlet-buffer-tolerance = -1
rlist = 0.7
nstlist = 7
coulombtype = reaction-field
epsilon-rf = 0
rcoulomb = 0.6
rvdw = 0.6
constraints = h-bonds
continuation = yes
tcoupl = v-rescale
tc-grps = System
tau-t = 0.1
ref-t = 300
pcoupl = C-rescale
tau-p = 1
compressibility = 4.5e-5
ref-p = 1
ld-seed = 7
nstxout = 90
nstvout = 90
nstxout-compressed = 10
nstcalcenergy = 5
nstenergy = 20
nstlog = 100
"""
SHORT = RUN.replace("nsteps = 400", "nsteps = 60")
NICS = ["-q", "--threads", 1, "--transport", "nic-emulation"]


def missing(what):
    """Ends a test that needs a program or package which is not installed: as skipped, with a warning; where CI is set, as failed."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing")
    warnings.warn(f"NOT TESTED: {what} is missing")
    pytest.skip(f"{what} is missing")


IS_NIGHT = os.environ.get("PARHELION_TEST_ALL") == "1"


def by_night(*values, marks=()):
    """A case that a change does not run: with $PARHELION_TEST_ALL=1 alone."""
    return pytest.param(*values, marks=[pytest.mark.skipif(not IS_NIGHT, reason="by night"), *marks])


def command(*options, structure=DATA / "conf.gro", topology=DATA / "topol.top"):
    program = os.environ.get("PARHELION_PROGRAM")
    if program is None:
        pytest.skip("$PARHELION_PROGRAM is not set")
    return [str(word) for word in [program, "run", "-c", structure, "-p", topology, "--reproducible", *options]]


def run(folder, *options, code=0, seconds=400, **files):
    result = subprocess.run(command(*options, **files), cwd=folder, capture_output=True, text=True, timeout=seconds)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def interrupt(folder, *options, by=signal.SIGTERM, after_bytes=1):
    """Starts a run that would go on for hours, sends the signal once its .xtc has that many bytes, and returns the exit code."""
    process = subprocess.Popen(command(*options, "--steps", 1000000), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    xtc = folder / "md.xtc"
    while process.poll() is None and (not xtc.exists() or xtc.stat().st_size < after_bytes):
        time.sleep(0.005)
    process.send_signal(by)
    return process.wait(timeout=300)


def stop_early(folder, *options, **how):
    """Stops a run before step 400. One that gets further, because this process was given no core in time, is begun again."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for _ in range(10):
        assert interrupt(folder, *options, **how) == 3
        if step_reached(folder) < 400:
            return
        for path in folder.iterdir():
            path.unlink()
        for name, content in before.items():
            (folder / name).write_bytes(content)
    pytest.fail("no run could be stopped in time")


def step_reached(folder):
    """Of the checkpoint that a run goes on from: the one before, where a kill came between the two renamings of a new one."""
    newest = folder / "md.cpt"
    about = (newest if newest.exists() else folder / "md.prev.cpt").read_bytes()[56:]
    return json.JSONDecoder().raw_decode(about.decode("latin-1"))[0]["reached"]


def outputs(folder):
    """The binary files, and the tables of the log without what tells of the machine and of interruptions."""
    log = re.findall(r"^ +Step +Time\n.*\n\n +Energies.*\n(?:.+\n)+", (folder / "md.log").read_text(), re.MULTILINE)
    averages = (folder / "md.log").read_text().split("Averages over")[-1].split("\n\n")[0]
    return {**{name: (folder / name).read_bytes() for name in ["md.xtc", "md.trr", "md.edr", "md.gro"]}, "log": log, "averages": averages}


def folder_with(mdp, path):
    path.mkdir(exist_ok=True)
    (path / "md.mdp").write_text(mdp)
    return path


def assert_same_outputs(folder, uninterrupted):
    got, expected = outputs(folder), outputs(uninterrupted)
    assert len(expected["log"]) == 5
    assert [name for name in expected if got[name] != expected[name]] == []
