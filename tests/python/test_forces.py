# SPDX-License-Identifier: Apache-2.0
"""Forces that Python computes, inside the step: against restraints of the engine and derivatives; ranks, failures, wrong answers."""
import gc
import time
import weakref

import numpy as np
import parhelion as ph
import pytest

from runs import DATA, RUN, folder_with
from simulation import ARGON, ARGON_TOPOLOGY, BAR, argon

K = 200.0  # kJ/mol/nm^2
EXACT = {"threads": 1, "precision": "double", "reproducible": True}


def fluid(folder, more="", **mdp):
    """256 argon atoms; `more` goes into their molecule."""
    box = argon(folder)
    box.topology.write_text(ARGON_TOPOLOGY.format(atoms=256).replace("[ system ]", more + "[ system ]"))
    options = {"integrator": "md", "nsteps": 100, "ld-seed": 1, "nstcalcenergy": 1, **ARGON, **mdp}
    (folder / "argon.mdp").write_text("".join(f"{key} = {value}\n" for key, value in options.items()))
    return ph.load(folder / "argon.mdp", box.structure, box.topology)


@pytest.fixture()
def etoh(tmp_path, monkeypatch):
    """3000 atoms of ethanol and water, of molecules that cross the box."""
    monkeypatch.chdir(folder_with(RUN, tmp_path))
    return ph.load(gro=DATA / "conf.gro", top=DATA / "topol.top")


def held(reference):
    """A harmonic bias to `reference`, with its virial as position restraints have it: the reference does not follow the box."""
    def harmonic(positions, box, time):
        away = ph.minimum_image(positions - reference, box)
        forces = -K * away
        return -0.5 * (away * forces).sum(), forces, np.diag(-0.5 * ((reference + away) * forces).sum(axis=0))

    return harmonic


def pair(positions, box, time):
    """A spring of 0.5 nm between two atoms, to their nearest images."""
    away = ph.minimum_image(positions[0] - positions[1], box)
    distance = np.sqrt((away**2).sum())
    force = -K * (distance - 0.5) / distance * away
    return 0.5 * K * (distance - 0.5)**2, np.array([force, -force]), -0.5 * np.outer(away, force)


# --- what it is worth

def test_a_harmonic_bias_is_a_position_restraint(tmp_path):
    system = fluid(tmp_path, f"[ position_restraints ]\n1 1 {K} {K} {K}\n", **{"gen-vel": "no"})
    free = fluid(tmp_path, **{"gen-vel": "no"})
    for one in (system, free):
        one.velocities = np.random.default_rng(4).normal(scale=0.2, size=one.velocities.shape)
    with ph.Simulation(system, **EXACT) as restrained, ph.Simulation(free, **EXACT) as biased:
        biased.add_force(held(free.positions))
        states = []
        for simulation in (restrained, biased):
            simulation.run(60)
            states.append(simulation.state)
    a, b = states
    # Reference positions are rounded to 2^-64 of the box here and to 2^-53 there; 60 steps do not amplify that.
    np.testing.assert_allclose(b.positions, a.positions, atol=1e-11)
    assert a.energies["Position Rest."] > 10
    assert b.energies["External"] == pytest.approx(a.energies["Position Rest."], rel=1e-10)
    for term in ("Potential", "Total Energy", "Conserved En.", "Temperature", "Pressure", "Pres-XX", "Pres-YY", "Pres-ZZ"):
        assert b.energies[term] == pytest.approx(a.energies[term], rel=1e-9, abs=1e-7), term


def test_the_force_that_acts_is_the_slope_of_the_energy_that_is_told(tmp_path):
    system, h = fluid(tmp_path), 1e-5
    with ph.Simulation(system, **EXACT) as plain, ph.Simulation(system, **EXACT) as biased:
        biased.add_force(pair, [7, 200])
        here = biased.energies_and_forces(system.positions)
        acting = here.forces - plain.energies_and_forces(system.positions).forces
        assert np.abs(np.delete(acting, [7, 200], axis=0)).max() == 0
        for atom, axis in ((7, 0), (7, 2), (200, 1)):
            ends = []
            for sign in (1, -1):
                x = system.positions.copy()
                x[atom, axis] += sign * h
                ends.append(biased.energies_and_forces(x).energies["External"])
            assert -(ends[0] - ends[1]) / (2 * h) == pytest.approx(acting[atom, axis], rel=1e-6)
        assert here.energies["Potential"] == pytest.approx(plain.energies_and_forces(system.positions).energies["Potential"] +
                                                           here.energies["External"], rel=1e-12)


