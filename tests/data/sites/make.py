#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of this folder: a box of molecules with virtual sites of every kind, and what gmx_d says about it.

    python3 make.py        # needs numpy and gmx_d (GROMACS 2022.5 in double precision)

Sites that are made of other sites are of kinds that gmx_d constructs later than those: it spreads forces in the opposite order of
kinds, and forces of sites of one kind that are made of each other not at all. Nor does it hand on forces on a site of
[ virtual_sites1 ]: there is none here.
"""
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
EDGE, CELLS = 2.6, 5

TOPOLOGY = """; made by make.py; the numbers are nobody's force field
[ defaults ]
1 2 no 1 1
[ atomtypes ]
O  15.9994 0 A 0.3154 0.6485
H  1.008   0 A 0      0
C  12.011  0 A 0.33   0.40
X  0       0 V 0.25   0.20
M  0       0 D 0      0

[ moleculetype ]
WAT 2 ; four sites, rigid
[ atoms ]
1 O 1 WAT OW  1 0
2 H 1 WAT HW1 1 0.52
3 H 1 WAT HW2 1 0.52
4 M 1 WAT MW  1 -1.04 0
[ settles ]
1 1 0.09572 0.15139
[ virtual_sites3 ]
4 1 2 3 1 0.128012065 0.128012065
[ exclusions ]
1 2 3 4
2 1 3 4
3 1 2 4
4 1 2 3

[ moleculetype ]
WA5 2 ; five sites, flexible
[ atoms ]
1 O 1 WA5 OW  1 0
2 H 1 WA5 HW1 1 0.241
3 H 1 WA5 HW2 1 0.241
4 M 1 WA5 LP1 1 -0.241 0
5 M 1 WA5 LP2 1 -0.241 0
[ bonds ]
1 2 1 0.09572 300000
1 3 1 0.09572 300000
[ angles ]
2 1 3 1 104.52 400
[ virtual_sites3 ]
4 1 2 3 4 -0.344908262 -0.344908262 -6.4437903493
5 1 2 3 4 -0.344908262 -0.344908262 6.4437903493
[ exclusions ]
1 2 3 4 5
2 1 3 4 5
3 1 2 4 5
4 1 2 3 5
5 1 2 3 4

[ moleculetype ]
TWO 3 ; on lines
[ atoms ]
1 C 1 TWO C1 1 0.1
2 C 1 TWO C2 1 0.1
3 X 1 TWO S1 1 -0.3 0
4 X 1 TWO S2 1 0.2 0
5 X 1 TWO S3 1 -0.1 0
[ bonds ]
1 2 1 0.16 200000
[ virtual_sites2 ]
3 1 2 1 0.3
5 2 1 1 -0.2
4 2 1 2 0.1
[ exclusions ]
1 2 3 4 5
2 3 4 5
3 4 5
4 5

[ moleculetype ]
TRE 3 ; on three atoms
[ atoms ]
1 C 1 TRE C1 1 0.15
2 C 1 TRE C2 1 0.05
3 C 1 TRE C3 1 -0.1
4 X 1 TRE S1 1 0.2 0
5 X 1 TRE S2 1 -0.3 0
[ bonds ]
1 2 1 0.15 200000
1 3 1 0.16 200000
[ angles ]
2 1 3 1 105 400
[ virtual_sites3 ]
4 1 2 3 2 0.4 -0.105
5 1 2 3 3 118 0.11
[ exclusions ]
1 2 3 4 5
2 3 4 5
3 4 5
4 5

[ moleculetype ]
FOR 3 ; on four atoms, and a site of sites
[ atoms ]
1 C 1 FOR C1 1 0.1
2 C 1 FOR C2 1 0.1
3 C 1 FOR C3 1 0.1
4 C 1 FOR C4 1 -0.1
5 X 1 FOR S1 1 0.25 0
6 X 1 FOR S2 1 -0.25 0
7 X 1 FOR S3 1 -0.2 0
[ bonds ]
1 2 1 0.15 200000
1 3 1 0.15 200000
1 4 1 0.15 200000
[ angles ]
2 1 3 1 111 400
2 1 4 1 109 400
3 1 4 1 110 400
[ virtual_sites4 ]
5 1 2 3 4 2 0.9 1.1 -0.108
[ virtual_sites2 ]
6 2 3 1 0.35
[ virtual_sitesn ]
7 3 5 0.3 6 0.5 4 0.4
[ exclusions ]
1 2 3 4 5 6 7
2 3 4 5 6 7
3 4 5 6 7
4 5 6 7
5 6 7
6 7

