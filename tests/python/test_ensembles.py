# SPDX-License-Identifier: Apache-2.0
"""Thermostats and barostats give the ensembles they promise: 256 argon atoms at 150 K and 1000-1200 bar. A change is tested with those
that most runs have, v-rescale and C-rescale, for half a minute of a core; $PARHELION_TEST_ALL=1 tests all, by night and on GPUs.

The seeds are fixed, so a given program on a given vector width always gives the same verdict; another build is another draw. LIMIT
standard errors are passed by chance in 7e-6 of Gaussian draws; with errors underestimated by a third, in 5e-4, or one build in a
hundred for the twenty comparisons here. What the tests can see is part of them: each is repeated with a wrong expectation.
"""
import functools

import numpy as np
import pytest

from ensembles import degrees_of_freedom, drift, kinetic_energy_distances, kinetic_energy_p_value, mean_and_error, slope_distance
from runs import IS_NIGHT
from simulation import ARGON, WATER, Box, argon, pressure_coupling, run, temperature_coupling, water

LIMIT = 4.5  # standard errors
TEMPERATURES = 150, 162  # K
PRESSURES = 1000, 1200  # bar; apart by twice the width of the volume's distribution, as are the energies at the two temperatures
COMPRESSIBILITY = 2e-4  # 1/bar, that of the liquid
CONTINUE = {"gen-vel": "no", "continuation": "yes"}
BATH = temperature_coupling("v-rescale", TEMPERATURES[0], 0.1)

# nsttcouple and nstpcouple are the program's choice, by the error of the fluctuation; README.md has what longer ones do.
THERMOSTATS = {
    "v-rescale": BATH,
    "nose-hoover": temperature_coupling("nose-hoover", TEMPERATURES[0], 0.5),
    "sd": {**temperature_coupling("sd", TEMPERATURES[0], 0.5), "comm-mode": "None"},
}
BAROSTATS = {"C-rescale": 0.5, "Parrinello-Rahman": 1.0}  # tau-p, ps
if not IS_NIGHT:
    THERMOSTATS, BAROSTATS = {"v-rescale": BATH}, {"C-rescale": 0.5}
by_night = pytest.mark.skipif(not IS_NIGHT, reason="$PARHELION_TEST_ALL is not 1")


@pytest.fixture(scope="module")
def simulate(tmp_path_factory):
    """simulate(name, settings, time): frames after 10 ps of a run from the equilibrated liquid; each is run once."""
    folder = tmp_path_factory.mktemp("argon")
    lattice = argon(folder)
    run(folder / "start", lattice, ARGON, BATH, pressure_coupling("C-rescale", np.mean(PRESSURES), 0.5, COMPRESSIBILITY), time=60)
    liquid = Box(folder / "start" / "run.gro", lattice.topology, lattice.atoms, lattice.degrees_of_freedom)
    runs = {}

    def once(name, *settings, time):
        if name not in runs:
            seed = {"ld-seed": len(runs) + 1}
            runs[name] = run(folder / name, liquid, ARGON, CONTINUE, seed, *settings, time=time).after(10)
        return runs[name]

    return once


@pytest.fixture(scope="module")
def at_volume(simulate):
    return lambda thermostat: simulate(thermostat, THERMOSTATS[thermostat], time=250)


@pytest.fixture(scope="module")
def at_pressure(simulate):
    def of(barostat, pressure):
        coupling = pressure_coupling(barostat, pressure, BAROSTATS[barostat], COMPRESSIBILITY)
        return simulate(f"{barostat}-{pressure}", BATH, coupling, time=400)

    return of


@pytest.fixture(scope="module")
def at_lateral_pressure(simulate):
    """A height that stays and an area that follows the pressure across it: a liquid alone would not keep the shape of a box."""
    def of(pressure):
        coupling = {**pressure_coupling("C-rescale", f"{pressure} 1", BAROSTATS["C-rescale"], f"{COMPRESSIBILITY} 0"), "pcoupltype": "semiisotropic"}
        return simulate(f"lateral-{pressure}", BATH, coupling, time=400)

    return of


# Every 10th frame, 0.4 ps apart: independent, whatever the thermostat.
distances = functools.partial(kinetic_energy_distances, every=10)


