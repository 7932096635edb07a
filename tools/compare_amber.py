#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the energies of a system in AMBER's files with those of the same system in GROMACS' files, and with those of gmx_d and OpenMM.

    tools/compare_amber.py build/parhelion FOLDER OUT [--four-sites]

FOLDER has topol.top and conf.gro, with waters WAT of three bonds behind everything else. ParmEd writes them as prmtop and rst7 into OUT.
--four-sites moves the charge of each water to an extra point, with the charges and the distance of TIP4P-Ew. It needs gmx_d, and numpy, scipy,
parmed and openmm from PyPI. The exit code is 1 if a term differs by more than the digits of the files explain.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import openmm
import parmed
from openmm import app, unit
from parmed.amber import AmberFormat
from scipy.special import erfcinv

from energy_file import read_energies

CHARGE = 18.2223  # of an electron in a prmtop
HYDROGEN, POINT, DISTANCE = 0.52422, -1.04844, 0.125  # e, e, Angstrom (Horn et al., doi 10.1063/1.1683075)
CUTOFF, TOLERANCE = 0.9, 1e-6
MDP = """integrator = md
nsteps = 0
dt = 0.0005
coulombtype = PME
coulomb-modifier = None
vdw-modifier = None
rcoulomb = 0.9
rvdw = 0.9
ewald-rtol = 1e-6
pme-order = 8
fourierspacing = 0.05
constraints = none
continuation = yes
nstlist = 1
verlet-buffer-tolerance = -1
rlist = 0.95
nstcalcenergy = 1
nstenergy = 1
"""
# A prmtop has nine digits, and an rst7 seven decimals. OpenMM has PME of order 5 alone, and gets a finer mesh.
OF_FILES, OF_PME = 1e-8, 1e-7
TERMS = {"HarmonicBondForce": ["Bond"], "HarmonicAngleForce": ["Angle"], "PeriodicTorsionForce": ["Proper Dih.", "Per. Imp. Dih."],
         "NonbondedForce": ["LJ-14", "Coulomb-14", "LJ (SR)", "Coulomb (SR)", "Coul. recip."]}


def as_charge(value):
    """The charge that a prmtop's digits say."""
    return float(f"{value * CHARGE:.8E}") / CHARGE


