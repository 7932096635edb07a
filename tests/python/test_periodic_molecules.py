# SPDX-License-Identifier: Apache-2.0
"""Molecules bonded to their own images across the box: a sheet of graphene and a zigzag chain, against gmx_d and themselves.

The program is $PARHELION_PROGRAM; runs are on $PARHELION_DEVICE (default: cpu), single points on the CPU.
"""
import json
import os
import re
import shutil
import struct
import subprocess

import numpy as np
import pyedr
import pytest

from runs import missing

FORCE_FIELD = """[ defaults ]
1 2 yes 0.5 0.5
[ atomtypes ]
CA 12.011 0 A 0.355 0.293
CB 12.011 0 A 0.340 0.350
"""
POINT = {
    "integrator": "md", "dt": 0.001, "nsteps": 0, "periodic-molecules": "yes", "cutoff-scheme": "Verlet", "nstlist": 1,
    "coulombtype": "Reaction-Field", "epsilon-rf": 0, "rcoulomb": 0.9, "rvdw": 0.9, "vdw-modifier": "Potential-shift",
    "verlet-buffer-tolerance": -1, "rlist": 0.95, "continuation": "yes", "comm-mode": "none", "nstcalcenergy": 1, "nstenergy": 1,
    "nstfout": 1,
}


class Molecule:
    """Atoms on a lattice that fills the box edge to edge along some axes; bonds go to nearest images."""

    def __init__(self, name, x, box, bond, angle, k_dihedral, reach):
        noise = np.random.default_rng(1).normal(scale=0.004, size=x.shape)
        self.name, self.box, self.x = name, np.asarray(box), np.round(np.mod(x + noise, box), 9)
        apart = np.linalg.norm(self.vectors(x[:, None], x[None]), axis=2)
        self.bonds = [(i, j) for i in range(len(x)) for j in range(i + 1, len(x)) if apart[i, j] < reach]
        near = [sorted([j for pair in self.bonds if i in pair for j in pair if j != i]) for i in range(len(x))]
        angles = [(i, j, k) for j in range(len(x)) for i in near[j] for k in near[j] if i < k]
        dihedrals = [(i, j, k, m) for j, k in self.bonds for i in near[j] if i != k for m in near[k] if m not in (i, j)]
        pairs = sorted({tuple(sorted((d[0], d[3]))) for d in dihedrals})
        lines = [f"[ moleculetype ]\n{name} 3\n[ atoms ]"]
        lines += [f"{i + 1} {'CA' if i % 2 else 'CB'} 1 {name} C{i + 1} {i + 1} {0.05 * (-1) ** i} 12.011" for i in range(len(x))]
        for section, terms, rest in [("bonds", self.bonds, f"1 {bond} 392459.2"), ("pairs", pairs, "1"), ("angles", angles, f"1 {angle} 527.184"),
                                     ("dihedrals", dihedrals, f"1 180 {k_dihedral} 2")]:
            lines += [f"[ {section} ]"] + [" ".join(str(a + 1) for a in term) + " " + rest for term in terms]
        self.topology = FORCE_FIELD + "\n".join(lines) + f"\n[ system ]\nperiodic\n[ molecules ]\n{name} 1\n"

    def vectors(self, a, b):
        difference = a - b
        return difference - self.box * np.round(difference / self.box)


def sheet(cells=(8, 5)):
    cell = np.array([0.142 * 3**0.5, 0.426])
    sites = np.array([[0, 0], [0, 1 / 3], [0.5, 0.5], [0.5, 5 / 6]])
    flat = (np.array(list(np.ndindex(*cells)))[:, None] + sites).reshape(-1, 2) * cell
    return Molecule("GRA", np.column_stack([flat + 0.03, np.full(len(flat), 0.01)]), [*(cells * cell), 2.5], 0.142, 120, 15.167, 0.16)


def chain(atoms=16, gap=0):
    """A zigzag along x; with a gap (nm) it does not reach its image."""
    x = np.array([[0.13 * i, 1 + 0.08 * (i % 2), 0.02] for i in range(atoms)])
    return Molecule("ZIG", x, [0.13 * atoms + gap, 2.2, 2.4], 0.1526, 117, 3.0, 0.18)


