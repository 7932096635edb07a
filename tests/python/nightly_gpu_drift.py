# SPDX-License-Identifier: Apache-2.0
"""Energy drift on GPUs at constant energy with default settings, 2 fs: 10 ns of 3 000 atoms and 1 ns of 45 000, with PME also of a protein.

Some five minutes on one.
"""
import json
import os
import subprocess

import pytest

from ensembles import drift, mean_and_error
from nightly_drift import MTS, PME_CASES
from simulation import GPUS, PME, RANKS, WATER, Box, run, water

pytestmark = pytest.mark.skipif(os.environ.get("PARHELION_DEVICE") != "gpu", reason="PARHELION_DEVICE is not gpu: a CPU takes days")


@pytest.fixture
def series(tmp_path):
    """The 45 000-atom box of the series; its positions have three decimals, so constraints are satisfied anew."""
    program = os.environ.get("PARHELION_PROGRAM", "parhelion")
    subprocess.run([program, "generate", "ethanol-water", "--atoms", "45000", "-d", tmp_path / "series"], check=True, stdout=subprocess.DEVNULL)
    return Box(tmp_path / "series" / "conf.gro", tmp_path / "series" / "topol.top", 45000, 3 * 45000 - 15 * (3 * 700 + 6 * 100))


def report(name, result, time):
    temperature, _ = mean_and_error(result["Temperature"])
    slope, error = drift(result, temperature)
    line = {"case": name, "atoms": result.box.atoms, "ns": time / 1000, "drift_kT_per_ns_per_atom": slope, "error": error, "temperature_K": temperature,
            "gpus": max(GPUS, 1), "ranks": RANKS, "pairlist": result.report["pairlist"], "version": result.report["version"]}
    print(json.dumps(line))
    return slope, error


@pytest.mark.skipif(RANKS > 1, reason="a box of 3 000 atoms has no cells for several ranks")
def test_ten_nanoseconds_of_ethanol_and_water(tmp_path):
    result = run(tmp_path, water("etoh"), WATER, {"comm-mode": "None"}, time=10000, every=500)
    slope, error = report("etoh", result, 10000)
    assert abs(slope) <= 0.01
    assert error <= 0.001


@pytest.mark.skipif(RANKS > 1, reason="boxes of some thousand atoms have no cells for several ranks")
@pytest.mark.parametrize("case", PME_CASES)
def test_a_nanosecond_with_pme(case, tmp_path):
    system, more = PME_CASES[case]
    result = run(tmp_path, water(system), WATER, PME, more, {"comm-mode": "None", "nstlog": 0}, time=1000, every=100)
    slope, error = report(f"{case}-pme", result, 1000)
    assert abs(slope) <= 0.01
    assert error <= 0.001


SERIES_CASES = {"series": {}, "series-pme": PME, "series-pme-mts": {**PME, **MTS}}


@pytest.mark.parametrize("case", SERIES_CASES)
def test_a_nanosecond_of_45000_atoms(case, series, tmp_path):
    more = {"comm-mode": "None", "continuation": "no", "nstlog": 0}
    result = run(tmp_path, series, WATER, SERIES_CASES[case], more, time=1000, every=500).after(5)
    slope, error = report(case, result, 995)
    assert abs(slope) <= 0.01
    assert error <= 0.001