@pytest.mark.parametrize("system", ["spce", "etoh"])
def test_temperature_divides_by_the_free_coordinates(system, tmp_path):
    box = water(system)
    settings = WATER, temperature_coupling("v-rescale", 300, 0.1)
    assert degrees_of_freedom(run(tmp_path / "fixed", box, *settings, time=0.04)) == box.degrees_of_freedom - 3
    assert degrees_of_freedom(run(tmp_path / "free", box, *settings, {"comm-mode": "None"}, time=0.04)) == box.degrees_of_freedom


@pytest.mark.parametrize("thermostat", THERMOSTATS)
def test_kinetic_energy_is_canonical(at_volume, thermostat):
    frames = at_volume(thermostat)
    assert max(distances(frames, TEMPERATURES[0])) < LIMIT
    assert kinetic_energy_p_value(frames, TEMPERATURES[0], every=10) > 1e-4
    assert distances(frames, 1.05 * TEMPERATURES[0])[0] > LIMIT
    assert kinetic_energy_p_value(frames, 1.05 * TEMPERATURES[0], every=10) < 1e-4


@by_night
def test_berendsen_kinetic_energy_is_too_narrow_to_be_canonical(simulate):
    frames = simulate("berendsen", temperature_coupling("berendsen", TEMPERATURES[0], 0.1), time=100)
    mean, width = distances(frames, TEMPERATURES[0])
    assert mean < LIMIT and width > 2 * LIMIT
    assert frames["Kinetic En."].std() < 0.7 * frames["Kinetic En."].mean() * np.sqrt(2 / degrees_of_freedom(frames))


def test_potential_energies_at_two_temperatures_are_canonical(at_volume, simulate):
    warmer = simulate("warmer", temperature_coupling("v-rescale", TEMPERATURES[1], 0.1), time=250)
    pair = at_volume("v-rescale"), warmer
    assert slope_distance(*pair, TEMPERATURES) < LIMIT
    assert slope_distance(*pair, (150, 174)) > LIMIT


@pytest.mark.parametrize("barostat", BAROSTATS)
def test_volumes_at_two_pressures_are_isothermal_isobaric(at_pressure, barostat):
    pair = [at_pressure(barostat, p) for p in PRESSURES]
    assert slope_distance(*pair, 2 * TEMPERATURES[:1], PRESSURES, every=5) < LIMIT
    assert slope_distance(*pair, 2 * TEMPERATURES[:1], (1000, 1400), every=5) > LIMIT


@by_night
def test_areas_at_two_pressures_are_isothermal_isobaric(at_lateral_pressure):
    pair = [at_lateral_pressure(p) for p in PRESSURES]
    assert slope_distance(*pair, 2 * TEMPERATURES[:1], PRESSURES, every=5) < LIMIT
    assert slope_distance(*pair, 2 * TEMPERATURES[:1], (1000, 1400), every=5) > LIMIT
    for pressure, frames in zip(PRESSURES, pair):
        assert len(set(frames["Box-Z"])) == 1
        mean, error = mean_and_error((frames["Pres-XX"] + frames["Pres-YY"]) / 2)
        assert abs(mean - pressure) < LIMIT * error


@by_night
@pytest.mark.parametrize("pressure", PRESSURES)
def test_barostats_agree_on_the_volume_and_reach_their_pressure(at_pressure, pressure):
    volumes = []
    for barostat in BAROSTATS:
        frames = at_pressure(barostat, pressure)
        mean, error = mean_and_error(frames["Pressure"])
        assert abs(mean - pressure) < LIMIT * error + 1, barostat  # 1 bar: the slow swing of Parrinello-Rahman's box
        volumes.append(mean_and_error(frames["Volume"]))
    (first, first_error), (second, second_error) = volumes
    assert abs(first - second) < LIMIT * np.hypot(first_error, second_error)
    assert np.hypot(first_error, second_error) < 0.003 * first


def test_conserved_energy_counts_what_baths_and_pistons_exchange(at_volume, at_pressure, at_lateral_pressure):
    runs = [at_volume(thermostat) for thermostat in THERMOSTATS] + [at_pressure(b, p) for b in BAROSTATS for p in PRESSURES]
    runs += [at_lateral_pressure(p) for p in PRESSURES if IS_NIGHT]
    for frames in runs:
        slope, error = drift(frames, TEMPERATURES[0])
        assert abs(slope) < 0.1 and error < 0.05  # kT/ns/atom; the baths exchange that much in a hundredth of a picosecond