def test_the_virial_is_half_the_slope_by_a_strain(tmp_path):
    system, h = fluid(tmp_path), 1e-6
    with ph.Simulation(system, **EXACT) as plain, ph.Simulation(system, **EXACT) as biased:
        biased.add_force(pair, [3, 77])
        x, box = system.positions, system.box
        with_it, without = biased.energies_and_forces(x, box), plain.energies_and_forces(x, box)
        virial = with_it.virial - without.virial
        for axis in range(3):
            ends = []
            for sign in (1, -1):
                strain = np.ones(3)
                strain[axis] += sign * h
                ends.append(biased.energies_and_forces(x * strain, box * strain).energies["External"])
            assert (ends[0] - ends[1]) / (4 * h) == pytest.approx(virial[axis, axis], rel=1e-6, abs=1e-6)
        told = with_it.energies
        total = sum(told[f"Vir-{axis}"] for axis in ("XX", "YY", "ZZ"))
        assert total == pytest.approx(np.trace(without.virial + virial), rel=1e-9)
        assert told["Pressure"] == pytest.approx(2 / 3 * (told["Kinetic En."] - total) / np.linalg.det(box) * BAR, rel=1e-6)


def test_the_conserved_energy_holds(tmp_path):
    system, told = fluid(tmp_path, tcoupl="no"), []
    with ph.Simulation(system, **EXACT) as simulation:
        simulation.add_force(held(system.positions))
        simulation.every(1, lambda state: told.append((state.energies["External"], state.energies["Conserved En."])))
        simulation.run(400)
    external, conserved = np.array(told).T
    # Leap-frog's energy swings with the square of the step; what flows into the springs and out of them is a hundred times as much.
    assert np.ptp(external) > 100 and np.ptp(conserved[5:]) < 0.01 * np.ptp(external)


def test_bits_are_those_of_one_rank_and_one_thread(etoh):
    chosen = np.r_[5, 2999, 0, 900:930]
    ends = []
    for options in ({"threads": 1}, {"threads": 2}, {"ranks": 2, "threads": 1}, {"ranks": 4, "threads": 1}):
        with ph.Simulation(etoh, reproducible=True, **options) as simulation:
            simulation.add_force(held(etoh.positions[chosen]), chosen)
            simulation.add_force(lambda x, box, time: (float(time), np.full_like(x, 0.25)))
            simulation.run(40)
            ends.append(simulation.state)
    for state in ends[1:]:
        assert state.positions.tobytes() == ends[0].positions.tobytes() and state.velocities.tobytes() == ends[0].velocities.tobytes()
        assert state.energies == ends[0].energies
    assert ends[0].energies["External"] > ends[0].time


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_force_sees_the_configuration_of_its_step(etoh, ranks):
    chosen, seen = [2997, 13, 14, 2], {}

    def look(positions, box, time):
        seen[round(time / 0.002)] = (positions, box)
        return 0, np.zeros_like(positions)

    with ph.Simulation(etoh, ranks=ranks, threads=1, reproducible=True) as simulation, \
            ph.Simulation(etoh, threads=1, reproducible=True) as without:
        simulation.add_force(look, chosen)
        told = {}
        simulation.every(1, lambda state: told.update({state.step: state}))
        simulation.run(12)
        without.run(12)
        assert simulation.state.positions.tobytes() == without.state.positions.tobytes()  # a force of nothing changes no bit
    assert sorted(seen) == sorted(told) == list(range(13))
    for step, (positions, box) in seen.items():
        assert positions.tobytes() == told[step].positions[chosen].tobytes() and box.tobytes() == told[step].box.tobytes()
    seen[0][0][:] = 1  # an array of the function's own, which outlives the simulation


def test_a_minimisation_follows_the_force(tmp_path):
    system = fluid(tmp_path, integrator="steep", nsteps=200, emtol=1, **{"gen-vel": "no"})
    with ph.Simulation(system, **EXACT) as simulation:
        simulation.add_force(lambda x, box, time: (float(-500 * x[0, 0]), np.array([[500.0, 0, 0]])), [0])
        simulation.run()
        with ph.Simulation(system, **EXACT) as without:
            without.run()
            assert simulation.state.positions[0, 0] > without.state.positions[0, 0] + 0.001
        point = simulation.energies_and_forces()
        assert point.energies["External"] == pytest.approx(-500 * point.positions[0, 0])


# --- what goes wrong

class Mine(Exception):
    pass


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_what_a_force_raises_ends_the_run_before_the_step_and_harms_nothing(etoh, ranks):
    options = {"ranks": ranks, "threads": 1, "reproducible": True}
    fails_at = None

    def weak(positions, box, time):
        if fails_at is not None and time > fails_at - 1e-6:
            raise Mine("now")
        return 0, np.full_like(positions, 0.5)

    with ph.Simulation(etoh, **options) as whole, ph.Simulation(etoh, **options) as broken:
        for simulation in (whole, broken):
            simulation.add_force(weak)
        whole.run(30)
        fails_at = 9 * 0.002
        with pytest.raises(Mine, match="now"):
            broken.run(10**6)
        assert broken.step == 9
        for call in (lambda: broken.run(5), lambda: broken.state, broken.energies_and_forces):
            with pytest.raises(Mine):
                call()
        fails_at = None
        assert broken.run(21).steps == 21
        a, b = whole.state, broken.state
        assert a.positions.tobytes() == b.positions.tobytes() and a.velocities.tobytes() == b.velocities.tobytes()
        assert a.energies == b.energies


