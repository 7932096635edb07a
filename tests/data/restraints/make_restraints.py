#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes restraints.json: energies, forces and virials of restraints by GROMACS' double-precision program, to compare ours with.

    make_restraints.py FOLDER > restraints.json        (works in FOLDER; needs gmx_d; made with 2022.5)

Molecules of eight atoms without charge and dispersion, with made-up restraints of all kinds: dihedrals at both walls, flat and over
the border of 180 degrees; angles with multiplicities, shared atoms and the z axis; distances below, above and far above their bounds;
harmonic and flat-bottomed positions in all geometries, inverted and not, for every refcoord-scaling, with a reference in a box of
another size. Files are kept as they were given to gmx_d, positions with 14 decimals. Energies have 12 decimals, forces 15 digits.
"""
import json
import random
import subprocess
import sys
from pathlib import Path

ATOMS = 8
BOX, REFERENCE_BOX = (3.0, 3.3, 3.6), (3.06, 3.2, 3.64)  # nm

HEAD = "[ defaults ]\n1 1 no 1 1\n[ atomtypes ]\nC 12.0 0.0 A 0 0\n"
DIHEDRALS = """[ dihedral_restraints ]
1 2 3 4 1 -120 2.5 300
2 3 4 5 1 170 20 200
3 4 5 6 1 -175 0 100
4 5 6 7 1 30 25 DIHRES_FC
5 6 7 8 1 180 10 150
"""
ANGLES = """[ angle_restraints ]
1 2 3 4 1 40 100 2
1 2 1 5 1 140 100 1
2 3 7 8 1 70 250 3
[ angle_restraints_z ]
1 2 1 40 100 2
5 7 1 100 100 1
"""
DISTANCES = """[ distance_restraints ]
1 8 1 0 1 0.1 0.2 0.3 1.0
2 7 1 1 1 0.9 1.0 1.1 2.0
3 5 1 2 2 0.0 0.1 1.2 0.5
1 4 1 7 1 0.0 2.0 2.5 1.0
"""
# Of several pairs: beyond up2, below low, between up1 and up2.
JOINT = """[ distance_restraints ]
1 8 1 0 1 0.1 0.2 0.3 1.0
2 7 1 3 1 0.1 0.12 0.13 2.0
1 6 1 3 1 0.1 0.12 0.13 2.0
3 8 1 3 1 0.1 0.12 0.13 2.0
2 5 1 4 2 0.9 1.0 1.1 0.5
4 7 1 4 2 0.9 1.0 1.1 0.5
1 5 1 9 1 0.1 0.12 0.9 1.5
7 3 1 9 1 0.1 0.12 0.9 1.5
4 8 1 9 1 0.1 0.12 0.9 1.5
6 2 1 9 1 0.1 0.12 0.9 1.5
"""
POSITIONS = "[ position_restraints ]\n1 1 100 200 300\n3 1 50 70 90\n" + "".join(
    f"{atom} 2 {atom} {radius} {k}\n" for radius, k in ((0.08, 500), (-0.25, 400)) for atom in range(1, ATOMS + 1))
OTHER_POSITIONS = "[ position_restraints ]\n5 2 1 0.05 500\n6 2 8 -0.3 100\n"

MDP = """integrator = md
nsteps = 0
dt = 0.001
nstlist = 1
rlist = 1.2
verlet-buffer-tolerance = -1
coulombtype = Cut-off
rcoulomb = 1.2
rvdw = 1.2
continuation = yes
comm-mode = none
nstcalcenergy = 1
nstenergy = 1
nstxout = 1
nstfout = 1
"""

# name: (sections of the first molecule type, blocks, further options)
CASES = {
    "dihedrals": (DIHEDRALS, "ONE 3\n", "define = -DDIHRES_FC=250.5\n"),
    "angles": (ANGLES, "ONE 3\n", ""),
    "distances": (DISTANCES, "ONE 1\n", "disre = simple\ndisre-fc = 1500\n"),
} | {
    f"positions, refcoord-scaling = {scaling}": (POSITIONS, "ONE 2\nTWO 2\nONE 2\n", f"refcoord-scaling = {scaling}\n")
    for scaling in ("no", "all", "com")
} | {
    f"joint distances, {weighting}": (JOINT, "ONE 1\n", f"disre = simple\ndisre-fc = 1500\ndisre-weighting = {weighting}\n")
    for weighting in ("conservative", "equal")
}


def molecule(name, sections):
    atoms = "".join(f"{i} C 1 RES C{i} 1 0 {10 + i}\n" for i in range(1, ATOMS + 1))
    return f"[ moleculetype ]\n{name} 3\n[ atoms ]\n{atoms}{sections}"


def topology(sections, blocks):
    return HEAD + molecule("ONE", sections) + molecule("TWO", OTHER_POSITIONS) + f"[ system ]\ns\n[ molecules ]\n{blocks}"


def molecules(blocks):
    return sum(int(line.split()[1]) for line in blocks.splitlines())


def places(count, draw):
    x = []
    for _ in range(count):
        x.append([draw.uniform(0, edge) for edge in BOX])
        for _ in range(ATOMS - 1):
            step = [draw.gauss(0, 1) for _ in range(3)]
            length = draw.uniform(0.13, 0.2) / sum(s * s for s in step)**0.5
            x.append([a + length * s for a, s in zip(x[-1], step)])
    return x


def gro(x, box):
    lines = [f"{i // ATOMS + 1:5d}{'RES':<5s}{'C%d' % (i % ATOMS + 1):>5s}{i + 1:5d}" + "".join(f"{c:20.14f}" for c in p)
             for i, p in enumerate(x)]
    return f"s\n{len(x)}\n" + "\n".join(lines) + "\n" + " ".join(f"{edge:.5f}" for edge in box) + "\n"


def run(folder, *command, stdin=None):
    return subprocess.run(command, cwd=folder, check=True, input=stdin, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def last_row(path):
    return [float(w) for w in [line for line in path.read_text().splitlines() if line[0] not in "#@"][-1].split()[1:]]


def names_in(path):
    return [line.split('"')[1] for line in path.read_text().splitlines() if line.startswith("@ s") and " legend " in line]


def evaluate(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)
    run(folder, "gmx_d", "grompp", "-f", "run.mdp", "-c", "conf.gro", "-r", "reference.gro", "-p", "topol.top", "-maxwarn", "2")
    run(folder, "gmx_d", "mdrun", "-nt", "1", "-o", "out.trr", "-e", "out.edr")
    run(folder, "gmx_d", "energy", "-f", "out.edr", "-o", "energy.xvg", "-dp", stdin="\n".join(map(str, range(1, 40))) + "\n\n")
    run(folder, "gmx_d", "traj", "-f", "out.trr", "-s", "topol.tpr", "-of", "forces.xvg", "-fp", stdin="0\n")
    values = dict(zip(names_in(folder / "energy.xvg"), last_row(folder / "energy.xvg")))
    rests = {name: value for name, value in values.items() if name.endswith(("Rest.", "Rest. Z", "P-R."))}
    virial = [values["Vir-" + a + b] for a in "XYZ" for b in "XYZ"]
    return {"files": files, "energies": rests, "virial": virial, "forces": last_row(folder / "forces.xvg")}


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    results = {}
    for name, (sections, blocks, options) in CASES.items():
        draw = random.Random(7)
        x = places(molecules(blocks), draw)
        near = [[c + draw.gauss(0, 0.1) for c in p] for p in x]
        files = {"run.mdp": MDP + options, "topol.top": topology(sections, blocks), "conf.gro": gro(x, BOX),
                 "reference.gro": gro(near, REFERENCE_BOX)}
        results[name] = evaluate(folder, files)
    json.dump(results, sys.stdout)
    print()


main()
