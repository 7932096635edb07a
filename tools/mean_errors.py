# SPDX-License-Identifier: Apache-2.0
"""How far the mean of a simulation may be from the mean of the ensemble, and whether two sets of runs differ. Needs Python alone.

Samples of one run are correlated. Their number counts as n / g independent samples, where g = 1 + 2 (rho_1 + rho_2 + ...) is the
statistical inefficiency. The sum ends where it is five times shorter than the lag (A. Sokal, in Functional Integration, 1997).
A run tells its own error only if it is many times longer than the correlation time, and knows nothing of motions slower than
itself. Several runs do: the spread of the means of runs from one start needs no correlation time at all. It has few degrees of
freedom, so distances follow Student's distribution. They are told as the distance of a normal distribution that is as likely.
"""
import math
import statistics
from collections import namedtuple

LAGS = 5  # the sum of correlations ends at this many times g / 2
LEAST_INDEPENDENT = 20  # samples of a run that tells its own error
LEAST_FREEDOM = 4  # of a spread of runs that counts

# mean; variance of the mean; independent samples in it
RunMean = namedtuple("RunMean", "mean variance independent")
# error: of each side's mean; distance: in standard errors; is_decided: whether the errors are known well enough to tell
Comparison = namedtuple("Comparison", "means errors distance is_decided")


def inefficiency(values):
    """g of a series; at least 1, at most its length."""
    n, mean = len(values), statistics.fmean(values)
    deviations = [value - mean for value in values]
    variance = sum(d * d for d in deviations) / n
    if variance == 0:
        return 1.0
    g = 1.0
    for lag in range(1, n):
        g += 2 * sum(a * b for a, b in zip(deviations, deviations[lag:])) / (n * variance)
        if lag >= LAGS * g / 2:
            return max(1.0, g)
    return float(n)


def run_mean(values, weights=None, resolution=0.0):
    """The mean of one run's samples (weights: how many values a sample is the mean of), with its error. Differences up to the resolution
    are rounding."""
    n = len(values)
    weights = weights or [1] * n
    mean = sum(value * weight for value, weight in zip(values, weights)) / sum(weights)
    if max(values) - min(values) <= resolution:
        return RunMean(mean, 0.0, n)
    independent = n / inefficiency(values)
    # Deviations are from the mean of the same samples, which makes them smaller by 1 - g / n.
    variance = statistics.pvariance(values) / (independent - 1) if independent > 1 else math.inf
    return RunMean(mean, variance, independent)


def as_normal(distance, freedom):
    """The distance in a normal distribution as likely as this one of Student's. D. L. Wallace, Ann. Math. Stat. 30, 1121 (1959)."""
    if math.isinf(freedom):
        return distance
    return math.copysign((8 * freedom + 1) / (8 * freedom + 3) * math.sqrt(freedom * math.log1p(distance**2 / freedom)), distance)


def compare_runs(ours, theirs, least_error=0.0):
    """Compares two lists of RunMean. All runs began with the same state and have the same length, so that one spread holds for all."""
    sides = (ours, theirs)
    means = [statistics.fmean(run.mean for run in side) for side in sides]
    of_side = [statistics.fmean(run.variance for run in side) for side in sides]  # of one run's mean
    freedom = [sum(max(run.independent - 1, 1e-3) for run in side) for side in sides]
    spread_freedom = len(ours) + len(theirs) - 2
    is_decided = all(run.independent >= LEAST_INDEPENDENT for side in sides for run in side)
    if spread_freedom >= LEAST_FREEDOM:
        spread = sum((run.mean - mean)**2 for side, mean in zip(sides, means) for run in side) / spread_freedom
        is_slow = [not is_decided or spread > variance for variance in of_side]
        of_side = [spread if slow else variance for slow, variance in zip(is_slow, of_side)]
        freedom = [spread_freedom if slow else known for slow, known in zip(is_slow, freedom)]
        is_decided = True
    parts = [max(variance / len(side), least_error**2) for variance, side in zip(of_side, sides)]
    total = sum(parts)
    if total == 0 or math.isinf(total):
        return Comparison(means, [math.sqrt(part) for part in parts], 0.0 if means[0] == means[1] else math.copysign(math.inf, means[0] - means[1]), total == 0)
    # Both sides' spread is one estimate; errors of their own combine by Welch's formula.
    if spread_freedom >= LEAST_FREEDOM and all(is_slow):
        combined = spread_freedom
    else:
        combined = total**2 / sum(part**2 / known for part, known in zip(parts, freedom))
    distance = as_normal((means[0] - means[1]) / math.sqrt(total), combined)
    return Comparison(means, [math.sqrt(part) for part in parts], distance, is_decided)
