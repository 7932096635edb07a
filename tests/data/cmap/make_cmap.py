#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes cmap.json: energies and forces of a CMAP term by GROMACS' double-precision program, to compare ours with.

    make_cmap.py FOLDER > cmap.json        (works in FOLDER; needs gmx_d; made with 2022.5)

One molecule of five atoms without charge and dispersion has one CMAP term with a map of 24 x 24 made-up values: a few waves and noise
as rough as that of a force field. A trajectory takes its two dihedral angles over a grid of 36 x 36 angles, none of them a node of the
map: at psi of exactly 180 degrees rounding takes gmx_d 2022.5 to a cell beside the map (it is off by up to 7 kJ/mol there). The atoms'
places are a formula, the same as in tests/forces/cmap_test.cpp. Energies have 12 decimals, forces 15 digits.
"""
import json
import math
import random
import subprocess
import sys
from pathlib import Path

NODES, STEPS, BOX = 24, 36, 4.0
ANGLES = [-180 + (k + 0.35) * 360 / STEPS for k in range(STEPS)]  # degrees


def grid():
    draw = random.Random(5)

    def value(i, j):
        phi, psi = (2 * math.pi * k / NODES for k in (i, j))
        waves = 8 * math.cos(phi + 0.4) + 6 * math.sin(2 * psi - phi) + 4 * math.cos(phi + 3 * psi) - 3 * math.sin(2 * phi)
        return round(waves + draw.uniform(-2, 2), 5)
    return [value(i, j) for i in range(NODES) for j in range(NODES)]


def places(phi, psi):
    """Atoms 0 .. 4, bonds of 0.15 nm, all bond angles 110 degrees, the dihedrals as given (degrees)."""
    bond, bend = 0.15, math.radians(110)
    x = [(0.0, 0.0, 0.0), (bond, 0.0, 0.0), (bond - bond * math.cos(bend), bond * math.sin(bend), 0.0)]
    for angle in (phi, psi):
        a, b, c = x[-3:]
        bc, ab = sub(c, b), sub(b, a)
        axis = scaled(bc, 1 / norm(bc))
        n = cross(ab, axis)
        n = scaled(n, 1 / norm(n))
        m = cross(n, axis)
        along, out, up = -bond * math.cos(bend), bond * math.sin(bend) * math.cos(math.radians(angle)), \
            bond * math.sin(bend) * math.sin(math.radians(angle))
        x.append(tuple(c[d] + along * axis[d] + out * m[d] + up * n[d] for d in range(3)))
    return x


def sub(a, b):
    return tuple(a[d] - b[d] for d in range(3))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def norm(a):
    return math.sqrt(sum(x * x for x in a))


def scaled(a, s):
    return tuple(s * x for x in a)


def write_inputs(folder, values, frames):
    lines = "\\\n".join(" ".join(str(v) for v in values[i:i + 10]) for i in range(0, len(values), 10))
    bonds = "\n".join(f"{i} {i + 1} 1 0.15 1000" for i in range(1, 5))
    (folder / "topol.top").write_text(f"""[ defaults ]
1 1 no 1 1
[ atomtypes ]
A 12 0 A 0 0
B 12 0 A 0 0
[ cmaptypes ]
A B A B A 1 {NODES} {NODES}\\
{lines}
[ moleculetype ]
M 4
[ atoms ]
""" + "\n".join(f"{i} {'AB'[(i - 1) % 2]} 1 R X{i} {i} 0 12" for i in range(1, 6)) + f"""
[ cmap ]
1 2 3 4 5 1
[ system ]
s
[ molecules ]
M 1
""")
    (folder / "sp.mdp").write_text("integrator = md\nnsteps = 0\ncutoff-scheme = Verlet\ncoulombtype = Reaction-Field\n"
                                   "epsilon-rf = 0\nrcoulomb = 1\nrvdw = 1\nnstenergy = 1\nnstfout = 1\nnstcalcenergy = 1\n")
    with open(folder / "frames.gro", "w") as out:
        for phi, psi in frames:
            out.write("s\n5\n")
            for i, x in enumerate(places(phi, psi), 1):
                out.write(f"{1:5d}{'R':<5s}{'X%d' % i:>5s}{i:5d}" + "".join(f"{c + BOX / 2:22.16f}" for c in x) + "\n")
            out.write(f"{BOX:.5f} {BOX:.5f} {BOX:.5f}\n")
    text = (folder / "frames.gro").read_text().splitlines(keepends=True)
    (folder / "conf.gro").write_text("".join(text[:8]))


def run(folder, *command, stdin=None):
    subprocess.run(command, cwd=folder, check=True, input=stdin, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def columns(path):
    return [[float(w) for w in line.split()] for line in path.read_text().splitlines() if line[0] not in "#@"]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    values = grid()
    frames = [(phi, psi) for phi in ANGLES for psi in ANGLES]
    write_inputs(folder, values, frames)
    run(folder, "gmx_d", "grompp", "-f", "sp.mdp", "-c", "conf.gro", "-p", "topol.top", "-maxwarn", "1")
    run(folder, "gmx_d", "mdrun", "-rerun", "frames.gro", "-nt", "1", "-o", "out.trr", "-e", "out.edr")
    run(folder, "gmx_d", "energy", "-f", "out.edr", "-o", "energy.xvg", "-dp", stdin="CMAP-Dih.\n\n")
    run(folder, "gmx_d", "traj", "-f", "out.trr", "-s", "topol.tpr", "-of", "forces.xvg", "-fp", stdin="0\n")
    energies = [row[1] for row in columns(folder / "energy.xvg")]
    forces = [row[1:] for row in columns(folder / "forces.xvg")]
    assert len(energies) == len(forces) == len(frames)
    json.dump({"grid": values, "angles": ANGLES, "energies": energies, "forces_of_every_100th": forces[::100]}, sys.stdout)
    print()


main()
