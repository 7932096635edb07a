#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes lj_mesh.json: energies, forces and virials of LJ-PME by GROMACS' double-precision program, to compare ours with.

    make_lj_mesh.py FOLDER > lj_mesh.json        (works in FOLDER; needs gmx_d; made with 2022.5)

Molecules of three uncharged atoms that exclude each other, of types whose sigma and epsilon follow Lorentz and Berthelot; the third
type has no interaction. The cases differ in the rule of the mesh, the modifier, the tolerance and DispCorr.
"""
import json
import math
import random
import subprocess
import sys
from pathlib import Path

BOX, MOLECULES = (2.2, 2.35, 2.5), 30
TYPES = {"A": (0.30, 0.9), "B": (0.36, 0.5), "H": (0.0, 0.0)}  # sigma, nm; epsilon, kJ/mol
GEOMETRIC, MEAN = "Geometric", "Lorentz-Berthelot"
CASES = [
    {"rule": GEOMETRIC, "modifier": "Potential-shift", "tolerance": 1e-3, "order": 4, "correction": "EnerPres"},
    {"rule": GEOMETRIC, "modifier": "None", "tolerance": 1e-3, "order": 5, "correction": "EnerPres"},
    {"rule": GEOMETRIC, "modifier": "Potential-shift", "tolerance": 1e-5, "order": 6, "correction": "AllEnerPres"},
    {"rule": MEAN, "modifier": "Potential-shift", "tolerance": 1e-3, "order": 4, "correction": "EnerPres"},
    {"rule": MEAN, "modifier": "None", "tolerance": 1e-4, "order": 5, "correction": "No"},
]
POINTS = (24, 25, 28)


def distance(a, b):
    return math.sqrt(sum(min(abs(x - y), edge - abs(x - y)) ** 2 for x, y, edge in zip(a, b, BOX)))


def places():
    draw = random.Random(5)
    x = []
    while len(x) < 3 * MOLECULES:
        first = [draw.uniform(0, edge) for edge in BOX]
        u, v = ([draw.gauss(0, 1) for _ in range(3)] for _ in range(2))
        molecule = [first, [a + 0.2 * b / math.hypot(*u) for a, b in zip(first, u)], [a + 0.15 * b / math.hypot(*v) for a, b in zip(first, v)]]
        molecule = [[round(c % edge, 7) for c, edge in zip(r, BOX)] for r in molecule]
        if all(distance(new, old) > 0.27 for new in molecule[:2] for old in x):
            x += molecule
    return x


def write_inputs(folder, x, case):
    (folder / "topol.top").write_text(
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\n" + "".join(f"{name} 10 0 A {s} {e}\n" for name, (s, e) in TYPES.items()) +
        "[ moleculetype ]\nM 1\n[ atoms ]\n" + "".join(f"{i} {name} 1 M {name} {i} 0 10\n" for i, name in enumerate(TYPES, 1)) +
        f"[ bonds ]\n1 2 1 0.2 0\n1 3 1 0.15 0\n[ exclusions ]\n1 2 3\n2 3\n[ system ]\nmolecules\n[ molecules ]\nM {MOLECULES}\n")
    (folder / "conf.gro").write_text(f"molecules\n{len(x)}\n" + "".join(
        f"{i // 3 + 1:5d}{'M':<5s}{list(TYPES)[i % 3]:>5s}{i + 1:5d}" + "".join(f"{c:13.7f}" for c in r) + "\n" for i, r in enumerate(x)) +
        "".join(f"{edge:13.7f}" for edge in BOX) + "\n")
    (folder / "sp.mdp").write_text(
        "integrator = md\nnsteps = 0\nnstlist = 1\nverlet-buffer-tolerance = -1\nrlist = 0.9\ncoulombtype = PME\nrcoulomb = 0.9\n"
        f"vdwtype = PME\nlj-pme-comb-rule = {case['rule']}\nvdw-modifier = {case['modifier']}\newald-rtol-lj = {case['tolerance']}\n"
        f"rvdw = 0.9\npme-order = {case['order']}\nDispCorr = {case['correction']}\n" +
        "".join(f"fourier-n{axis} = {n}\n" for axis, n in zip("xyz", POINTS)) +
        "nstenergy = 1\nnstfout = 1\nnstcalcenergy = 1\ncomm-mode = None\ncontinuation = yes\n")


def run(folder, *command, stdin=None):
    subprocess.run(command, cwd=folder, check=True, input=stdin, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def last_row(path):
    return [float(w) for w in [line for line in path.read_text().splitlines() if line[0] not in "#@"][-1].split()][1:]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    x, cases = places(), []
    for case in CASES:
        write_inputs(folder, x, case)
        run(folder, "gmx_d", "-nobackup", "grompp", "-f", "sp.mdp", "-c", "conf.gro", "-p", "topol.top", "-maxwarn", "9")
        run(folder, "gmx_d", "-nobackup", "mdrun", "-s", "topol.tpr", "-nt", "1", "-o", "out.trr", "-e", "out.edr")
        terms = ["LJ-(SR)", *(["Disper.-corr."] if case["correction"] != "No" else []), "LJ-recip.",
                 "Vir-XX", "Vir-XY", "Vir-XZ", "Vir-YY", "Vir-YZ", "Vir-ZZ"]
        run(folder, "gmx_d", "-nobackup", "energy", "-f", "out.edr", "-o", "energy.xvg", "-dp", stdin="\n".join(terms) + "\n\n")
        run(folder, "gmx_d", "-nobackup", "traj", "-f", "out.trr", "-s", "topol.tpr", "-of", "forces.xvg", "-fp", stdin="0\n")
        *energies, xx, xy, xz, yy, yz, zz = last_row(folder / "energy.xvg")
        forces = last_row(folder / "forces.xvg")
        cases.append({**case, "lj": energies[0], "corrected": energies[1] if len(energies) > 2 else 0, "reciprocal": energies[-1],
                      "virial": [xx, xy, xz, yy, yz, zz], "forces": [forces[i:i + 3] for i in range(0, len(forces), 3)]})
    json.dump({"box": BOX, "types": list(TYPES.values()), "points": POINTS, "cutoff": 0.9, "x": x, "cases": cases}, sys.stdout)
    print()


main()
