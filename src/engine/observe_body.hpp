// SPDX-License-Identifier: Apache-2.0
// The formulas that turn the sums of a step into its observables, the same on CPUs and GPUs.
#pragma once

#include "base/units.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/shear_body.hpp"
#include "engine/observer.hpp"
#include "interactions/pair/dispersion.hpp"

namespace parhelion {

// Computes all values of an observed step but the conserved energy and the box velocity, from o.box, o.kinetic and the sums
// over all atoms in o.forces. Also completes the barostat's work. constraint_virial: virial of constraint forces, kJ/mol.
PARHELION_HD inline void complete_observed_step(const Mat3<double>& constraint_virial, const DispersionTail& dispersion,
                                                double degrees_of_freedom, const PressureCoupling& coupling,
                                                BarostatState& barostat, ObservedStep& o)
{
    const double volume = o.box.volume();
    o.forces[EnergyTerm::DispersionCorrection] = dispersion.energy(volume);
    o.pressure_correction = dispersion.pressure(volume);
    o.virial = o.forces.virial + constraint_virial;
    for (int d = 0; d < 3; ++d) { o.virial[d][d] -= 0.5 * o.pressure_correction * volume / units::bar_per_kj_mol_nm3; }
    o.pressure_tensor = pressure_tensor(o.kinetic, o.virial, volume);
    o.pressure = trace(o.pressure_tensor) / 3;
    o.potential = o.forces.potential() + o.external;
    o.kinetic_energy = trace(o.kinetic);
    o.total = o.potential + o.kinetic_energy;
    o.temperature = temperature(o.kinetic_energy, degrees_of_freedom);
    complete_work(coupling, diagonal(o.virial), barostat, off_diagonal(o.virial));
}

// The energy that thermostats and the bath of stochastic dynamics have given to the system, as far as the kinetic energy of an
// observed step contains it.
struct GivenEnergy
{
    double thermostat = 0; // kJ/mol; conserved_contribution()
    double bath_heat = 0;  // kJ/mol; Coupling::bath_heat
};

// Computes the conserved energy; call it after the box was scaled.
PARHELION_HD inline void balance_observed_step(const GivenEnergy& given, const PressureCoupling& coupling,
                                               const Vec3<double>& scaled_box, BarostatState& barostat, ObservedStep& o)
{
    o.box_velocity = barostat.box_velocity, o.tilt_velocity = barostat.tilt_velocity;
    o.conserved = o.total + given.thermostat + conserved_contribution(coupling, scaled_box, barostat) - given.bath_heat;
    barostat.pressure = joined_mean(coupling.edges, diagonal(o.pressure_tensor));
    if (coupling.shears()) { barostat.shear_pressure = off_diagonal(o.pressure_tensor); }
    barostat.pressure_known = true;
}

} // namespace parhelion
