# SPDX-License-Identifier: Apache-2.0
"""Minimisations end where those of gmx_d do, and gmx_d finds the forces at their ends as small as asked.

The program is $PARHELION_PROGRAM.
"""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from runs import DATA, missing

PROGRAM = os.environ.get("PARHELION_PROGRAM", "parhelion")
MDP = "nsteps = {steps}\nemtol = {tolerance}\nemstep = {step}\ncoulombtype = Reaction-Field\nepsilon-rf = 0\nrcoulomb = 0.9\nrvdw = 0.9\n"
MINIMISERS = {"steep": "steepest descent", "cg": "conjugate gradients", "l-bfgs": "L-BFGS"}


def ours(folder, integrator, structure, topology, *options, tolerance, step=0.01, steps=-1, mdp=""):
    """Returns potential (kJ/mol) and largest force (kJ/mol/nm) at the end, of the message that tells of it."""
    (folder / "md.mdp").write_text(f"integrator = {integrator}\n" + MDP.format(steps=steps, tolerance=tolerance, step=step) + mdp)
    command = [PROGRAM, "run", "-f", "md.mdp", "-c", structure, "-p", topology, "-o", "md", "--new", "--device", "cpu", "--threads", "1", *options]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    text = result.stdout + result.stderr
    assert result.returncode == 0, text
    end = re.search(MINIMISERS[integrator] + r": converged after \d+ steps; potential (\S+) kJ/mol, largest force (\S+) kJ/mol/nm", text)
    assert end, text
    return float(end[1]), float(end[2])


def gromacs(folder, integrator, structure, topology, tolerance, step=0.01, steps=-1, mdp=""):
    """The same of gmx_d."""
    if shutil.which("gmx_d") is None:
        missing("gmx_d")
    environment = {**os.environ, "GMX_MAXBACKUP": "-1"}
    (folder / "g.mdp").write_text(f"integrator = {integrator}\n" + MDP.format(steps=steps, tolerance=tolerance, step=step) + mdp)
    grompp = ["gmx_d", "grompp", "-f", "g.mdp", "-c", structure, "-p", topology, "-o", "g.tpr", "-maxwarn", "9"]
    subprocess.run(grompp, cwd=folder, check=True, capture_output=True, env=environment)
    mdrun = ["gmx_d", "mdrun", "-s", "g.tpr", "-deffnm", "g", "-nt", "1"]
    text = subprocess.run(mdrun, cwd=folder, check=True, capture_output=True, text=True, env=environment).stderr
    return float(re.search(r"Potential Energy  = +(\S+)", text)[1]), float(re.search(r"Maximum force     = +(\S+)", text)[1])


def write_ethanol(folder, molecules):
    """Writes c.gro and t.top of the first molecules of the box, without the water."""
    topology = (DATA / "topol.top").read_text()
    (folder / "t.top").write_text(topology[:topology.index("[ molecules ]")] + f"[ molecules ]\nETH {molecules}\n")
    lines = (DATA / "conf.gro").read_text().splitlines()
    (folder / "c.gro").write_text("\n".join(["ethanol", str(9 * molecules), *lines[2:2 + 9 * molecules], lines[-1], ""]))


@pytest.mark.parametrize("mdp", ["", "constraints = h-bonds\nlincs-order = 8\nlincs-iter = 4\n"], ids=["flexible", "h-bonds"])
def test_a_molecule_ends_where_gromacs_ends(mdp, tmp_path):
    write_ethanol(tmp_path, 1)
    expected, _ = gromacs(tmp_path, "cg", "c.gro", "t.top", tolerance=0.001, step=0.001, mdp=mdp)
    for integrator in ["steep", "cg"] if mdp else MINIMISERS:
        potential, largest = ours(tmp_path, integrator, "c.gro", "t.top", "--precision", "double", tolerance=0.001, step=0.001, mdp=mdp)
        assert largest <= 0.001
        # The relative error of gmx_d's tables for 1-4 pairs is 2e-7, and such terms are ten times as large as their sum.
        assert potential == pytest.approx(expected, rel=2e-6), integrator