def write(folder, molecule, x=None, box=None, v=None, **changes):
    folder.mkdir(exist_ok=True)
    x, box = molecule.x if x is None else x, molecule.box if box is None else box
    (folder / "topol.top").write_text(molecule.topology)
    atoms = [f"    1{molecule.name:<5}{'C' + str(i + 1):>5}{i + 1:5d}" + "".join(f"{c:17.12f}" for c in place) for i, place in enumerate(x)]
    (folder / "conf.gro").write_text("\n".join(["periodic", str(len(x)), *atoms, " ".join(f"{c:.12f}" for c in box), ""]))
    mdp = {**POINT, **{key.replace("_", "-"): value for key, value in changes.items()}}
    (folder / "md.mdp").write_text("".join(f"{key} = {value}\n" for key, value in mdp.items()))


def call(folder, command, *options):
    device = ["--device", os.environ.get("PARHELION_DEVICE", "cpu") if command == "run" else "cpu"]
    words = [os.environ.get("PARHELION_PROGRAM", "parhelion"), command, "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", *device, *options]
    words += [] if command == "check" else ["-o", "md"]
    return subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True)


def run(folder, command, *options):
    result = call(folder, command, *options)
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def point(folder):
    run(folder, "energy", "--precision", "double")
    return json.loads((folder / "md.energy.json").read_text()), np.load(folder / "md.forces.npy")


def theirs(folder):
    """Energies and forces of gmx_d."""
    if shutil.which("gmx_d") is None:
        missing("gmx_d")
    for words in [("grompp", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "t.tpr", "-maxwarn", "9"), ("mdrun", "-s", "t.tpr", "-deffnm", "t", "-nt", "1")]:
        subprocess.run(["gmx_d", *words], cwd=folder, check=True, capture_output=True, env={**os.environ, "GMX_MAXBACKUP": "-1"})
    energies = {term: values[0] for term, values in pyedr.edr_to_dict(str(folder / "t.edr")).items()}
    return energies, forces_of_trr((folder / "t.trr").read_bytes())


def forces_of_trr(data):
    """Of the first frame, in double precision: the last of its blocks, whose sizes stand behind the version."""
    text = 4 + struct.unpack(">i", data[8:12])[0]
    sizes = struct.unpack(">13i", data[8 + text : 8 + text + 52])
    begin = 8 + text + 52 + 16 + sum(sizes[:9])  # 16: time and lambda
    return np.frombuffer(data[begin : begin + sizes[9]], dtype=">f8").reshape(-1, 3)


@pytest.mark.parametrize("molecule", [sheet(), chain()], ids=["sheet", "chain"])
def test_energies_and_forces_are_gromacs(tmp_path, molecule):
    write(tmp_path, molecule)
    ours, f = point(tmp_path)
    energies, forces = theirs(tmp_path)
    for term in ("Bond", "Angle", "Proper Dih.", "LJ (SR)", "Coulomb (SR)", "LJ-14", "Coulomb-14"):
        # 1-4 pairs: gmx_d has them from tables.
        assert ours["energies"][term] == pytest.approx(energies[term], rel=1e-8 if "14" in term else 1e-12), term
    assert np.abs(energies["Proper Dih."]) > 1e-3
    assert np.sqrt(np.mean((f - forces) ** 2)) < 1e-7 * np.sqrt(np.mean(forces**2))


@pytest.mark.parametrize("coulomb", ["Reaction-Field", "PME"])
@pytest.mark.parametrize("molecule", [sheet(), chain()], ids=["sheet", "chain"])
def test_the_virial_is_the_derivative_by_the_strain(tmp_path, molecule, coulomb):
    step = 1e-5
    changes = {"coulombtype": coulomb, "pme-order": 8, "fourier-nx": 64, "fourier-ny": 64, "fourier-nz": 64, "vdw-modifier": "Force-switch", "rvdw-switch": 0.7}
    write(tmp_path, molecule, **changes)
    virial = np.array(point(tmp_path)[0]["virial"])
    for axis in range(3):
        energy = []
        for sign in (1, -1):
            scale = np.ones(3)
            scale[axis] += sign * step
            write(tmp_path, molecule, x=molecule.x * scale, box=molecule.box * scale, **changes)
            energy.append(point(tmp_path)[0]["energies"]["Potential"])
        # A tensile strain does work against -2 virial: the virial is -1/2 sum r f, and f = -dE/dr.
        assert 0.5 * (energy[0] - energy[1]) / (2 * step) == pytest.approx(virial[axis, axis], rel=2e-6, abs=2e-6 * np.abs(virial).max())


