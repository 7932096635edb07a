# SPDX-License-Identifier: Apache-2.0
"""Errors of means by tools/mean_errors.py: on series whose errors are known, and on means that are or are not the same."""
import math
import random
import statistics
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
from mean_errors import LEAST_INDEPENDENT, as_normal, compare_runs, inefficiency, run_mean  # noqa: E402


def correlated(draw, length, rho, mean=0.0):
    """x(t + 1) = rho x(t) + noise, with variance 1; correlations are rho^lag. It begins in its stationary state."""
    values = [draw.gauss(0, 1)]
    for _ in range(length - 1):
        values.append(rho * values[-1] + math.sqrt(1 - rho**2) * draw.gauss(0, 1))
    return [mean + value for value in values]


def variance_of_mean(length, rho):
    """The exact one of such a series: the sum over all pairs of samples of rho^lag, over length^2."""
    return sum((length if lag == 0 else 2 * (length - lag)) * rho**lag for lag in range(length)) / length**2


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_the_variance_of_a_mean_is_that_of_the_series(rho):
    draw, length = random.Random(1), 600
    found = statistics.fmean(run_mean(correlated(draw, length, rho)).variance for _ in range(300))
    # With rho = 0.9 a series has 32 independent samples, and the sum of correlations ends early: some per cent too little.
    assert found == pytest.approx(variance_of_mean(length, rho), rel=0.08)
    assert inefficiency(correlated(draw, 100_000, rho)) == pytest.approx((1 + rho) / (1 - rho), rel=0.1)


def test_blocks_shorter_than_the_correlation_time_would_be_wrong():
    """The rule before this one: five blocks. It fails the test that the present rule passes."""
    draw, length, rho = random.Random(2), 600, 0.98
    exact = variance_of_mean(length, rho)

    def of_five_blocks(values):
        return statistics.variance(statistics.fmean(values[k:k + length // 5]) for k in range(0, length, length // 5)) / 5

    series = [correlated(draw, length, rho) for _ in range(300)]
    assert statistics.fmean(of_five_blocks(values) for values in series) < 0.8 * exact
    # The present rule says that this series is too short to tell.
    short = [run_mean(values).independent < LEAST_INDEPENDENT for values in series]
    assert statistics.fmean(short) > 0.85


def test_a_series_that_does_not_change_has_no_error():
    assert run_mean([2.5] * 40) == (2.5, 0, 40)
    assert run_mean([2.5, 2.5000001] * 20, resolution=1e-6) == (pytest.approx(2.5), 0, 40)


def test_without_correlations_the_error_is_that_of_independent_samples():
    values = [0, 1] * 20  # neighbours differ, so g is its least, 1
    result = run_mean(values)
    assert result.independent == 40 and result.variance == pytest.approx(statistics.variance(values) / 40, rel=1e-12)


def test_the_mean_counts_values_and_not_samples():
    assert run_mean([1, 4], weights=[2, 1]).mean == 2


@pytest.mark.parametrize("freedom, distance", [(4, 6.620), (6, 4.904), (10, 3.957), (30, 3.270), (1e9, 3)])
def test_student_s_distances_are_told_as_normal_ones(freedom, distance):
    """The two-sided 0.27 % of Student's distribution (tables), which are three standard errors of a normal distribution."""
    assert as_normal(distance, freedom) == pytest.approx(3, abs=0.04)
    assert as_normal(-distance, freedom) == -as_normal(distance, freedom)
    assert as_normal(distance, math.inf) == distance


@pytest.mark.parametrize("runs, length, rho", [(1, 400, 0.5), (3, 200, 0.9), (4, 40, 0.98), (6, 60, 0.99)])
def test_equal_means_are_seldom_outside(runs, length, rho):
    draw, distances = random.Random(3), []
    for _ in range(400):
        sides = [[run_mean(correlated(draw, length, rho)) for _ in range(runs)] for _ in range(2)]
        result = compare_runs(*sides)
        if result.is_decided:
            distances.append(abs(result.distance))
    # 0.27 % for exact errors, one of 400. Six would be there once in a thousand tests.
    assert len(distances) > 300 and sum(distance > 3 for distance in distances) < 6
    # And errors are not so large that nothing would be outside: half of all distances are beyond 0.67.
    assert 0.40 < statistics.median(distances) < 0.80


def test_means_that_differ_are_outside():
    draw = random.Random(4)
    ours, theirs = ([run_mean(correlated(draw, 60, 0.9, mean)) for _ in range(6)] for mean in (0, 2))
    result = compare_runs(ours, theirs)
    assert result.is_decided and result.distance < -3
    assert result.means == [pytest.approx(0, abs=0.8), pytest.approx(2, abs=0.8)]


def test_a_jump_that_runs_have_not_all_made_counts_as_an_error():
    """Two states, as of a torsion: within a run nothing tells of the other, so the runs alone know how far means scatter."""
    draw = random.Random(5)
    ours = [run_mean(correlated(draw, 200, 0, 5 * state)) for state in (0, 0, 1, 0)]
    theirs = [run_mean(correlated(draw, 200, 0, 5 * state)) for state in (0, 1, 1, 0)]
    result = compare_runs(ours, theirs)
    assert result.is_decided and abs(result.distance) < 1
    assert compare_runs(ours[1:2], theirs[1:2]).distance < -3  # one run each


def test_one_short_run_each_is_undecided():
    draw = random.Random(6)
    sides = [[run_mean(correlated(draw, 50, 0.98))] for _ in range(2)]
    assert not compare_runs(*sides).is_decided


def test_rounding_is_an_error_of_means_that_never_change():
    sides = [[run_mean([8.0] * 20)], [run_mean([8.0 + 4e-6] * 20)]]
    assert abs(compare_runs(*sides, least_error=8e-6).distance) < 1
    assert compare_runs(*sides).distance < -3
