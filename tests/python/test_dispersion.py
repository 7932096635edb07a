# SPDX-License-Identifier: Apache-2.0
"""The correction for what the cut-off leaves out of Lennard-Jones, by all of its settings, is that of gmx_d, from text files as from a .tpr.

The program is $PARHELION_PROGRAM.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runs import DATA, missing

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
from energy_file import read_energies  # noqa: E402

PROGRAM = os.environ.get("PARHELION_PROGRAM", "parhelion")
MDP = """integrator = md
nsteps = 0
coulombtype = reaction-field
rcoulomb = 0.8
rvdw = 0.8
rvdw-switch = 0.55
vdw-modifier = {modifier}
DispCorr = {correction}
continuation = yes
"""
PRESSURE = 1.66053906660 / (10 / 6.02214076)  # of GROMACS' bar in u nm^-1 ps^-2, by the mass of u: 1 - 3.5e-10 of that by Avogadro's number
SETTINGS = ["Ener", "EnerPres", "AllEner", "AllEnerPres"]
TEXT = ["-f", "r.mdp", "-c", DATA / "conf.gro", "-p", DATA / "topol.top"]


def call(folder, *words):
    subprocess.run(list(map(str, words)), cwd=folder, check=True, capture_output=True, env={**os.environ, "GMX_MAXBACKUP": "-1"})


def terms(path):
    names, samples = read_energies(path)
    return dict(zip(names, samples[0].means))


@pytest.mark.parametrize("modifier", ["None", "Potential-shift", "Force-switch", "Potential-switch"])
def test_energy_and_pressure_are_those_of_gromacs(modifier, tmp_path):
    if shutil.which("gmx_d") is None:
        missing("gmx_d")
    found = {}
    for correction in SETTINGS:
        (tmp_path / "r.mdp").write_text(MDP.format(modifier=modifier, correction=correction))
        call(tmp_path, "gmx_d", "grompp", *TEXT, "-o", "p.tpr", "-maxwarn", "9")
        call(tmp_path, "gmx_d", "mdrun", "-s", "p.tpr", "-deffnm", "p", "-nt", "1")
        theirs = found[correction] = terms(tmp_path / "p.edr")
        for name, files in (("text", TEXT), ("file", ["-s", "p.tpr"])):
            call(tmp_path, PROGRAM, "run", *files, "-o", name, "--precision", "double", "--device", "cpu", "--new", "-q")
            ours = terms(tmp_path / f"{name}.edr")
            # gmx_d integrates the virial of a switch over a table. Ours is that of the energy by the volume: tests/interactions/dispersion_test.cpp.
            of_virial = 2e-7 if "switch" in modifier else 1e-10
            for term, unit, tolerance in (("Disper. corr.", 1, 1e-10), ("Pres. DC", PRESSURE, of_virial)):
                assert ours[term] * unit == pytest.approx(theirs[term], rel=tolerance, abs=0), (correction, name, term)
            assert ours["Pressure"] == pytest.approx(theirs["Pressure"], rel=2e-7)  # also the forces of 1-4 pairs are tables there
    assert len({theirs["Disper. corr."] for theirs in found.values()}) == 2  # with and without the repulsion
    assert found["AllEner"]["Pres. DC"] == found["Ener"]["Pres. DC"] == 0
    assert found["AllEnerPres"]["Pres. DC"] != found["EnerPres"]["Pres. DC"]