DYNAMICS = {
    "nsteps": 60, "continuation": "no", "gen-vel": "yes", "gen-temp": 300, "gen-seed": 1, "verlet-buffer-tolerance": 0.005, "nstlist": 10, "nstfout": 0,
    "nstxout": 20, "nstvout": 20, "comm-mode": "linear", "nstcomm": 10, "tcoupl": "V-rescale", "tc-grps": "System", "tau-t": 0.5, "ref-t": 300, "ld-seed": 1,
}


def outputs(folder):
    return [(folder / f"md.{ending}").read_bytes() for ending in ("gro", "edr", "trr")]


@pytest.mark.parametrize("barostat", ["no", "C-rescale"])
def test_ranks_and_threads_have_the_same_bits(tmp_path, barostat):
    changes = {**DYNAMICS, "rvdw": 0.7, "rcoulomb": 0.7, "pcoupl": barostat, "tau-p": 2, "ref-p": 1, "compressibility": 4.5e-5, "refcoord-scaling": "com"}
    runs = []
    for i, options in enumerate([("--threads", 1), ("--threads", 2), ("--grid", "2x1x1"), ("--grid", "1x2x1"), ("--grid", "2x2x1", "--halo", "direct")]):
        write(tmp_path / str(i), sheet((12, 7)), **changes)
        run(tmp_path / str(i), "run", "-q", "--reproducible", *options)
        runs.append(outputs(tmp_path / str(i)))
    assert all(other == runs[0] for other in runs[1:])


def written(folder):
    lines = (folder / "md.gro").read_text().splitlines()
    return np.array([re.findall(r"-?\d+\.\d{6}", line)[:3] for line in lines[2:-1]], float)


@pytest.mark.parametrize("molecule", [sheet(), chain()], ids=["sheet", "chain"])
def test_atoms_are_written_where_they_are_in_the_box(tmp_path, molecule):
    write(tmp_path, molecule, x=molecule.x + [5 * molecule.box[0], -1.1, 0], **DYNAMICS)
    run(tmp_path, "run", "-q")
    assert "N191" in (tmp_path / "md.log").read_text()
    x = written(tmp_path)
    assert (x >= 0).all() and (x <= molecule.box + 1e-6).all()
    lengths = [np.linalg.norm(molecule.vectors(x[i], x[j])) for i, j in molecule.bonds]
    assert 0.11 < min(lengths) and max(lengths) < 0.19


def test_a_chain_that_ends_in_the_box_is_still_written_whole(tmp_path):
    molecule = chain(gap=1.0)
    write(tmp_path, molecule, x=np.mod(molecule.x + [1.5, 0, 0], molecule.box), **DYNAMICS)
    run(tmp_path, "run", "-q")
    assert "N191" not in (tmp_path / "md.log").read_text()
    assert np.linalg.norm(np.diff(written(tmp_path), axis=0), axis=1).max() < 0.3


def test_constraints_across_the_box_are_kept(tmp_path):
    molecule = chain()
    write(tmp_path, molecule, **{**DYNAMICS, "constraints": "all-bonds", "lincs-order": 6, "dt": 0.002})
    run(tmp_path, "run", "-q", "--precision", "double")
    x = written(tmp_path)
    lengths = np.array([np.linalg.norm(molecule.vectors(x[i], x[j])) for i, j in molecule.bonds])
    assert len(lengths) == 16 and np.abs(lengths - 0.1526).max() < 2e-6  # six decimals


def test_a_bond_of_half_the_box_is_refused(tmp_path):
    molecule = chain()
    molecule.topology = molecule.topology.replace("\n1 2 1 0.1526", "\n1 2 1 1.0401")
    write(tmp_path, molecule)
    result = call(tmp_path, "check")
    assert result.returncode == 4 and "E570" in result.stderr and "1.0401" in result.stderr, result.stderr