# The .gro has six decimals of the end, which changes a force by less than 0.5 kJ/mol/nm.
@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("integrator, molecules, mdp", [("cg", "all", "constraints = h-bonds\n"), ("cg", 100, ""), ("l-bfgs", 100, ""),
                                                        ("steep", "all", "freezegrps = ETH\nfreezedim = Y Y Y\n")])
def test_gromacs_finds_the_forces_at_the_end_small(integrator, molecules, mdp, precision, tmp_path):
    structure, topology = DATA / "conf.gro", DATA / "topol.top"
    if molecules != "all":
        write_ethanol(tmp_path, molecules)
        structure, topology = "c.gro", "t.top"
    tolerance = 200 if integrator == "steep" else 20
    potential, largest = ours(tmp_path, integrator, structure, topology, "--precision", precision, tolerance=tolerance, mdp=mdp)
    assert largest <= tolerance
    them, their_largest = gromacs(tmp_path, "steep", "md.gro", topology, tolerance=tolerance, steps=0, mdp=mdp)
    assert them == pytest.approx(potential, rel=2e-6)
    assert their_largest == pytest.approx(largest, abs=0.5)


@pytest.mark.parametrize("steps, tolerance", [(25, 0.001), (4000, 200)], ids=["all steps done", "converged"])
@pytest.mark.parametrize("integrator", MINIMISERS)
def test_trr_energy_file_and_log_end_where_the_minimisation_ends(integrator, steps, tolerance, tmp_path):
    """Also if that point is at none of the intervals of output."""
    write_ethanol(tmp_path, 100)
    (tmp_path / "md.mdp").write_text(f"integrator = {integrator}\nnstenergy = 100000\nnstxout = 100000\n" + MDP.format(steps=steps, tolerance=tolerance, step=0.01))
    command = [PROGRAM, "run", "-f", "md.mdp", "-c", "c.gro", "-p", "t.top", "-o", "md", "--device", "cpu", "--threads", "1", "--precision", "double"]
    text = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=300).stderr
    potential = float(re.search(r"potential (\S+) kJ/mol", text)[1])
    report = json.loads(subprocess.run([PROGRAM, "report", "md", "--json"], cwd=tmp_path, check=True, capture_output=True).stdout)
    assert report["runs"][0]["energies"]["frames"] == 2
    assert report["runs"][0]["energies"]["last"]["Potential"] == pytest.approx(potential, rel=1e-7)
    last = json.loads(subprocess.run([PROGRAM, "info", "md.edr", "--json"], cwd=tmp_path, check=True, capture_output=True).stdout)["last_step"]
    log = (tmp_path / "md.log").read_text()
    assert [int(step) for step in re.findall(r"Step +Time\n +(\d+) ", log)] == [0, last]
    trr = json.loads(subprocess.run([PROGRAM, "info", "md.trr", "--json"], cwd=tmp_path, check=True, capture_output=True).stdout)
    assert (trr["frames"], trr["last_step"]) == (2, last)
    again = [PROGRAM, "energy", "-f", "md.mdp", "-c", "c.gro", "-p", "t.top", "-t", "md.trr", "-o", "end", "--precision", "double"]
    subprocess.run(again, cwd=tmp_path, check=True, capture_output=True)
    assert json.loads((tmp_path / "end.energy.json").read_text())["energies"]["Potential"] == pytest.approx(potential, rel=1e-6)
    assert "converged after" in text if tolerance == 200 else last <= steps


@pytest.mark.parametrize("integrator, line", [("steep", "emstep                   = 0.003"), ("cg", "nstcgsteep               = 77"), ("l-bfgs", "nbfgscorr                = 7")])
def test_a_run_input_file_has_the_options_of_its_minimiser(integrator, line, tmp_path):
    write_ethanol(tmp_path, 1)
    gromacs(tmp_path, integrator, "c.gro", "t.top", tolerance=10, step=0.003, steps=0, mdp="nstcgsteep = 77\nnbfgscorr = 7\n")
    subprocess.run([PROGRAM, "convert", "-s", "g.tpr", "-d", "out"], cwd=tmp_path, check=True, capture_output=True)
    assert line in (tmp_path / "out" / "md.mdp").read_text().splitlines()
