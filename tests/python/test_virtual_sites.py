# SPDX-License-Identifier: Apache-2.0
"""Virtual sites in whole runs: which terms among them grompp leaves out, restarts, trajectories, and energy that is conserved.

The program is $PARHELION_PROGRAM.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ensembles import drift
from runs import by_night, missing, outputs, run as run_program
from simulation import PME, Box, WATER, face_centred, run, write_gro

DATA = Path(__file__).resolve().parents[1] / "data" / "sites"
RUN = """
integrator = md
dt = 0.0005
nsteps = 60
nstlist = 7
coulombtype = reaction-field
epsilon-rf = 0
rcoulomb = 0.6
rvdw = 0.6
gen-vel = yes
gen-seed = 1
tcoupl = v-rescale
tc-grps = System
tau-t = 0.1
ref-t = 300
pcoupl = C-rescale
tau-p = 1
compressibility = 4.5e-5
ref-p = 1
ld-seed = 7
nstxout = 20
nstvout = 20
nstxout-compressed = 10
nstcalcenergy = 5
nstenergy = 20
nstlog = 20
"""
PROGRAM = os.environ.get("PARHELION_PROGRAM", "parhelion")


def simulate(path, *options):
    path.mkdir(exist_ok=True)
    (path / "md.mdp").write_text(RUN)
    run_program(path, "-q", "--device", "cpu", *options, structure=DATA / "conf.gro", topology=DATA / "topol.top")
    return path


@pytest.fixture(scope="module")
def in_one(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("one"), "--threads", 1)


@pytest.mark.parametrize("options", [("--threads", 2), ("--grid", "2x1x1"), ("--grid", "2x2x2")], ids=str)
def test_every_layout_has_the_bits_of_one_rank(options, in_one, tmp_path):
    threads = () if "--threads" in options else ("--threads", 1)
    assert outputs(simulate(tmp_path / "run", *options, *threads)) == outputs(in_one)


def test_a_run_that_is_continued_has_the_bits_of_one_that_is_not(in_one, tmp_path):
    simulate(tmp_path / "run", "--threads", 1, "--steps", 30)
    assert outputs(simulate(tmp_path / "run", "--grid", "1x1x2", "--threads", 1)) == outputs(in_one)


# A molecule with a site of each kind, and terms among its atoms; what grompp leaves out is no energy of it.
KINDS = {"3": "3 1 0.3 0.2", "3fd": "3 2 0.3 0.1", "3fad": "3 3 110 0.1", "3out": "3 4 0.3 0.2 1", "n": "n 1"}
TERMS = ["[ bonds ]\n5 1 1 0.1 1000", "[ bonds ]\n5 2 1 0.1 1000", "[ bonds ]\n5 3 1 0.1 1000", "[ bonds ]\n5 4 1 0.1 1000",
         "[ angles ]\n5 1 2 1 100 100", "[ angles ]\n5 1 3 1 100 100", "[ angles ]\n5 1 4 1 100 100", "[ dihedrals ]\n5 1 2 3 1 0 10 2",
         "[ dihedrals ]\n5 1 2 3 2 0 10", "[ dihedrals ]\n5 1 2 4 1 0 10 2", "[ dihedrals ]\n5 1 2 3 3 1 2 3 4 5 6"]


def molecule(name, kind, term, held, copies):
    section, *rest = KINDS[kind].split(" ", 1)
    function = rest[0]
    site = f"5 {function} 1 2 3" if section == "n" else f"5 1 2 3 {function}"
    atoms = "".join(f"{i} {'X' if i == 5 else 'C'} 1 MOL A{i} 1 0\n" for i in range(1, 6))
    constraints = "[ constraints ]\n1 2 1 0.15\n2 3 1 0.24\n1 3 1 0.15\n" if held else ""
    head, line = term.split("\n")
    return (f"[ moleculetype ]\n{name} 3\n[ atoms ]\n{atoms}[ bonds ]\n3 4 1 0.15 1000\n{constraints}[ virtual_sites{section} ]\n{site}\n"
            f"{head}\n" + copies * f"{line}\n" + "[ exclusions ]\n1 2 3 4 5\n2 3 4 5\n3 4 5\n4 5\n")


def molecule_of_each_term(kind, held):
    """The nth term 2^n times in a molecule of its own: how many terms there are in all tells which."""
    names = [f"M{n}" for n in range(len(TERMS))]
    return ("[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 12.011 0 A 0.3 0.4\nX 0 0 V 0.1 0.1\n" +
            "".join(molecule(name, kind, term, held, 2**n) for n, (name, term) in enumerate(zip(names, TERMS))) +
            "[ system ]\none\n[ molecules ]\n" + "".join(f"{name} 1\n" for name in names))


POINT = """integrator = md
nsteps = 0
nstlist = 1
coulombtype = reaction-field
rcoulomb = 0.9
rvdw = 0.9
verlet-buffer-tolerance = -1
rlist = 1
continuation = yes
comm-mode = none
nstcalcenergy = 1
nstenergy = 1
"""


def number_of_terms(dump):
    """By kind, of the terms that gmx dump shows, in all molecules."""
    return {kind: sum(int(number) // (1 + atoms) for number in re.findall(rf"^ +{re.escape(kind)}:\n +nr: (\d+)", dump, re.M))
            for kind, atoms in (("Bond", 2), ("Angle", 3), ("Proper Dih.", 4), ("Improper Dih.", 4), ("Ryckaert-Bell.", 4))}


def test_terms_are_left_out_as_by_grompp(tmp_path):
    if shutil.which("gmx") is None:
        missing("gmx")
    x = np.array([[1, 1, 1], [1.15, 1, 1], [0.97, 1.147, 1], [1, 1.2, 1.12], [1.05, 1.05, 1.05]])
    write_gro(tmp_path / "conf.gro", [(n + 1, "MOL", f"A{i}", place + [n, 0, 0]) for n in range(len(TERMS)) for i, place in enumerate(x, 1)], 3 + len(TERMS))
    (tmp_path / "md.mdp").write_text(POINT)
    every, wrong = 2 ** len(TERMS) - 1, []
    for kind, held in [(kind, held) for kind in KINDS for held in (False, True)]:
        (tmp_path / "topol.top").write_text(molecule_of_each_term(kind, held))
        subprocess.run(["gmx", "grompp", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "a.tpr", "-maxwarn", "9"], cwd=tmp_path, check=True,
                       capture_output=True, env={**os.environ, "GMX_MAXBACKUP": "-1"})
        dump = subprocess.run(["gmx", "dump", "-s", "a.tpr"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        theirs = sum(number_of_terms(dump).values()) - len(TERMS)  # without the bond that each molecule has besides
        ours = subprocess.run([PROGRAM, "check", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "--allow", "W126"], cwd=tmp_path, capture_output=True, text=True)
        assert ours.returncode == 0, ours.stderr
        left_out = re.search(r"N195.* (\d+) bonded terms", ours.stdout + ours.stderr)
        kept = every - (int(left_out[1]) if left_out else 0)
        wrong += [(kind, TERMS[n], held) for n in range(len(TERMS)) if (kept ^ theirs) >> n & 1]
    assert wrong == []


TIP4P = """[ defaults ]
1 2 no 1 1
[ atomtypes ]
OW 15.9994 0 A 0.31644 0.77492
HW 1.008 0 A 0 0
MW 0 0 D 0 0
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW 1 0
2 HW 1 SOL HW1 1 0.52422
3 HW 1 SOL HW2 1 0.52422
4 MW 1 SOL MW 1 -1.04844 0
[ settles ]
1 1 0.09572 0.15139
[ virtual_sites3 ]
4 1 2 3 1 0.10676721 0.10676721
[ exclusions ]
1 2 3 4
2 1 3 4
3 1 2 4
4 1 2 3
[ system ]
water
[ molecules ]
SOL 256
"""


def four_site_water(folder):
    rng = np.random.default_rng(1)
    atoms = []
    for i, oxygen in enumerate(face_centred(4, 2.0), 1):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        half, height = 0.5 * 0.15139 * axes[1], np.sqrt(0.09572**2 - 0.25 * 0.15139**2) * axes[0]
        atoms += [(i, "SOL", "OW", oxygen), (i, "SOL", "HW1", oxygen + height + half), (i, "SOL", "HW2", oxygen + height - half), (i, "SOL", "MW", [0, 0, 0])]
    box = Box(Path(folder) / "water.gro", Path(folder) / "water.top", 4 * 256, 6 * 256)
    write_gro(box.structure, atoms, 2.0)
    box.topology.write_text(TIP4P)
    return box


@pytest.mark.parametrize("coulomb", [by_night({}), PME], ids=["reaction_field", "pme"])
def test_four_site_water_keeps_its_energy_and_temperature(tmp_path, coulomb):
    box = four_site_water(tmp_path)
    start = {"continuation": "no", "gen-vel": "yes", "gen-temp": 300, "gen-seed": 1, "rcoulomb": 0.8, "rvdw": 0.8, "vdw-modifier": "Force-switch", "rvdw-switch": 0.6,
             "DispCorr": "no", **coulomb}
    heat = {"integrator": "sd", "tc-grps": "System", "ref-t": 300, "tau-t": 0.1}
    run(tmp_path / "heat", box, WATER, start, heat, time=4)
    begin = Box(tmp_path / "heat" / "run.gro", box.topology, box.atoms, box.degrees_of_freedom)
    result = run(tmp_path / "nve", begin, WATER, start, {"continuation": "yes", "gen-vel": "no"}, time=10)
    slope, error = drift(result, 300)
    # 10 ps of a thousand atoms tell no more; 0.01 is what the nightly runs ask of longer ones.
    assert abs(slope) < 0.05 + 3 * error
    kinetic, temperature = result["Kinetic En."], result["Temperature"]
    assert temperature == pytest.approx(2 * kinetic / ((box.degrees_of_freedom - 3) * 8.31446261815324e-3), rel=1e-4)
