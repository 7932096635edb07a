# SPDX-License-Identifier: Apache-2.0
"""Systems that AMBER's files describe have the energies and forces of the same systems as GROMACS' files, of gmx_d and of OpenMM, term by term.

The files are those of amber_files.py. OpenMM reads the prmtop by itself; gmx_d, which reads no prmtop, evaluates the .top that says the same.
The program is $PARHELION_PROGRAM.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import netcdf_file

import amber_files
from runs import missing

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
from energy_file import read_energies  # noqa: E402

PROGRAM = os.environ.get("PARHELION_PROGRAM", "parhelion")
OCTAHEDRON = (109.471219, 109.471219, 109.471219)
SYSTEMS = {
    "three sites": {}, "four sites": {"site": 0.125}, "maps": {"maps": 2, "waters": 10}, "octahedron": {"angles": OCTAHEDRON, "edge": 5.2, "waters": 30},
    "chamber": {"charmm": True, "scaling": ((1.0, 1.0),), "maps": 2, "waters": 10},
    "several scales": {"scaling": ((1.2, 2.0), (1.0, 1.0), (1.5, 2.5)), "waters": 10},
}
POINT = {"integrator": "md", "nsteps": 0, "dt": 0.0005, "coulombtype": "PME", "rcoulomb": 1.0, "rvdw": 1.0, "fourierspacing": 0.12, "vdw-modifier": "None", "constraints": "none",
         "continuation": "yes"}


def write_mdp(folder, **changes):
    options = {**POINT, **{key.replace("_", "-"): value for key, value in changes.items()}}
    (folder / "run.mdp").write_text("".join(f"{key} = {value}\n" for key, value in options.items()))


def program(folder, command, kind, *words):
    files = ("amber.rst7", "amber.prmtop") if kind == "amber" else ("gromacs.gro", "gromacs.top")
    call = [PROGRAM, command, "-f", "run.mdp", "-c", files[0], "-p", files[1], "--device", "cpu", *map(str, words)]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=300)


def energies(folder, kind, *words):
    result = program(folder, "energy", kind, "-o", kind, "--precision", "double", *words)
    assert result.returncode == 0, result.stderr
    return json.loads((folder / f"{kind}.energy.json").read_text())["energies"], np.load(folder / f"{kind}.forces.npy")


@pytest.mark.parametrize("kind", SYSTEMS)
def test_energies_and_forces_are_those_of_the_same_top(kind, tmp_path):
    amber_files.solution(**SYSTEMS[kind]).write(tmp_path)
    write_mdp(tmp_path)
    (amber, forces), (gromacs, same) = energies(tmp_path, "amber"), energies(tmp_path, "gromacs")
    assert set(amber) == set(gromacs)
    for term, value in gromacs.items():
        assert amber[term] == pytest.approx(value, rel=1e-11, abs=1e-8), term  # positions differ by rounding of their units
    assert np.abs(forces - same).max() < 1e-8 * np.abs(same).max()


@pytest.mark.parametrize("kind", SYSTEMS)
def test_terms_are_those_of_gromacs(kind, tmp_path):
    if shutil.which("gmx_d") is None:
        missing("gmx_d")
    amber_files.solution(**SYSTEMS[kind]).write(tmp_path)
    write_mdp(tmp_path)
    ours, _ = energies(tmp_path, "amber")
    environment = {**os.environ, "GMX_MAXBACKUP": "-1", "GMX_NBNXN_EWALD_ANALYTICAL": "1"}
    for words in [("grompp", "-f", "run.mdp", "-c", "gromacs.gro", "-p", "gromacs.top", "-o", "p.tpr", "-maxwarn", "9"), ("mdrun", "-s", "p.tpr", "-deffnm", "p", "-nt", "1")]:
        subprocess.run(["gmx_d", *words], cwd=tmp_path, check=True, capture_output=True, env=environment)
    names, samples = read_energies(tmp_path / "p.edr")
    theirs = dict(zip(names, samples[0].means))
    # As in test_stages.py: gmx_d takes 1-4 pairs from tables, and its Coulomb (SR) is a difference of terms a hundred times as large.
    less = {"LJ-14": 1e-7, "Coulomb-14": 1e-9, "Coulomb (SR)": 1e-7, "Potential": 1e-7, "CMAP Dih.": 1e-6}
    for term in names[:names.index("Potential") + 1]:
        assert ours[term] == pytest.approx(theirs[term], rel=less.get(term, 1e-10), abs=1e-9), term


@pytest.mark.parametrize("kind", [kind for kind in SYSTEMS if kind != "octahedron"])
def test_terms_are_those_of_openmm(kind, tmp_path):
    try:
        import openmm
        from openmm import app
    except ImportError:
        missing("OpenMM")
    # No image is within the cut-off, and no pair beyond it: the energies of a cluster, which OpenMM computes without a box.
    files = amber_files.solution(**{**SYSTEMS[kind], "edge": 12.0})
    files.write(tmp_path)
    write_mdp(tmp_path, coulombtype="Cut-off", coulomb_modifier="None", rcoulomb=4.5, rvdw=4.5)
    ours, _ = energies(tmp_path, "amber")
    topology = app.AmberPrmtopFile(str(tmp_path / "amber.prmtop"))
    system = topology.createSystem(nonbondedMethod=app.NoCutoff, constraints=None, rigidWater=False, removeCMMotion=False)
    theirs = {}
    for i, force in enumerate(system.getForces()):
        force.setForceGroup(i)
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("Reference"))
    context.setPositions(app.AmberInpcrdFile(str(tmp_path / "amber.rst7")).positions)
    context.computeVirtualSites()
    for i, force in enumerate(system.getForces()):
        theirs[force.getName()] = theirs.get(force.getName(), 0) + context.getState(getEnergy=True, groups={i}).getPotentialEnergy()._value
    # OpenMM divides charges by 18.2223 also in CHARMM's files, which were multiplied by the root of 332.0716.
    for term in ("Coulomb-14", "Coulomb (SR)"):
        ours[term] *= (files.charge / amber_files.CHARGE)**2
    of_ours = {
        "HarmonicBondForce": ["Bond", "Angle", "U-B"], "PeriodicTorsionForce": ["Proper Dih.", "Per. Imp. Dih."], "CMAPTorsionForce": ["CMAP Dih."],
        "ImproperTorsionForce": ["Improper Dih."],
        "NonbondedForce": ["LJ-14", "Coulomb-14", "LJ (SR)", "Coulomb (SR)"],
    }
    # A bond of the ends of an angle is that angle's here. OpenMM has Lennard-Jones of its own pairs of types apart.
    theirs["HarmonicBondForce"] += theirs.pop("HarmonicAngleForce") + theirs.pop("UreyBradleyForce", 0)
    theirs["NonbondedForce"] += theirs.pop("CustomNonbondedForce", 0)
    for name, terms in of_ours.items():
        assert sum(ours.get(term, 0) for term in terms) == pytest.approx(theirs.get(name, 0), rel=1e-8, abs=1e-6), name


def test_a_run_with_constrained_hydrogens_has_rigid_water(tmp_path):
    amber_files.solution(site=0.125).write(tmp_path)
    write_mdp(tmp_path, nsteps=20, dt=0.002, constraints="h-bonds", tcoupl="v-rescale", tc_grps="System", tau_t=0.5, ref_t=300, continuation="no")
    result = program(tmp_path, "run", "amber", "-o", "amber", "-q")
    assert result.returncode == 0, result.stderr
    assert "60 rigid triangles" in (tmp_path / "amber.log").read_text()
    checked = program(tmp_path, "check", "amber")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("kind", ["three sites", "octahedron"])
def test_a_restart_file_is_what_other_readers_take_and_the_start_of_the_next_run(kind, tmp_path):
    amber_files.solution(**SYSTEMS[kind]).write(tmp_path)
    write_mdp(tmp_path, nsteps=20, constraints="h-bonds", continuation="no", gen_vel="yes", gen_temp=300, gen_seed=3, nstxout=20, nstvout=20)
    for folder in (tmp_path, tmp_path):  # a file of that name is kept
        result = program(folder, "run", "amber", "-o", "md", "-q", "--new", "--rst7", "--precision", "double")
        assert result.returncode == 0, result.stderr
    assert (tmp_path / "#md.rst7.1#").exists()
    refused = program(tmp_path, "run", "amber", "-o", "amber", "-q", "--rst7")  # amber.rst7 is the start
    assert refused.returncode == 4 and "E194" in refused.stderr
    trr = (tmp_path / "md.trr").read_bytes()
    file = netcdf_file(tmp_path / "md.rst7", mmap=False)
    atoms = file.dimensions["atom"]
    frame = np.frombuffer(trr[-8 * 6 * atoms:], ">f8").reshape(2, atoms, 3)  # positions and velocities of the last frame
    assert (file.Conventions, file.ConventionVersion, float(file.variables["time"].data)) == (b"AMBERRESTART", b"1.0", pytest.approx(0.01))
    places, speeds = (file.variables[name].data for name in ("coordinates", "velocities"))
    np.testing.assert_allclose(places, 10 * frame[0], rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(20.455 * speeds, 10 * frame[1], rtol=1e-15)
    angles = file.variables["cell_angles"].data
    np.testing.assert_allclose(angles, 90 if kind == "three sites" else 109.471219, atol=1e-6)

    write_mdp(tmp_path, constraints="h-bonds")  # the next run begins with these positions, velocities and this box
    for name, start in (("next", "md.rst7"), ("same", "md.gro")):
        words = ["energy", "-f", "run.mdp", "-p", "amber.prmtop", "-c", start, "-o", name, "--precision", "double", "--device", "cpu"]
        assert subprocess.run([PROGRAM, *words], cwd=tmp_path, capture_output=True).returncode == 0
    ours, rounded = (json.loads((tmp_path / f"{name}.energy.json").read_text())["energies"] for name in ("next", "same"))
    assert ours["Potential"] == pytest.approx(rounded["Potential"], rel=1e-4)  # the .gro has six decimals


def test_openmm_reads_a_restart_file(tmp_path):
    try:
        from openmm import app, unit
    except ImportError:
        missing("OpenMM")
    amber_files.solution(**SYSTEMS["three sites"]).write(tmp_path)
    write_mdp(tmp_path, nsteps=5, continuation="no", gen_vel="yes", gen_temp=300, gen_seed=3)
    assert program(tmp_path, "run", "amber", "-o", "md", "-q", "--rst7").returncode == 0
    theirs = app.AmberInpcrdFile(str(tmp_path / "md.rst7"))
    lines = (tmp_path / "md.gro").read_text().splitlines()
    ours = np.array([[float(line[20 + 11 * i:31 + 11 * i]) for i in range(6)] for line in lines[2:-1]])  # six decimals, seven of velocities
    np.testing.assert_allclose(theirs.getPositions(asNumpy=True).value_in_unit(unit.nanometer), ours[:, :3], atol=1e-6)
    np.testing.assert_allclose(theirs.getVelocities(asNumpy=True).value_in_unit(unit.nanometer / unit.picosecond), ours[:, 3:], atol=1e-6)
    np.testing.assert_allclose([edge[i].value_in_unit(unit.nanometer) for i, edge in enumerate(theirs.getBoxVectors())], [float(word) for word in lines[-1].split()], atol=1e-5)


def test_what_an_mdp_asks_of_a_preprocessor_is_told(tmp_path):
    amber_files.solution(waters=3).write(tmp_path)
    write_mdp(tmp_path, define="-DPOSRES")
    result = program(tmp_path, "energy", "amber", "-o", "amber")
    assert result.returncode == 4 and "W024" in result.stderr
