# SPDX-License-Identifier: Apache-2.0
"""With PME, thermostat and barostat give their ensembles: 256 argon atoms with charges of 0.2 e, a minute in all.

As test_ensembles.py, which says what the limits mean. At constant volume the mesh acts in every second step. At constant pressure it
contributes about half of what is asked for.
"""
import numpy as np
import pytest

from ensembles import drift, kinetic_energy_distances, kinetic_energy_p_value, mean_and_error, slope_distance
from simulation import ARGON, BAR, PME, Box, charged_argon, pressure_coupling, run, temperature_coupling

LIMIT = 4.5  # standard errors
TEMPERATURES = 150, 162  # K
PRESSURES = 1000, 1200  # bar
COMPRESSIBILITY = 2e-4  # 1/bar
LIQUID = {**ARGON, **PME}
CONTINUE = {"gen-vel": "no", "continuation": "yes"}
MTS = {"mts": "yes", "mts-level2-factor": 2, "nstlog": 0}


def bath(temperature):
    return temperature_coupling("v-rescale", temperature, 0.1)


@pytest.fixture(scope="module")
def liquid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("charged-argon")
    lattice = charged_argon(folder, 0.2)
    coupling = pressure_coupling("C-rescale", np.mean(PRESSURES), 0.5, COMPRESSIBILITY)
    run(folder / "start", lattice, LIQUID, bath(TEMPERATURES[0]), coupling, time=40)
    return Box(folder / "start" / "run.gro", lattice.topology, lattice.atoms, lattice.degrees_of_freedom)


def expect_canonical(frames, temperature):
    assert max(kinetic_energy_distances(frames, temperature, every=10)) < LIMIT
    assert kinetic_energy_p_value(frames, temperature, every=10) > 1e-4
    assert kinetic_energy_distances(frames, 1.05 * temperature, every=10)[0] > LIMIT
    slope, error = drift(frames, temperature)
    assert abs(slope) < 0.1 and error < 0.05


def missing_pressure(frames):
    """What a volume that changes does to the conserved energy, as a pressure (bar): nothing, unless the virial lacks something."""
    conserved = frames["Conserved En."] - np.polyval(np.polyfit(frames["Time"], frames["Conserved En."], 1), frames["Time"])
    return np.polyfit(frames["Volume"], conserved, 1)[0] * BAR


def test_energies_at_two_temperatures_are_canonical_with_multiple_time_steps(liquid, tmp_path):
    pair = [run(tmp_path / str(t), liquid, LIQUID, CONTINUE, MTS, bath(t), {"ld-seed": t}, time=200).after(10) for t in TEMPERATURES]
    for frames, temperature in zip(pair, TEMPERATURES):
        expect_canonical(frames, temperature)
        assert abs(frames["Coul. recip."].mean()) > 10  # kJ/mol
    assert slope_distance(*pair, TEMPERATURES) < LIMIT
    assert slope_distance(*pair, (150, 174)) > LIMIT


def test_volumes_at_two_pressures_are_isothermal_isobaric(liquid, tmp_path):
    pair = []
    for pressure in PRESSURES:
        coupling = {**pressure_coupling("C-rescale", pressure, 0.5, COMPRESSIBILITY), "nstpcouple": 2}
        frames = run(tmp_path / str(pressure), liquid, LIQUID, CONTINUE, bath(TEMPERATURES[0]), coupling, {"ld-seed": pressure}, time=300).after(10)
        expect_canonical(frames, TEMPERATURES[0])
        assert abs(missing_pressure(frames)) < 20  # 500 without the virial of the mesh
        mean, error = mean_and_error(frames["Pressure"])
        assert abs(mean - pressure) < LIMIT * error + 1
        pair.append(frames)
    assert slope_distance(*pair, 2 * TEMPERATURES[:1], PRESSURES, every=5) < LIMIT
    assert slope_distance(*pair, 2 * TEMPERATURES[:1], (1000, 1400), every=5) > LIMIT
