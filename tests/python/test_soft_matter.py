# SPDX-License-Identifier: Apache-2.0
"""A coarse-grained membrane with sterols and a chain, a melt of polymers and an ionic liquid: their forces are those of gmx_d and minus the gradient
of the energy, their virial is its derivative by the strain, and ranks and threads change no bit.

The systems are those of stage_folders.py, with noise in every place: test_stages.py compares each term of the start and runs their stages. The
program is $PARHELION_PROGRAM; everything is on the CPU.
"""
import json
import os
import subprocess

import numpy as np
import pytest

import stage_folders
from test_periodic_molecules import forces_of_trr
from test_run_input import grompp, parhelion

SYSTEMS = ["Martini", "polymer melt", "ionic liquid"]
FILES = ["-f", "point.mdp", "-c", "conf.gro", "-p", "topol.top", "-n", "index.ndx"]


class System:
    """Writes a system's files into a folder; positions and box can be changed."""

    def __init__(self, kind, folder):
        top, self.box, stages = stage_folders.KINDS[kind]()
        stage_folders.write(kind, folder)
        stage_folders.single_point(kind, folder)
        self.folder, self.massless = folder, np.array([name.startswith("V") for _, _, name, _ in self.box.atoms])
        self.write_options(define=None)
        self.x = self.read(self.box.gro(0.01))
        self.place(self.x)

    def write_options(self, **changes):
        """Changes point.mdp; None removes an option."""
        options = dict(line.split(" = ") for line in (self.folder / "point.mdp").read_text().splitlines())
        options |= {key.replace("_", "-"): value for key, value in changes.items()}
        (self.folder / "point.mdp").write_text(stage_folders.mdp({key: value for key, value in options.items() if value is not None}))

    @staticmethod
    def read(gro):
        return np.array([[float(word) for word in line[20:].split()] for line in gro.splitlines()[2:-1]])

    def place(self, x, scale=(1, 1, 1)):
        edges = np.diagonal(self.box.edges) * scale
        atoms = [f"{number:5d}{residue:<5}{name:>5}{i:5d}" + "".join(f"{c:20.14f}" for c in place * scale)
                 for i, ((number, residue, name, _), place) in enumerate(zip(self.box.atoms, x), 1)]
        (self.folder / "conf.gro").write_text("\n".join(["noise", str(len(x)), *atoms, " ".join(f"{c:.14f}" for c in edges), ""]))

    def point(self, *words):
        """Results, with the virial of the forces, and forces."""
        parhelion(self.folder, "energy", "--device", "cpu", "--precision", "double", *FILES, *words, "-o", "p")
        return json.loads((self.folder / "p.energy.json").read_text()), np.load(self.folder / "p.forces.npy")

    def energy(self):
        return self.point()[0]["energies"]["Potential"]


@pytest.fixture(params=SYSTEMS)
def system(request, tmp_path):
    return System(request.param, tmp_path)


def their_forces(system):
    grompp(system.folder, *FILES, gmx="gmx_d")
    environment = {**os.environ, "GMX_MAXBACKUP": "-1", "GMX_NBNXN_EWALD_ANALYTICAL": "1"}
    subprocess.run(["gmx_d", "mdrun", "-s", "p.tpr", "-deffnm", "g", "-nt", "1"], cwd=system.folder, check=True, capture_output=True, env=environment)
    return forces_of_trr((system.folder / "g.trr").read_bytes())


def test_forces_are_those_of_gromacs(system):
    # gmx_d takes 1-4 pairs from tables (1e-8 of a force); without them the rest is compared more exactly. With PME its pairs have a fit of the error function.
    top = system.folder / "topol.top"
    parts = top.read_text().split("[ pairs ]")
    has_pairs = len(parts) > 1
    top.write_text(parts[0] + "".join(part[part.index("[ "):] for part in parts[1:]))
    system.write_options(nstfout=1)
    _, ours = system.point()
    theirs = their_forces(system)
    assert np.abs(ours).max() > 100
    assert np.abs(ours - theirs).max() <= (1e-9 if has_pairs else 1e-12) * np.abs(theirs).max()


def test_forces_are_minus_the_gradient(system):
    direction = np.random.default_rng(4).normal(size=system.x.shape)
    direction[system.massless] = 0  # the other atoms define the places of sites
    _, forces = system.point()
    step, ends = 1e-6, []
    for sign in (1, -1):
        system.place(system.x + sign * step * direction)
        ends.append(system.energy())
    slope = (ends[0] - ends[1]) / (2 * step)
    assert slope == pytest.approx(-np.sum(forces * direction), rel=1e-7)


def test_the_virial_is_the_derivative_by_the_strain(system):
    virial, step = np.array(system.point()[0]["virial_forces"]), 1e-6
    for axis in range(3):
        ends = []
        for sign in (1, -1):
            scale = np.ones(3)
            scale[axis] += sign * step
            system.place(system.x, scale)
            ends.append(system.energy())
        # As in test_periodic_molecules.py: the virial is half of the derivative.
        assert 0.5 * (ends[0] - ends[1]) / (2 * step) == pytest.approx(virial[axis, axis], rel=1e-6, abs=1e-7 * np.abs(virial).max())


def test_two_ranks_have_the_forces_of_one(system):
    (one, forces), (two, same) = system.point(), system.point("--grid", "1x1x2")
    largest = max(abs(value) for value in one["energies"].values())
    assert one["energies"] == pytest.approx(two["energies"], rel=1e-12, abs=1e-13 * largest)
    assert np.abs(forces - same).max() <= 1e-13 * np.abs(forces).max()


@pytest.mark.parametrize("kind", SYSTEMS)
def test_ranks_and_threads_have_the_same_bits(kind, tmp_path):
    options = {**stage_folders.KINDS[kind]()[2][-1][1], **stage_folders.DRAWN, "ld-seed": 7}
    runs = []
    for i, layout in enumerate([("--threads", 1), ("--threads", 2), ("--grid", "1x1x2"), ("--grid", "1x1x2", "--halo", "direct")]):
        folder = tmp_path / str(i)
        stage_folders.write(kind, folder)
        (folder / "md.mdp").write_text(stage_folders.mdp(options))
        for stage, start, words in (("em", "conf.gro", ("--threads", 1)), ("md", "em.gro", ("--steps", 60, *layout))):
            files = ["-f", f"{stage}.mdp", "-c", start, "-p", "topol.top", "-n", "index.ndx", "-o", stage]
            parhelion(folder, "run", "-q", "--device", "cpu", "--reproducible", *files, *words)
        runs.append([(folder / f"md.{ending}").read_bytes() for ending in ("gro", "edr")])
    assert all(other == runs[0] for other in runs[1:])
