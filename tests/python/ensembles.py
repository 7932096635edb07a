# SPDX-License-Identifier: Apache-2.0
"""Is a run's distribution the one its thermostat and barostat promise? physical_validation's answers, for a simulation.Run.

Distances are in standard errors of what they measure: of T from the mean and from the width of the kinetic energy, of the slope of
ln(P2/P1) between two state points. They are errors of correlated data, decorrelated by physical_validation before the fit.
"""
import contextlib
import io
import warnings

import numpy as np

from simulation import BOLTZMANN

with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import physical_validation as pv


def degrees_of_freedom(run):
    """What the run divided its kinetic energy by to get its temperature; must be a whole number, the same in every frame."""
    ratio = 2 * run["Kinetic En."] / (BOLTZMANN * run["Temperature"])
    count = round(ratio.mean())
    np.testing.assert_allclose(ratio, count, rtol=1e-5)
    return count


def simulation_data(run, temperature, pressure=None, every=1):
    freedoms = degrees_of_freedom(run)
    volume = run["Volume"][::every] if pressure is not None else None
    ensemble = {"ensemble": "NVT", "volume": 1.0} if pressure is None else {"ensemble": "NPT", "pressure": pressure}
    return pv.data.SimulationData(
        units=pv.data.UnitData.units("GROMACS"),
        dt=1.0,
        system=pv.data.SystemData(natoms=run.box.atoms, nconstraints=3 * run.box.atoms - freedoms, ndof_reduction_tra=0, ndof_reduction_rot=0),
        ensemble=pv.data.EnsembleData(natoms=run.box.atoms, temperature=temperature, **ensemble),
        observables=pv.data.ObservableData(
            kinetic_energy=run["Kinetic En."][::every], potential_energy=run["Potential"][::every], volume=volume),
    )


def kinetic_energy_distances(run, temperature, every=1):
    """Of the mean and of the width. Give `every` where the kinetic energy oscillates: the decorrelation expects it to decay."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pv.kinetic_energy.distribution(simulation_data(run, temperature, every=every), verbosity=0, bootstrap_seed=1)


def kinetic_energy_p_value(run, temperature, every=1):
    """Kolmogorov-Smirnov, of the whole distribution."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pv.kinetic_energy.distribution(simulation_data(run, temperature, every=every), strict=True, verbosity=0)


def slope_distance(first, second, temperatures, pressures=(None, None), every=1):
    """Of two state points: of potential energies, volumes or both, whatever differs."""
    data = [simulation_data(r, t, p, every) for r, t, p in zip((first, second), temperatures, pressures)]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return np.max(pv.ensemble.check(*data, verbosity=0, bootstrap_seed=1))


def mean_and_error(values, blocks=20):
    """The standard error is that of the means of `blocks` stretches of time, which must be longer than the correlation time."""
    means = np.array([b.mean() for b in np.array_split(values, blocks)])
    return values.mean(), means.std(ddof=1) / np.sqrt(blocks)


def drift(run, temperature, blocks=10):
    """Slope of the conserved energy and its standard error, in kT per ns and atom, by regression through the means of blocks."""
    t = np.array([b.mean() for b in np.array_split(run["Time"], blocks)])
    e = np.array([b.mean() for b in np.array_split(run["Conserved En."], blocks)])
    slope, offset = np.polyfit(t, e, 1)
    scatter = np.sum((e - offset - slope * t) ** 2) / (blocks - 2)
    per_ns = 1000 / (BOLTZMANN * temperature * run.box.atoms)
    return slope * per_ns, np.sqrt(scatter / np.sum((t - t.mean()) ** 2)) * per_ns
