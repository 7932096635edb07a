#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes shape.top, whose virtual sites have no parameters, and shape_parameters.txt: those that gmx_d derives from its bonds and
angles, a line each site in the order of the file's atoms.

    python3 make_shape.py        # needs gmx_d (GROMACS 2022.5 in double precision)
"""
import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent

TOPOLOGY = """; made by make_shape.py; the numbers are nobody's force field
[ defaults ]
1 2 no 1 1
[ atomtypes ]
C    12.011 0 A 0.33 0.40
X    0      0 V 0    0
MCH3 0      0 A 0    0
MNH3 0      0 A 0    0
[ bondtypes ]
C X 1 0.1087 300000
[ angletypes ]
C X X 1 109.2 300
"""


def xh3(mass):
    return f"""
[ moleculetype ]
{mass} 3 ; X and three hydrogens on two masses
[ atoms ]
1 C      1 XH3 C  1 0 14
2 {mass} 1 XH3 M1 1 0 8
3 {mass} 1 XH3 M2 1 0 8
4 X      1 XH3 X  1 0 0
5 X      1 XH3 H1 1 0 0
6 X      1 XH3 H2 1 0 0
7 X      1 XH3 H3 1 0 0
[ bonds ]
1 4 1 0.1526 300000
4 5 2 0.1090 300000
4 6 2 0.1090 300000
4 7 2 0.1090 300000
[ constraints ]
1 2 2 0.1674
1 3 2 0.1674
2 3 2 0.0962
[ angles ]
1 4 5 1 109.5 300
1 4 6 1 109.5 300
7 4 1 1 109.5 300
[ virtual_sites3 ]
4 1 2 3 1
5 1 2 3 1
6 1 2 3 4
7 1 2 3 -4
"""


OTHERS = """
[ moleculetype ]
ANY 3 ; one site of each kind, or two on either side
[ atoms ]
1 C 1 ANY C1 1 0 12
2 C 1 ANY C2 1 0 12
3 C 1 ANY C3 1 0 12
4 C 1 ANY C4 1 0 12
5 X 1 ANY S1 1 0 0
6 X 1 ANY S2 1 0 0
7 X 1 ANY S3 1 0 0
8 X 1 ANY S4 1 0 0
9 X 1 ANY S5 1 0 0
10 X 1 ANY S6 1 0 0
[ bonds ]
1 2 1 0.1449 300000
1 3 1 0.1335 300000
4 1 1 0.1522 300000
1 5 1 0.101 300000
1 6 1 0.096 300000
1 7 1 0.097 300000
1 8
1 9
1 10 1 0.109 300000
[ angles ]
2 1 5 1 118.04 300
3 1 5 1 120.0 300
2 1 6 1 108.5 300
7 1 2 1 111.5 300
2 1 3 1 114 300
2 1 8 1 108 300
3 1 8 1 109 300
2 1 9 1 110 300
9 1 3 1 107 300
2 1 10 1 105 300
3 1 10 1 107 300
4 1 10 5 109 300 0.2 100
[ virtual_sites3 ]
5 1 2 3 2
6 1 2 3 3
7 1 2 3 -3
8 1 2 3 4
9 1 2 3 -4
[ virtual_sites4 ]
10 1 2 3 4 2
"""

END = """
[ system ]
virtual sites without parameters
[ molecules ]
MCH3 1
MNH3 1
ANY 1
"""

MDP = "integrator = md\nnsteps = 0\nrcoulomb = 1\nrvdw = 1\nconstraints = all-bonds\n"


def parameters(dump):
    """By atom of the system, from 0."""
    types = {number: [float(p) for p in re.findall(r"= ?([-+0-9.e]+)", rest)]
             for number, rest in re.findall(r"functype\[(\d+)\]=VSITE\w+, (.*)", dump)}
    sites, first = {}, 0
    for molecule in re.split(r"\n   moltype \(\d+\):", dump)[1:]:
        for number, atom in re.findall(r"type=(\d+) \(VSITE\w+\)\s+(\d+)", molecule):
            sites[first + int(atom)] = types[number]
        first += len(re.findall(r"atom\[ *\d+\]=\{name=", molecule))
    return sites


def main():
    (HERE / "shape.top").write_text(TOPOLOGY + xh3("MCH3") + xh3("MNH3") + OTHERS + END)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        names = ["C", "M1", "M2", "X", "H1", "H2", "H3"]
        atoms = [(1, n) for n in names] + [(2, n) for n in names] + [(3, n) for n in "C1 C2 C3 C4 S1 S2 S3 S4 S5 S6".split()]
        (work / "conf.gro").write_text("\n".join(["", str(len(atoms))] + [
            f"{r:5d}{'XH3' if r < 3 else 'ANY':5s}{n:>5s}{i + 1:5d}{0.1 * i:8.3f}{0.3 * (i % 3):8.3f}{0.2 * (i % 2):8.3f}"
            for i, (r, n) in enumerate(atoms)] + ["4 4 4", ""]))
        (work / "run.mdp").write_text(MDP)
        subprocess.run(["gmx_d", "grompp", "-f", "run.mdp", "-c", "conf.gro", "-p", HERE / "shape.top", "-o", "run.tpr", "-maxwarn",
                        "9"], cwd=work, check=True, capture_output=True)
        dump = subprocess.run(["gmx_d", "dump", "-s", "run.tpr"], cwd=work, check=True, capture_output=True, text=True).stdout
    (HERE / "shape_parameters.txt").write_text("".join(
        " ".join([str(atom + 1)] + [f"{p:.8e}" for p in values]) + "\n" for atom, values in sorted(parameters(dump).items())))


main()
