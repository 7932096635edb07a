# SPDX-License-Identifier: Apache-2.0
"""The calculator for ASE: its units, its slopes by atoms and by strain, and that ASE's own methods run on it."""
import numpy as np
import parhelion as ph
import pytest
from ase.constraints import FixAtoms
from ase.io.trajectory import Trajectory
from ase.md.verlet import VelocityVerlet
from ase.optimize import FIRE
from ase.units import GPa, bar, fs, kJ, mol, nm
from parhelion.ase import Calculator, atoms_of

from simulation import ARGON, ARGON_TOPOLOGY, argon

EXACT = {"threads": 1, "precision": "double", "reproducible": True}


@pytest.fixture(params=["no", "EnerPres"])
def fluid(tmp_path, request):
    """256 argon atoms away from their lattice, without and with a dispersion correction."""
    box = argon(tmp_path)
    options = {"integrator": "md", "ld-seed": 1, "DispCorr": request.param, **ARGON}
    (tmp_path / "argon.mdp").write_text("".join(f"{key} = {value}\n" for key, value in options.items()))
    system = ph.load(tmp_path / "argon.mdp", box.structure, box.topology)
    system.positions = system.positions + np.random.default_rng(2).normal(scale=0.01, size=system.positions.shape)
    return system


@pytest.fixture()
def atoms(fluid):
    made = atoms_of(fluid)
    made.calc = Calculator(fluid, **EXACT)
    return made


def test_atoms_and_units_are_those_of_ase(fluid, atoms):
    assert set(atoms.symbols) == {"Ar"} and atoms.pbc.all()
    np.testing.assert_allclose(atoms.positions, 10 * fluid.positions)
    np.testing.assert_allclose(atoms.cell[:], 10 * fluid.box)
    with ph.Simulation(fluid, **EXACT) as simulation:
        point = simulation.energies_and_forces(fluid.positions)
    # The calculator evaluates 10 x / 10, which is not x to the last bit.
    assert atoms.get_potential_energy() == pytest.approx(point.energies["Potential"] / 96.48533, rel=1e-6)
    np.testing.assert_allclose(atoms.get_forces(), point.forces / 964.8533, rtol=1e-5, atol=1e-7)
    assert kJ / mol / nm == pytest.approx(1 / 964.8533, rel=1e-6)


def test_forces_are_the_slope_of_the_energy(atoms):
    forces, h = atoms.get_forces(), 1e-4
    for atom, axis in ((0, 0), (17, 1), (255, 2)):
        ends = []
        for sign in (1, -1):
            moved = atoms.copy()
            moved.calc = atoms.calc
            moved.positions[atom, axis] += sign * h
            ends.append(moved.get_potential_energy())
        assert -(ends[0] - ends[1]) / (2 * h) == pytest.approx(forces[atom, axis], rel=1e-5, abs=1e-6)


def test_stress_is_the_slope_of_the_energy_by_strain(atoms):
    stress, h = atoms.get_stress(), 1e-5
    assert np.abs(stress[:3]).max() > 1e3 * bar
    for voigt, (row, column) in enumerate(((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))):
        ends = []
        for sign in (1, -1):
            strain = np.eye(3)
            strain[row, column] += sign * h  # of rows: the box keeps its first edge along x, and its second in the xy plane
            strained = atoms.copy()
            strained.calc = atoms.calc
            strained.set_cell(atoms.cell[:] @ strain.T, scale_atoms=True)
            ends.append(strained.get_potential_energy())
        slope = (ends[0] - ends[1]) / (2 * h) / atoms.get_volume()
        assert slope == pytest.approx(stress[voigt], rel=1e-3, abs=1e-3 * GPa)


def test_an_optimiser_finds_lower_energies_and_smaller_forces(atoms):
    atoms.set_constraint(FixAtoms([0]))
    before, forces, place = atoms.get_potential_energy(), np.abs(atoms.get_forces()).max(), atoms.positions[0].copy()
    FIRE(atoms, logfile=None).run(fmax=0, steps=15)
    assert atoms.get_potential_energy() < before and np.abs(atoms.get_forces()).max() < forces
    assert (atoms.positions[0] == place).all()


def test_dynamics_of_ase_keep_the_energy(atoms, tmp_path):
    atoms.set_velocities(np.random.default_rng(3).normal(scale=0.015, size=(256, 3)))  # some 100 K
    start = atoms.get_total_energy()
    with Trajectory(str(tmp_path / "ase.traj"), "w", atoms) as trajectory:
        dynamics = VelocityVerlet(atoms, timestep=4 * fs)
        dynamics.attach(trajectory, interval=5)
        dynamics.run(20)
    assert abs(atoms.get_total_energy() - start) < 1e-3 * atoms.get_kinetic_energy()
    assert Trajectory(str(tmp_path / "ase.traj"))[-1].get_potential_energy() == atoms.get_potential_energy()


def test_what_the_engine_cannot_take_is_an_error_and_the_calculator_goes_on(atoms):
    def refused(change):
        wrong = atoms.copy()
        change(wrong)
        wrong.calc = atoms.calc
        with pytest.raises((ValueError, ph.InputError)):
            wrong.get_potential_energy()

    refused(lambda one: one.set_pbc([True, True, False]))
    refused(lambda one: one.pop())
    refused(lambda one: one.rotate(90, (1, 1, 0), rotate_cell=True))
    refused(lambda one: one.set_cell([5, 5, 5]))
    refused(lambda one: one.positions.__setitem__(3, np.nan))
    assert np.isfinite(atoms.get_potential_energy())


def test_a_heavy_hydrogen_is_hydrogen(tmp_path):
    box = argon(tmp_path)
    box.topology.write_text(ARGON_TOPOLOGY.format(atoms=256).replace("AR 1 0 39.948", "HX 1 0 3.024").replace("1 AR 1 AR AR", "1 AR 1 AR HX"))
    (tmp_path / "argon.mdp").write_text("".join(f"{key} = {value}\n" for key, value in {"integrator": "md", **ARGON}.items()))
    assert set(atoms_of(ph.load(tmp_path / "argon.mdp", box.structure, box.topology, allow=["W030"])).symbols) == {"H"}