class Points:
    """Inserts a fourth atom into each of the waters, which are the last atoms."""

    def __init__(self, first, waters, oh, hh):
        """first: the first atom of the waters; oh, hh: their distances in Angstrom."""
        self.first, self.waters = first, waters
        self.weight = 0.5 * DISTANCE / math.sqrt(oh**2 - hh**2 / 4)

    def index(self, atom):
        return atom if atom < self.first else atom + (atom - self.first) // 3

    def atoms(self, values, fourth):
        """fourth: of the three atoms of a water."""
        return values[:self.first] + [x for i in range(self.first, len(values), 3) for x in (*values[i:i + 3], fourth(*values[i:i + 3]))]

    def prmtop(self, path):
        file = AmberFormat(str(path))
        data = file.parm_data
        same, none = (lambda oxygen, one, two: one), (lambda *_: 0)
        for name in ("ATOM_TYPE_INDEX", "TREE_CHAIN_CLASSIFICATION", "JOIN_ARRAY", "IROTAT", "RADII", "SCREEN"):  # a hydrogen of water has no Lennard-Jones
            data[name] = self.atoms(data[name], same)
        for name, fourth in (("ATOM_NAME", lambda *_: "EPW"), ("AMBER_ATOM_TYPE", lambda *_: "EP"), ("ATOMIC_NUMBER", none), ("MASS", none)):
            data[name] = self.atoms(data[name], fourth)
        data["CHARGE"] = data["CHARGE"][:self.first] + [0, HYDROGEN, HYDROGEN, POINT] * self.waters  # ParmEd has them in e
        counts = data["NUMBER_EXCLUDED_ATOMS"][:self.first]
        excluded = data["EXCLUDED_ATOMS_LIST"][:sum(counts)]
        for at in range(self.first + 1, self.first + 1 + 4 * self.waters, 4):
            excluded += [at + 1, at + 2, at + 3, at + 2, at + 3, at + 3, 0]
        data["NUMBER_EXCLUDED_ATOMS"], data["EXCLUDED_ATOMS_LIST"] = counts + [3, 2, 1, 1] * self.waters, excluded
        data["RESIDUE_POINTER"] = [self.index(start - 1) + 1 for start in data["RESIDUE_POINTER"]]
        data["BOND_FORCE_CONSTANT"].append(553.0)
        data["BOND_EQUIL_VALUE"].append(DISTANCE)
        kind = len(data["BOND_EQUIL_VALUE"])
        for name in ("BONDS_INC_HYDROGEN", "BONDS_WITHOUT_HYDROGEN"):
            data[name] = [value if i % 3 == 2 else 3 * self.index(value // 3) for i, value in enumerate(data[name])]
        for at in range(self.first, self.first + 4 * self.waters, 4):
            data["BONDS_WITHOUT_HYDROGEN"] += [3 * at, 3 * (at + 3), kind]
        data["ATOMS_PER_MOLECULE"] = [4 if size == 3 else size for size in data["ATOMS_PER_MOLECULE"]]
        pointers = data["POINTERS"]
        for i, value in ((0, len(data["ATOM_NAME"])), (3, pointers[3] + self.waters), (10, len(excluded)), (12, pointers[12] + self.waters), (15, kind), (30, self.waters)):
            pointers[i] = value
        file.write_parm(str(path))

    def places(self, x):
        """In nm, in the same shape as x."""
        return np.array(self.atoms([tuple(place) for place in x], lambda o, a, b: tuple(o[c] + self.weight * (a[c] + b[c] - 2 * o[c]) for c in range(3))))

    def topology(self, text):
        hydrogen = next(line for line in text.splitlines() if line.split()[:1] == ["HW"])
        text = text.replace(hydrogen, hydrogen + "\nEP 0 0 0 D 0 0", 1)
        head, rest = text[:text.rindex("[ moleculetype ]")], text[text.rindex("[ system ]"):]
        water = text[len(head):len(text) - len(rest)]
        bonds = water[water.index("[ bonds ]"):].split("[ exclusions ]")[0]
        q, p = as_charge(HYDROGEN), as_charge(POINT)
        atoms = f"1 OW 1 WAT O 1 0 15.9994\n2 HW 1 WAT H1 2 {q!r} 1.008\n3 HW 1 WAT H2 3 {q!r} 1.008\n4 EP 1 WAT EPW 4 {p!r} 0\n"
        return (f"{head}[ moleculetype ]\nWAT 2\n[ atoms ]\n{atoms}{bonds}\n[ virtual_sites3 ]\n4 1 2 3 1 {self.weight!r} {self.weight!r}\n"
                f"[ exclusions ]\n1 2 3 4\n2 1 3 4\n3 1 2 4\n4 1 2 3\n{rest}")


def write(folder, out, four_sites):
    """OUT/amber.prmtop, amber.rst7, topol.top, conf.gro and md.mdp; returns what adds extra points, or None, and the places in Angstrom."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        structure = parmed.load_file(str(folder / "topol.top"), xyz=str(folder / "conf.gro"))
        structure.save(str(out / "amber.prmtop"), format="amber", overwrite=True)
    x, box = structure.coordinates / 10, np.array(structure.box)
    names = [(atom.residue.number, atom.residue.name, atom.name) for atom in structure.atoms]
    topology, points = (folder / "topol.top").read_text(), None
    if four_sites:
        waters = [residue for residue in structure.residues if residue.name == "WAT"]
        first = waters[0].atoms[0]
        lengths = {other.name: bond.type.req for bond in first.bonds for other in (bond.atom1, bond.atom2) if other is not first}
        across = next(bond.type.req for bond in waters[0].atoms[1].bonds if first not in (bond.atom1, bond.atom2))
        points = Points(first.idx, len(waters), lengths["H1"], across)
        points.prmtop(out / "amber.prmtop")
        x, topology = points.places(x), points.topology(topology)
        names = points.atoms(names, lambda oxygen, one, two: (*oxygen[:2], "EPW"))
    x = np.round(10 * x, 7)  # of an rst7, Angstrom
    numbers = [*x.ravel(), *box]
    text = f"compare_amber.py\n{len(x):6d}\n"
    for part in (numbers[:-6], numbers[-6:]):
        text += "".join("".join(f"{value:12.7f}" for value in part[i:i + 6]) + "\n" for i in range(0, len(part), 6))
    (out / "amber.rst7").write_text(text)
    lines = []
    for i, ((number, residue, name), place) in enumerate(zip(names, x), 1):
        lines.append(f"{number % 100000:5d}{residue:<5}{name:>5}{i % 100000:5d}" + "".join(f"{value / 10:17.12f}" for value in place))
    (out / "conf.gro").write_text("\n".join(["compare_amber.py", str(len(x)), *lines, " ".join(f"{edge / 10:.12f}" for edge in box[:3]), ""]))
    (out / "topol.top").write_text(topology)
    (out / "md.mdp").write_text(MDP)
    return points, x


def ours(program, out, *files):
    words = [program, "energy", "-f", "md.mdp", *files, "-o", "ours", "--precision", "double", "--device", "cpu"]
    subprocess.run(words, cwd=out, check=True, capture_output=True)
    return json.loads((out / "ours.energy.json").read_text())["energies"], np.load(out / "ours.forces.npy")


def gromacs(out):
    environment = {**os.environ, "GMX_MAXBACKUP": "-1", "GMX_NBNXN_EWALD_ANALYTICAL": "1"}
    for words in [("grompp", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "g.tpr", "-maxwarn", "9"), ("mdrun", "-s", "g.tpr", "-deffnm", "g", "-nt", "1")]:
        subprocess.run(["gmx_d", *words], cwd=out, check=True, capture_output=True, env=environment)
    names, samples = read_energies(out / "g.edr")
    return dict(zip(names, samples[0].means))


def of_openmm(out):
    files = app.AmberPrmtopFile(str(out / "amber.prmtop")), app.AmberInpcrdFile(str(out / "amber.rst7"))
    system = files[0].createSystem(nonbondedMethod=app.PME, nonbondedCutoff=CUTOFF * unit.nanometer, constraints=None, rigidWater=False, removeCMMotion=False)
    mesh = [2 ** math.ceil(math.log2(40 * edge[i].value_in_unit(unit.nanometer))) for i, edge in enumerate(files[1].boxVectors)]
    for i, force in enumerate(system.getForces()):
        force.setForceGroup(i)
        if isinstance(force, openmm.NonbondedForce):
            force.setPMEParameters(erfcinv(TOLERANCE) / CUTOFF, *mesh)
            force.setUseDispersionCorrection(False)
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("Reference"))
    context.setPositions(files[1].positions)
    context.setPeriodicBoxVectors(*files[1].boxVectors)
    context.computeVirtualSites()
    return {force.getName(): context.getState(getEnergy=True, groups={i}).getPotentialEnergy()._value for i, force in enumerate(system.getForces())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--four-sites", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    points, x = write(options.folder, options.out, options.four_sites)
    program = options.program.resolve()
    amber, forces = ours(program, options.out, "-c", "amber.rst7", "-p", "amber.prmtop")
    top, same = ours(program, options.out, "-c", "conf.gro", "-p", "topol.top")
    gmx = gromacs(options.out)
    wrong = []

    def compare(what, value, other, tolerance):
        difference = abs(value - other) / max(abs(value), 1e-30)
        print(f"{what:40s} {value:20.8f} {difference:10.1e}")
        wrong.extend([what] if difference > tolerance else [])

    for term in list(amber)[:list(amber).index("Potential") + 1]:
        compare(f"{term}, .top", amber[term], top[term], OF_FILES)
        compare(f"{term}, gmx_d", amber[term], gmx[term], OF_FILES)
    print(f"{'largest difference of forces, .top':40s} {np.abs(forces - same).max() / np.abs(same).max():31.1e}")
    theirs = of_openmm(options.out)
    if points:  # a bond between an oxygen and its point is an energy there
        of_points = x[points.first:].reshape(-1, 4, 3)
        theirs["HarmonicBondForce"] -= 4.184 * 553.0 * np.sum((np.linalg.norm(of_points[:, 3] - of_points[:, 0], axis=1) - DISTANCE) ** 2)
    for name, terms in TERMS.items():
        compare(f"{name}, OpenMM", sum(amber.get(term, 0) for term in terms), theirs[name], OF_PME if name == "NonbondedForce" else OF_FILES)
    if wrong:
        sys.exit("differ: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
