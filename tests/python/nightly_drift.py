# SPDX-License-Identifier: Apache-2.0
"""Energy drift of 200 ps at constant energy with default settings: 2 fs, mixed precision, our own choice of the pair list.

GROMACS 2022 with its defaults gains 0.20 kT/ns/atom on the first of these boxes (docs/decisions/0006-pair-list-buffer.md). Some
five minutes each on one core.
"""
import math
import os
import subprocess

import numpy as np
import pyedr
import pytest

import stage_folders
from ensembles import drift, mean_and_error
from simulation import PME, WATER, Box, Run, argon, run, small_water, temperature_coupling, water
from test_list_plans import SETTINGS, at, in_vacuum
from test_virtual_sites import four_site_water


@pytest.mark.parametrize("system", ["spce", "etoh"])
def test_energy_does_not_drift(system, tmp_path):
    result = run(tmp_path, water(system), WATER, {"comm-mode": "None"}, time=200, every=50)
    temperature, _ = mean_and_error(result["Temperature"])
    slope, error = drift(result, temperature)
    print(f"{system}: {slope:+.5f} +- {error:.5f} kT/ns/atom at {temperature:.1f} K, pair list {result.report['pairlist']}")
    assert abs(slope) <= 0.01
    assert error <= 0.002


# Short-range forces end at 0.9 nm, or go to zero at 1.2 nm; a net force of the mesh, which no momentum balances, stays in.
LONG_CUTOFF = {"rvdw": 1.2, "rcoulomb": 1.2, "vdw-modifier": "Force-switch", "rvdw-switch": 1.0, "DispCorr": "No"}
MTS = {"mts": "yes", "mts-level2-factor": 2}
PME_CASES = {"etoh": ("etoh", {}), "etoh-mts": ("etoh", MTS), "villin": ("villin", LONG_CUTOFF)}


@pytest.mark.parametrize("case", PME_CASES)
def test_energy_does_not_drift_with_pme(case, tmp_path):
    system, more = PME_CASES[case]
    result = run(tmp_path, water(system), WATER, PME, more, {"comm-mode": "None", "nstlog": 0}, time=200, every=50)
    temperature, _ = mean_and_error(result["Temperature"])
    slope, error = drift(result, temperature)
    print(f"{case}: {slope:+.5f} +- {error:.5f} kT/ns/atom at {temperature:.1f} K, pair list {result.report['pairlist']}")
    assert abs(slope) <= 0.01
    assert error <= 0.002


def test_energy_of_four_site_water_does_not_drift(tmp_path):
    start = {"continuation": "no", "gen-vel": "yes", "gen-temp": 300, "gen-seed": 1, "DispCorr": "No"}
    heat = {"integrator": "sd", "tc-grps": "System", "ref-t": 300, "tau-t": 0.1}
    box = four_site_water(tmp_path)
    run(tmp_path / "heat", box, WATER, PME, start, heat, time=10)
    begin = Box(tmp_path / "heat" / "run.gro", box.topology, box.atoms, box.degrees_of_freedom)
    result = run(tmp_path / "nve", begin, WATER, PME, {"DispCorr": "No", "comm-mode": "None"}, time=200, every=50)
    temperature, _ = mean_and_error(result["Temperature"])
    slope, error = drift(result, temperature)
    print(f"four-site water: {slope:+.5f} +- {error:.5f} kT/ns/atom at {temperature:.1f} K, pair list {result.report['pairlist']}")
    assert abs(slope) <= 0.01
    assert error <= 0.002


# The largest drift that such steps are to have: they follow the fastest motions less closely.
HEAVY_HYDROGENS = {"dt": 0.004, "mass-repartition-factor": 3, "continuation": "no", "gen-vel": "yes", "gen-temp": 300, "gen-seed": 1}


def test_energy_does_not_drift_in_steps_of_4_fs_with_heavy_hydrogens(tmp_path):
    result = run(tmp_path, water("villin"), WATER, PME, HEAVY_HYDROGENS, {"comm-mode": "None", "nstlog": 0}, time=205, every=50).after(5)
    temperature, _ = mean_and_error(result["Temperature"])
    slope, error = drift(result, temperature)
    print(f"villin, 4 fs: {slope:+.5f} +- {error:.5f} kT/ns/atom at {temperature:.1f} K, pair list {result.report['pairlist']}")
    assert abs(slope) <= 0.02
    assert error <= 0.004


# A lattice of water that relaxes to a drop, and argon that is a gas at first: its plan is made for what it is when it condenses.
VACUUM_CASES = {
    "drop_of_water": (lambda folder: in_vacuum(small_water(folder), 40), WATER, {"continuation": "no", "DispCorr": "No"}),
    "gas_that_condenses": (lambda folder: argon(folder, cells=5, edge=11), SETTINGS, at(50), temperature_coupling("v-rescale", 50, 0.5)),
}


@pytest.mark.parametrize("case", VACUUM_CASES)
def test_energy_does_not_drift_in_vacuum(case, tmp_path):
    make, *settings = VACUUM_CASES[case]
    result = run(tmp_path, make(tmp_path), *settings, {"comm-mode": "None"}, time=405, every=50).after(5)
    temperature, _ = mean_and_error(result["Temperature"])
    slope, error = drift(result, temperature)
    print(f"{case}: {slope:+.5f} +- {error:.5f} kT/ns/atom at {temperature:.1f} K, pair list {result.report['pairlist']}")
    assert abs(slope) <= 0.01
    assert error <= 0.002