[ moleculetype ]
ANY 3 ; means of any number
[ atoms ]
1 C 1 ANY C1 1 0.1
2 O 1 ANY C2 1 0.1
3 C 1 ANY C3 1 0.1
4 O 1 ANY C4 1 0.1
5 X 1 ANY S1 1 -0.2 0
6 X 1 ANY S2 1 -0.1 0
7 X 1 ANY S3 1 -0.1 0
[ bonds ]
1 2 1 0.16 200000
2 3 1 0.16 200000
3 4 1 0.16 200000
1 4 1 0.16 200000
[ dihedrals ]
1 2 3 4 2 20 200
[ virtual_sitesn ]
5 1 1 2 3 4
6 2 1 2 4
7 3 1 0.2 3 0.3 4 0.6
[ exclusions ]
1 2 3 4 5 6 7
2 3 4 5 6 7
3 4 5 6 7
4 5 6 7
5 6 7
6 7

[ system ]
virtual sites of every kind
[ molecules ]
WAT 70
WA5 11
TWO 11
TRE 11
FOR 11
ANY 11
"""

# One copy of each: names, and places of the atoms that are no sites.
T = np.deg2rad(0.5 * 104.52)
WATER = [[0, 0, 0], [0.09572 * np.sin(T), 0.09572 * np.cos(T), 0], [-0.09572 * np.sin(T), 0.09572 * np.cos(T), 0]]
WATER[1][0], WATER[2][0] = 0.5 * 0.15139, -0.5 * 0.15139
WATER[1][1] = WATER[2][1] = np.sqrt(0.09572**2 - 0.25 * 0.15139**2)
MOLECULES = {
    "WAT": (70, ["OW", "HW1", "HW2", "MW"], WATER), "WA5": (11, ["OW", "HW1", "HW2", "LP1", "LP2"], WATER),
    "TWO": (11, ["C1", "C2", "S1", "S2", "S3"], [[0, 0, 0], [0.158, 0, 0]]),
    "TRE": (11, ["C1", "C2", "C3", "S1", "S2"], [[0, 0, 0], [0.15, 0, 0], [-0.04, 0.153, 0]]),
    "FOR": (11, ["C1", "C2", "C3", "C4", "S1", "S2", "S3"], [[0, 0, 0], [0.14, 0, 0.05], [-0.07, 0.12, 0.05], [-0.07, -0.12, 0.05]]),
    "ANY": (11, ["C1", "C2", "C3", "C4", "S1", "S2", "S3"], [[0, 0, 0], [0.16, 0, 0], [0.16, 0.16, 0.02], [0, 0.16, 0]]),
}


def unit(v):
    return v / np.linalg.norm(v)


def sites(name, x):
    """The places of the sites of one copy, by the formulas of the GROMACS manual."""
    i, j, k = (list(x) + [None])[:3]
    if name == "WAT":
        return [i + 0.128012065 * (j - i) + 0.128012065 * (k - i)]
    if name == "WA5":
        return [i - 0.344908262 * (j - i + k - i) + c * np.cross(j - i, k - i) for c in (-6.4437903493, 6.4437903493)]
    if name == "TWO":
        return [0.7 * i + 0.3 * j, j + 0.1 * unit(i - j), 1.2 * j - 0.2 * i]
    if name == "TRE":
        across = unit((k - j) - np.dot(j - i, k - j) / np.dot(j - i, j - i) * (j - i))
        return [i - 0.105 * unit(j - i + 0.4 * (k - j)), i + 0.11 * (np.cos(np.deg2rad(118)) * unit(j - i) + np.sin(np.deg2rad(118)) * across)]
    if name == "FOR":
        m = np.cross(0.9 * (k - i) - (j - i), 1.1 * (x[3] - i) - (j - i))
        first, second = i - 0.108 * unit(m), 0.65 * j + 0.35 * k
        return [first, second, (0.3 * first + 0.5 * second + 0.4 * x[3]) / 1.2]
    masses = np.array([12.011, 15.9994, 15.9994])
    return [np.mean(x, axis=0), masses @ x[[0, 1, 3]] / sum(masses), (0.2 * x[0] + 0.3 * x[2] + 0.6 * x[3]) / 1.1]


def structure():
    rng = np.random.default_rng(3)
    places = rng.permutation(np.array(list(np.ndindex(CELLS, CELLS, CELLS)))) * EDGE / CELLS
    kinds = rng.permutation([name for name, (count, *_) in MOLECULES.items() for _ in range(count)])
    copies = {name: [] for name in MOLECULES}
    for place, name in zip(places, kinds):
        atoms = np.array(MOLECULES[name][2], float)
        if name != "WAT":
            atoms += rng.normal(scale=0.002, size=atoms.shape)
        rotated = atoms @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + place
        copies[name].append(np.vstack([rotated, sites(name, rotated)]))
    lines, residue = [], 0
    for name, list_of_x in copies.items():
        for x in list_of_x:
            residue += 1
            lines += [f"{residue:5d}{name:5s}{atom:>5s}{len(lines) + n + 1:5d}" + "".join(f"{c:20.15f}" for c in place)
                      for n, (atom, place) in enumerate(zip(MOLECULES[name][1], x))]
    return "\n".join(["virtual sites of every kind", str(len(lines)), *lines, f"{EDGE} {EDGE} {EDGE}", ""])


MDP = """integrator = md
dt = 0.001
nsteps = 0
cutoff-scheme = Verlet
nstlist = 1
verlet-buffer-tolerance = -1
rlist = 1.1
rcoulomb = 0.9
rvdw = 0.9
vdw-modifier = Potential-shift
continuation = yes
comm-mode = none
nstcalcenergy = 1
nstenergy = 1
nstfout = 1
"""
RUNS = {"rf": "coulombtype = Reaction-Field\nepsilon-rf = 0\n", "pme": "coulombtype = PME\nfourierspacing = 0.1\npme-order = 4\n"}
TENSOR = ["Vir-" + a + b for a in "XYZ" for b in "XYZ"]
TERMS = ["Bond", "Angle", "Improper-Dih.", "LJ-(SR)", "Coulomb-(SR)", "Coul.-recip.", "Potential"]


def last_forces(path):
    data, at, forces = path.read_bytes(), 0, None
    while at < len(data):
        at += 8
        at += 4 + (struct.unpack_from(">i", data, at)[0] + 3) // 4 * 4
        sizes = struct.unpack_from(">13i", data, at)
        at += 52 + 16
        for size in sizes[2:5] + sizes[7:9]:
            at += size
        if sizes[9]:
            forces = np.frombuffer(data, ">f8", sizes[9] // 8, at).reshape(-1, 3)
        at += sizes[9]
    return forces


def reference(name):
    with tempfile.TemporaryDirectory() as folder:
        def call(*command, text=None):
            return subprocess.run(["gmx_d", *command], cwd=folder, input=text, check=True, capture_output=True, text=True).stdout
        call("grompp", "-f", str(HERE / f"{name}.mdp"), "-c", str(HERE / "conf.gro"), "-p", str(HERE / "topol.top"), "-o", "a.tpr", "-maxwarn", "2")
        call("mdrun", "-s", "a.tpr", "-deffnm", "a", "-nt", "1")
        asked = [term for term in TERMS if name == "pme" or term != "Coul.-recip."] + TENSOR
        call("energy", "-f", "a.edr", "-o", "a.xvg", "-dp", text="\n".join(asked) + "\n\n")
        values = [line for line in (Path(folder) / "a.xvg").read_text().splitlines() if line[0] not in "#@"][0].split()[1:]
        forces = last_forces(Path(folder) / "a.trr")
    assert len(values) == len(asked)
    (HERE / f"{name}_energies.txt").write_text("".join(f"{term} {value}\n" for term, value in zip(asked, values)))
    (HERE / f"{name}_forces.txt").write_text("".join(" ".join(f"{c:.14e}" for c in f) + "\n" for f in forces))


(HERE / "topol.top").write_text(TOPOLOGY)
(HERE / "conf.gro").write_text(structure())
for run, options in RUNS.items():
    (HERE / f"{run}.mdp").write_text(MDP + options)
    reference(run)