@pytest.mark.parametrize("at", [1, 6])
def test_what_a_force_raises_ends_a_minimisation(tmp_path, at):
    system, calls = fluid(tmp_path, integrator="steep", nsteps=50, emtol=0.1, **{"gen-vel": "no"}), []
    system.positions = system.positions + np.random.default_rng(5).normal(scale=0.02, size=system.positions.shape)  # off the lattice

    def fail(positions, box, time):
        calls.append(time)
        if len(calls) == at:
            raise Mine
        return 0, np.zeros_like(positions)

    with ph.Simulation(system, threads=1) as simulation:
        simulation.add_force(fail)
        with pytest.raises(Mine):
            simulation.run()
        assert len(calls) == at and simulation.run().steps > 0


ZEROS = np.zeros((2, 3))


@pytest.mark.parametrize("answer", [
    None, 0, ZEROS, (0,), (0, ZEROS, np.zeros((3, 3)), 1), [0, ZEROS], (None, ZEROS), ("much", ZEROS), (np.nan, ZEROS), (np.inf, ZEROS),
    (0, None), (0, "x"), (0, np.zeros(3)), (0, np.zeros((3, 3))), (0, np.zeros((2, 2))), (0, np.full((2, 3), np.nan)), (0, np.full((2, 3), -np.inf)),
    (0, np.full((2, 3), 1e12)), (0, ZEROS + 1j), (0, ZEROS.astype(object)), (0, ZEROS, np.zeros(9)), (0, ZEROS, np.full((3, 3), np.nan)),
    (0, ZEROS, "virial")], ids=repr)
def test_an_answer_that_is_none_is_an_error(tmp_path, answer):
    good = False
    with ph.Simulation(fluid(tmp_path), threads=1) as simulation:
        simulation.add_force(lambda positions, box, time: (0, ZEROS) if good else answer, [0, 1])
        with pytest.raises((ValueError, TypeError)):
            simulation.run(3)
        with pytest.raises((ValueError, TypeError)):
            simulation.energies_and_forces()
        good = True
        assert simulation.step == 0 and simulation.run(3).steps == 3


def test_answers_of_other_types_are_taken(tmp_path):
    system, ends = fluid(tmp_path), []
    for make in (lambda f: f, lambda f: f.astype(np.float32), lambda f: f.tolist(), np.asfortranarray, lambda f: f.astype(int)):
        with ph.Simulation(system, **EXACT) as simulation:
            simulation.add_force(lambda x, box, time, make=make: (np.float32(1), make(np.full_like(x, 3))))
            simulation.run(5)
            ends.append(simulation.state.positions.tobytes())
    assert set(ends) == {ends[0]}


def test_wrong_atoms_are_errors(tmp_path):
    with ph.Simulation(fluid(tmp_path), threads=1) as simulation:
        for atoms in ([], [256], [-1], [0.5], ["a"], [[0, 1]], 3, [True, False]):
            with pytest.raises((ValueError, TypeError, IndexError)):
                simulation.add_force(pair, atoms)
        assert "External" not in simulation.state.energies and simulation.run(2).steps == 2
        simulation.add_force(lambda x, box, time: (2, np.zeros_like(x)), [4, 4])  # twice the same: forces add up
        assert simulation.state.energies["External"] == 2


def test_a_force_may_not_use_its_simulation_and_may_end_it(tmp_path):
    with ph.Simulation(fluid(tmp_path), threads=1) as simulation:
        @simulation.add_force
        def look(positions, box, time):
            return simulation.step, np.zeros_like(positions)

        with pytest.raises(RuntimeError, match="at work"):
            simulation.run(3)
    simulation = ph.Simulation(fluid(tmp_path), threads=1)

    @simulation.add_force
    def stop(positions, box, time):
        simulation.stop()
        return 0, np.zeros_like(positions)

    assert simulation.run(10**6).stopped


def test_other_ranks_wait_for_a_slow_force(etoh):
    with ph.Simulation(etoh, ranks=2, threads=1, comm_timeout=1) as simulation:
        simulation.add_force(lambda x, box, time_: (time.sleep(2) or 0, np.zeros_like(x)), [0])
        assert simulation.run(1).steps == 1


def test_checkpoints_and_other_configurations_have_the_force(tmp_path):
    system = fluid(tmp_path)
    with ph.Simulation(system, **EXACT) as whole, ph.Simulation(system, **EXACT) as part:
        for simulation in (whole, part):
            simulation.add_force(pair, [0, 100])
        whole.run(30)
        whole.save(tmp_path / "whole.cpt")
        end = whole.state
        part.restore(tmp_path / "whole.cpt")
        assert part.state.positions.tobytes() == end.positions.tobytes() and part.state.energies == end.energies
        assert part.energies_and_forces(end.positions).energies["External"] == pytest.approx(end.energies["External"], rel=1e-9)


def test_a_simulation_that_its_force_knows_leaves_nothing_behind(tmp_path):
    system = fluid(tmp_path)

    def cycle():
        simulation = ph.Simulation(system, threads=1)
        simulation.add_force(lambda x, box, time: (0 * id(simulation), np.zeros_like(x)))
        simulation.run(2)
        return weakref.ref(simulation)

    gone = cycle()
    gc.collect()
    assert gone() is None