def test_the_missing_pairs_of_a_shorter_list_are_seen(tmp_path):
    """The list that GROMACS' tolerance leads to here: most of its drift comes with it."""
    short = {"comm-mode": "None", "verlet-buffer-tolerance": -1, "nstlist": 10, "rlist": 0.969}
    slope, error = drift(run(tmp_path, water("spce"), WATER, short, time=20, every=50), 304)
    print(f"spce, list of 0.969 nm for 10 steps: {slope:+.5f} +- {error:.5f} kT/ns/atom")
    assert slope > 0.05 + 3 * error


# --- systems of stage_folders.py

FREE = {"tcoupl": "no", "pcoupl": "no", "gen-vel": "no", "continuation": "yes", "comm-mode": "None", "nstlog": 0}


def relaxed(kind, folder, *stages):
    """A box after minimisation and `stages`, pairs of changed options and a time in ps, and the options of the kind's last stage."""
    stage_folders.write(kind, folder)
    made = stage_folders.KINDS[kind]()
    (_, minimise, *_), *_, (_, options, *_) = made[2]
    box = Box(folder / "conf.gro", folder / "topol.top", len(made[1].atoms), None)
    words = ["-q", "-f", "em.mdp", "-c", box.structure, "-p", box.topology, "-n", "index.ndx", "-o", "em", "--threads", "1", "--device", "cpu"]
    subprocess.run([os.environ["PARHELION_PROGRAM"], "run", *words], cwd=folder, check=True, capture_output=True)
    box.structure = folder / "em.gro"
    for i, (changes, time) in enumerate(stages):
        start = stage_folders.GOES_ON if i else stage_folders.DRAWN
        run(folder / f"{i}", box, options, {"nstlog": 0}, start, changes, time=time, every=50, options=["-n", folder / "index.ndx"])
        box.structure = folder / f"{i}" / "run.gro"
    return box, options


def heated(temperature, tau=0.5):
    return stage_folders.heat("System", tau, temperature) | {"pcoupl": "no"}


SOFT_MATTER = {  # stages before, and the time in ps
    "polymer melt": ([(heated(300), 200)], 1000),
    "ionic liquid": ([({**heated(400), "dt": 0.001}, 5), ({**heated(400), "pcoupl": "C-rescale", "tau-p": 1, "ref-p": 100}, 60), (heated(400), 20)], 400),
}


@pytest.mark.parametrize("kind", SOFT_MATTER)
def test_energy_of_soft_matter_does_not_drift(kind, tmp_path):
    stages, time = SOFT_MATTER[kind]
    box, options = relaxed(kind, tmp_path, *stages)
    result = run(tmp_path / "nve", box, options, FREE, time=time, every=50, options=["-n", tmp_path / "index.ndx"])
    temperature, _ = mean_and_error(result["Temperature"])
    slope, error = drift(result, temperature)
    print(f"{kind}: {slope:+.5f} +- {error:.5f} kT/ns/atom at {temperature:.1f} K, pair list {result.report['pairlist']}")
    assert abs(slope) <= 0.01
    assert error <= 0.002


# Steps of 20 fs follow stretched bonds less closely. With the first list each program plans its own, with the second one it misses no pair.
LISTS = {"default": {}, "exact": {"verlet-buffer-tolerance": -1, "rlist": 1.4, "nstlist": 5}}


def gromacs(folder, box, options):
    (folder / "gromacs.mdp").write_text(stage_folders.mdp(options))
    for words in [("grompp", "-f", "gromacs.mdp", "-c", box.structure, "-p", box.topology, "-n", "index.ndx", "-o", "g.tpr", "-maxwarn", "9"), ("mdrun", "-s", "g.tpr", "-deffnm", "g", "-nt", "1")]:
        subprocess.run(["gmx", *map(str, words)], cwd=folder, check=True, capture_output=True, env={**os.environ, "GMX_MAXBACKUP": "-1"})
    energies = {term: np.asarray(values, float) for term, values in pyedr.edr_to_dict(str(folder / "g.edr")).items()}
    return Run({**energies, "Conserved En.": energies["Total Energy"]}, {}, box)  # without coupling GROMACS writes it once


def test_energy_of_a_coarse_grained_membrane_drifts_no_more_than_in_gromacs(tmp_path):
    hot = heated(310, 1.0)
    box, options = relaxed("Martini", tmp_path, ({**hot, "dt": 0.005}, 20), ({**hot, "pcoupl": "C-rescale", "tau-p": 4}, 400), (hot, 100))
    free = {**options, **FREE, "nsteps": 50000, "nstcalcenergy": 50, "nstenergy": 50}
    for kind, pairs in LISTS.items():
        ours = run(tmp_path / kind, box, free, pairs, time=1000, every=50, options=["-n", tmp_path / "index.ndx"])
        theirs = gromacs(tmp_path, box, {**free, **pairs})
        temperature, _ = mean_and_error(ours["Temperature"])
        (slope, error), (reference, their_error) = drift(ours, temperature), drift(theirs, temperature)
        print(f"membrane, 20 fs, {kind} list: {slope:+.5f} +- {error:.5f}, GROMACS {reference:+.5f} +- {their_error:.5f} kT/ns/atom at {temperature:.1f} K")
        assert abs(slope) <= abs(reference) + 3 * math.hypot(error, their_error)
        assert abs(slope) <= 0.01
        assert error <= 0.002
