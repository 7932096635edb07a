#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes ions.json: reciprocal energies, forces and virials of ions by GROMACS' double-precision program, to compare ours with.

    make_ions.py FOLDER > ions.json        (works in FOLDER; needs gmx_d; made with 2022.5)

Ten ions without dispersion, all farther apart than the cut-off, so that nothing but the mesh acts: orders 3 to 8, an even and an odd
grid, without and with a net charge. With one there is no virial: that of gmx_d 2022.5 has a term of another dimension.
"""
import itertools
import json
import random
import subprocess
import sys
from pathlib import Path

BOX, CUTOFF = (4.0, 4.5, 5.0), 0.9
CHARGES = {"neutral": [1, -1, 0.5, -0.5, 2, -2, 1, -1, 0.75, -0.75], "charged": [1, -1, 0.5, 0.5, 2, -2, 1, 1, 0.75, -0.75]}
GRIDS = [(36, 40, 44), (35, 39, 45)]


def places():
    draw = random.Random(3)
    x = []
    while len(x) < 10:
        new = [round(draw.uniform(0, edge), 9) for edge in BOX]
        distances = (sum(min(abs(a - b), edge - abs(a - b)) ** 2 for a, b, edge in zip(new, old, BOX)) ** 0.5 for old in x)
        if all(d > 1.3 for d in distances):
            x.append(new)
    return x


def write_inputs(folder, x, charges, order, grid):
    kinds = "".join(f"[ moleculetype ]\nM{i} 1\n[ atoms ]\n1 A 1 ION A 1 {q} 10\n" for i, q in enumerate(charges))
    (folder / "topol.top").write_text("[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nA 10 0 A 0 0\n" + kinds +
                                      "[ system ]\nions\n[ molecules ]\n" + "".join(f"M{i} 1\n" for i in range(len(charges))))
    (folder / "conf.gro").write_text(f"ions\n{len(x)}\n" + "".join(
        f"{i:5d}{'ION':<5s}{'A':>5s}{i:5d}" + "".join(f"{c:14.9f}" for c in r) + "\n" for i, r in enumerate(x, 1)) +
        "".join(f"{edge:14.9f}" for edge in BOX) + "\n")
    (folder / "sp.mdp").write_text(
        f"integrator = md\nnsteps = 0\ncutoff-scheme = Verlet\nnstlist = 1\nverlet-buffer-tolerance = -1\nrlist = {CUTOFF}\n"
        f"coulombtype = PME\nrcoulomb = {CUTOFF}\nrvdw = {CUTOFF}\npme-order = {order}\n" +
        "".join(f"fourier-n{axis} = {n}\n" for axis, n in zip("xyz", grid)) +
        "nstenergy = 1\nnstfout = 1\nnstcalcenergy = 1\ncomm-mode = None\ncontinuation = yes\n")


def run(folder, *command, stdin=None):
    subprocess.run(command, cwd=folder, check=True, input=stdin, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def last_row(path):
    return [float(w) for w in [line for line in path.read_text().splitlines() if line[0] not in "#@"][-1].split()][1:]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    x, cases = places(), []
    for (name, charges), order, grid in itertools.product(CHARGES.items(), range(3, 9), GRIDS):
        write_inputs(folder, x, charges, order, grid)
        run(folder, "gmx_d", "-nobackup", "grompp", "-f", "sp.mdp", "-c", "conf.gro", "-p", "topol.top", "-maxwarn", "9")
        run(folder, "gmx_d", "-nobackup", "mdrun", "-s", "topol.tpr", "-nt", "1", "-o", "out.trr", "-e", "out.edr")
        terms = ["Coul.-recip.", "Vir-XX", "Vir-XY", "Vir-XZ", "Vir-YY", "Vir-YZ", "Vir-ZZ"]
        run(folder, "gmx_d", "-nobackup", "energy", "-f", "out.edr", "-o", "energy.xvg", "-dp", stdin="\n".join(terms) + "\n\n")
        run(folder, "gmx_d", "-nobackup", "traj", "-f", "out.trr", "-s", "topol.tpr", "-of", "forces.xvg", "-fp", stdin="0\n")
        energy, *virial = last_row(folder / "energy.xvg")
        forces = last_row(folder / "forces.xvg")
        cases.append({"charges": name, "order": order, "points": grid, "energy": energy,
                      "virial": virial if name == "neutral" else None, "forces": [forces[i:i + 3] for i in range(0, 30, 3)]})
    json.dump({"box": BOX, "cutoff": CUTOFF, "x": x, "charges": CHARGES, "cases": cases}, sys.stdout)
    print()


main()
