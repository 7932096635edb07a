# SPDX-License-Identifier: Apache-2.0
"""From one stage of a simulation to the next: `run -t FILE`, from our checkpoints and from trajectories of GROMACS.

The program is $PARHELION_PROGRAM.
"""
import json
import os
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from runs import missing

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "refdata" / "etoh"
FILES = ("-c", DATA / "conf.gro", "-p", DATA / "topol.top")
NVT = """
integrator = md
dt = 0.002
nsteps = 40
cutoff-scheme = Verlet
verlet-buffer-tolerance = -1
rlist = 1.0
nstlist = 10
coulombtype = reaction-field
epsilon-rf = 0
rcoulomb = 0.9
rvdw = 0.9
constraints = h-bonds
continuation = yes
tcoupl = {tcoupl}
tc-grps = System
tau-t = 1
ref-t = 300
nstxout = 20
nstvout = 20
"""
NPT = NVT.replace("nsteps = 40", "nsteps = 0") + """
pcoupl = C-rescale
tau-p = 5
compressibility = 4.5e-5
ref-p = 1
"""


def parhelion(*arguments, folder, code=0):
    program = os.environ.get("PARHELION_PROGRAM")
    if program is None:
        pytest.skip("$PARHELION_PROGRAM is not set")
    result = subprocess.run([program, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def gmx(program, *arguments, folder):
    if shutil.which(program) is None:
        missing(program)
    result = subprocess.run([program, "-quiet", "-nobackup", *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr


def read_checkpoint(path):
    """Its description, and the bytes of its positions and velocities (src/io/input/checkpoint.cpp)."""
    data, at, sections = path.read_bytes(), 32, []
    while at < len(data):
        _, size, _ = struct.unpack_from("<3Q", data, at)
        sections.append(data[at + 24:at + 24 + size])
        at += 24 + size
    return json.loads(sections[0]), *sections[1:]


@pytest.mark.parametrize("precision", ["mixed", "double"])
def test_a_checkpoint_hands_over_every_bit_of_positions_and_velocities(tmp_path, precision):
    (tmp_path / "nvt.mdp").write_text(NVT.format(tcoupl="v-rescale"))
    (tmp_path / "npt.mdp").write_text(NPT.format(tcoupl="v-rescale"))
    parhelion("run", "-f", "nvt.mdp", *FILES, "-o", "nvt", "--precision", precision, folder=tmp_path)
    text = parhelion("run", "-f", "npt.mdp", *FILES, "-t", "nvt.cpt", "-o", "npt", "--precision", precision, folder=tmp_path)
    assert "nvt.cpt, step 40, 0.08 ps: positions, velocities, box" in text and text.count("nvt.cpt, step 40") == 1
    before, after = read_checkpoint(tmp_path / "nvt.cpt"), read_checkpoint(tmp_path / "npt.cpt")
    assert before[1] == after[1] and before[2] == after[2]
    assert before[0]["box_nm"] == after[0]["box_nm"] and (before[0]["step"], after[0]["step"]) == (40, 0)
    # The .gro of the first run is no such hand-over.
    parhelion("run", "-f", "npt.mdp", "-c", "nvt.gro", "-p", DATA / "topol.top", "-o", "rounded", "--precision", precision, folder=tmp_path)
    assert read_checkpoint(tmp_path / "rounded.cpt")[1] != before[1]


def test_a_checkpoint_of_another_precision_is_rounded(tmp_path):
    (tmp_path / "nvt.mdp").write_text(NVT.format(tcoupl="v-rescale"))
    (tmp_path / "npt.mdp").write_text(NPT.format(tcoupl="v-rescale"))
    parhelion("run", "-f", "nvt.mdp", *FILES, "-o", "nvt", "--precision", "double", folder=tmp_path)
    parhelion("run", "-f", "npt.mdp", *FILES, "-t", "nvt.cpt", "-o", "npt", folder=tmp_path)
    fine = np.frombuffer(read_checkpoint(tmp_path / "nvt.cpt")[1], "<u8")
    coarse = np.frombuffer(read_checkpoint(tmp_path / "npt.cpt")[1], "<u4")
    difference = (fine - (coarse.astype("u8") << 32)).astype("i8")
    assert np.abs(difference.astype(float)).max() <= 2.0**31 * (1 + 1e-6)


def test_friction_and_velocity_of_the_box_go_on_where_both_runs_have_them(tmp_path):
    barostat = NPT[len(NVT.replace("nsteps = 40", "nsteps = 0")):].replace("C-rescale", "Parrinello-Rahman")
    (tmp_path / "one.mdp").write_text(NVT.format(tcoupl="nose-hoover") + barostat)
    (tmp_path / "two.mdp").write_text(NVT.format(tcoupl="nose-hoover").replace("nsteps = 40", "nsteps = 0").replace("ref-t = 300", "ref-t = 310") + barostat)
    parhelion("run", "-f", "one.mdp", *FILES, "-o", "one", "--reproducible", folder=tmp_path)
    text = parhelion("run", "-f", "two.mdp", *FILES, "-t", "one.cpt", "-o", "two", "--reproducible", folder=tmp_path)
    assert "friction of the thermostat, velocity of the box" in text
    before, after = (read_checkpoint(tmp_path / f"{name}.cpt")[0]["coupling"] for name in ("one", "two"))
    assert before["thermostat-xi"] == after["thermostat-xi"] != [0]
    assert before["box-velocity"] == after["box-velocity"] != [0, 0, 0]
    assert before["thermostat-xi-integral"] != after["thermostat-xi-integral"] == [0]  # energies begin anew


@pytest.mark.parametrize("program, precision, bound", [("gmx", "mixed", 0), ("gmx_d", "double", 0)])
def test_a_trr_of_gromacs_hands_over_what_it_holds(tmp_path, program, precision, bound):
    mda = pytest.importorskip("MDAnalysis")
    (tmp_path / "nvt.mdp").write_text(NVT.format(tcoupl="v-rescale"))
    (tmp_path / "npt.mdp").write_text(NPT.format(tcoupl="v-rescale").replace("tcoupl", "nstfout = 20\ntcoupl"))
    gmx(program, "grompp", "-f", "nvt.mdp", *FILES, "-o", "nvt.tpr", folder=tmp_path)
    gmx(program, "mdrun", "-s", "nvt.tpr", "-deffnm", "nvt", "-nt", 1, folder=tmp_path)
    text = parhelion("run", "-f", "npt.mdp", *FILES, "-t", "nvt.trr", "-o", "npt", "--precision", precision, folder=tmp_path)
    assert "nvt.trr, 0.08 ps: positions, velocities, box" in text
    dtype = ">f8" if precision == "double" else ">f4"
    width = np.dtype(dtype).itemsize

    def last_frame(path):
        """Positions and velocities of the last frame (the format: src/io/output/trr.cpp)."""
        data, at = path.read_bytes(), 0
        while at < len(data):
            sizes = struct.unpack_from(">10i", data, at + 24)
            atoms, body = struct.unpack_from(">i", data, at + 64)[0], at + 24 + 52 + 2 * width
            start = body + sum(sizes[:7])
            at = body + sum(sizes)
        return [np.frombuffer(data, dtype, 3 * atoms, start + k * 3 * atoms * width).reshape(-1, 3) for k in (0, 1)]

    theirs, ours = last_frame(tmp_path / "nvt.trr"), last_frame(tmp_path / "npt.trr")
    assert np.array_equal(theirs[1], ours[1])  # every bit
    edges = np.array(read_checkpoint(tmp_path / "npt.cpt")[0]["box_nm"])
    difference = (ours[0] - theirs[0]).astype(float)
    difference -= edges * np.round(difference / edges)
    grid = edges / 2.0**32 if precision == "mixed" else edges * 2.0**-52
    # Either file rounds a position once, and they may hold different images of it.
    assert (np.abs(difference) <= grid + 2 * np.finfo(dtype).eps * (np.abs(theirs[0]) + edges)).all()
    # And theirs of what we write.
    assert len(mda.Universe(str(DATA / "conf.gro"), str(tmp_path / "npt.trr")).trajectory) == 1
    parhelion("run", "-f", "npt.mdp", *FILES, "-t", "nvt.trr", "--time", 0.03, "-o", "early", folder=tmp_path)
    assert "nvt.trr, 0.04 ps" in (tmp_path / "early.log").read_text()


def test_a_run_that_was_handed_over_continues_like_others(tmp_path):
    (tmp_path / "nvt.mdp").write_text(NVT.format(tcoupl="v-rescale"))
    (tmp_path / "npt.mdp").write_text(NPT.format(tcoupl="v-rescale").replace("nsteps = 0", "nsteps = 40"))
    parhelion("run", "-f", "nvt.mdp", *FILES, "-o", "nvt", folder=tmp_path)
    again = ("run", "-f", "npt.mdp", *FILES, "-t", "nvt.cpt", "-o", "npt")
    parhelion(*again, "--steps", 20, folder=tmp_path)
    assert "continuing at step" in parhelion(*again, folder=tmp_path)
    parhelion("run", "-f", "nvt.mdp", *FILES, "-o", "nvt", "--steps", 60, folder=tmp_path)
    text = parhelion(*again, "--steps", 60, folder=tmp_path, code=4)
    assert "E191" in text and "state handed over" in text


def test_a_run_writes_over_no_state_that_it_starts_from(tmp_path):
    (tmp_path / "md.mdp").write_text(NVT.format(tcoupl="v-rescale"))
    parhelion("run", *FILES, folder=tmp_path)
    assert "E194" in parhelion("run", *FILES, "-t", "md.cpt", "--new", folder=tmp_path, code=4)


def test_energy_and_check_take_the_state_too(tmp_path):
    (tmp_path / "md.mdp").write_text(NVT.format(tcoupl="v-rescale"))
    parhelion("run", *FILES, folder=tmp_path)
    assert "md.cpt, step 40" in parhelion("check", *FILES, "-t", "md.cpt", folder=tmp_path)
    parhelion("energy", *FILES, "-t", "md.cpt", "-o", "end", folder=tmp_path)
    log = (tmp_path / "md.log").read_text()
    potential = json.loads((tmp_path / "end.energy.json").read_text())["energies"]["Potential"]
    last = log[log.rindex("Potential", 0, log.index("Averages")):].split("\n")[1].split()
    assert any(abs(float(value) - potential) < 1e-4 * abs(potential) for value in last), (last, potential)
