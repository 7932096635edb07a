#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes an equilibrated tile of the ethanol-water series with this project's own engine.

usage: tools/make_tile.py build/parhelion 3k|45k OUTPUT.xtc

Recipe: molecules with random orientations on a dilute cubic lattice; steepest descent; compression at 1 bar and 300 K with a Berendsen
barostat; 20 ps with v-rescale and C-rescale at 1 bar; the last frame, at 0.001 nm, is the tile. Half a minute for 3k, some minutes for 45k
on two cores. Needs only the standard library.
"""
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

# Gas-phase geometries, nm: bond lengths and angles of the force field.
WATER = [("OW", 0.0, 0.0, 0.0), ("HW1", 0.08165, 0.05773, 0.0), ("HW2", -0.08165, 0.05773, 0.0)]
ETHANOL = [("C1", -0.1190, -0.0390, 0.0), ("H11", -0.1160, -0.1030, 0.0890), ("H12", -0.1160, -0.1030, -0.0890),
           ("H13", -0.2110, 0.0190, 0.0), ("C2", 0.0040, 0.0540, 0.0), ("H21", 0.0010, 0.1180, 0.0890),
           ("H22", 0.0010, 0.1180, -0.0890), ("O", 0.1200, -0.0260, 0.0), ("HO", 0.1950, 0.0310, 0.0)]
TILES = {"3k": (100, 700), "45k": (1500, 10500)}

COMMON = """
cutoff-scheme = Verlet
coulombtype = reaction-field
epsilon-rf = 0
rcoulomb = 0.9
rvdw = 0.9
DispCorr = EnerPres
constraints = h-bonds
nstcalcenergy = 10
"""
MINIMISE = "integrator = steep\nnsteps = 500\nemtol = 500\nemstep = 0.01\n" + COMMON
COUPLED = COMMON + """
integrator = md
dt = {dt}
nsteps = {steps}
tcoupl = v-rescale
tc-grps = System
tau-t = {tau_t}
ref-t = 300
pcoupl = {barostat}
tau-p = {tau_p}
ref-p = 1.0
compressibility = 4.5e-5
nsttcouple = 10
nstpcouple = 10
gen-vel = {generate}
gen-temp = 300
gen-seed = 20261121
ld-seed = 20261121
nstenergy = 500
nstxout-compressed = {steps}
"""


def random_rotation(rng):
    """A uniformly distributed rotation matrix, from a random unit quaternion."""
    q = [rng.gauss(0, 1) for _ in range(4)]
    n = math.sqrt(sum(a * a for a in q))
    w, x, y, z = (a / n for a in q)
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]


def write_lattice(path, ethanols, waters):
    rng = random.Random(4711)
    per_edge = math.ceil((ethanols + waters) ** (1 / 3))
    spacing = 0.41
    edge = per_edge * spacing
    sites = [(i, j, k) for i in range(per_edge) for j in range(per_edge) for k in range(per_edge)]
    rng.shuffle(sites)
    lines, atom = [], 0
    for molecule in range(ethanols + waters):
        name, atoms = ("ETH", ETHANOL) if molecule < ethanols else ("SOL", WATER)
        centre = [(s + 0.5) * spacing for s in sites[molecule]]
        rotation = random_rotation(rng)
        for atom_name, *local in atoms:
            atom += 1
            x = [centre[d] + sum(rotation[d][e] * local[e] for e in range(3)) for d in range(3)]
            lines.append("%5d%-5s%5s%5d%8.3f%8.3f%8.3f" % ((molecule + 1) % 100000, name, atom_name, atom % 100000, *x))
    path.write_text("ethanol in water, lattice\n%d\n%s\n%10.5f%10.5f%10.5f\n" % (atom, "\n".join(lines), edge, edge, edge))


def last_xtc_frame(data):
    """The bytes of the last frame of an .xtc file (more than 9 atoms)."""
    start = position = 0
    while position < len(data):
        start = position
        (size,) = struct.unpack(">i", data[position + 88:position + 92])
        position += 92 + (size + 3) // 4 * 4
    return data[start:position]


def main():
    program, name, output = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(sys.argv[3])
    ethanols, waters = TILES[name]
    topology = pathlib.Path(__file__).resolve().parents[1] / "src/generate/ethanol_water.top"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "topol.top").write_text(topology.read_text() + "ETH %d\nSOL %d\n" % (ethanols, waters))
        write_lattice(work / "lattice.gro", ethanols, waters)
        stages = [("em", "lattice.gro", MINIMISE),
                  ("compress", "em.gro", COUPLED.format(dt=0.001, steps=20000, tau_t=0.1, barostat="Berendsen", tau_p=0.2, generate="yes")),
                  ("npt", "compress.gro", COUPLED.format(dt=0.002, steps=10000, tau_t=1.0, barostat="C-rescale", tau_p=2.0, generate="no"))]
        for stage, start, mdp in stages:
            (work / (stage + ".mdp")).write_text(mdp)
            subprocess.run([program, "run", "-f", stage + ".mdp", "-c", start, "-p", "topol.top", "-o", stage, "--allow", "W117"],
                           cwd=work, check=True)
        output.write_bytes(last_xtc_frame((work / "npt.xtc").read_bytes()))
        print(output, output.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
