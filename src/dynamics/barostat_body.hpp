// SPDX-License-Identifier: Apache-2.0
// The maths of pressure coupling, on host and device: see barostat.hpp for the methods and their sources.
#pragma once

#include "base/random.hpp"
#include "base/units.hpp"
#include "dynamics/barostat.hpp"

#include <cmath>

namespace parhelion {

namespace barostat_detail {

PARHELION_HD inline double volume(const Vec3<double>& box) { return box.x * box.y * box.z; }

// Inverse mass of the Parrinello-Rahman box, times the unit of pressure: 4 pi^2 beta / (3 tau^2 L), L the longest edge.
PARHELION_HD inline double inverse_box_mass(const PressureCoupling& coupling, const Vec3<double>& box)
{
    const double longest = box.x > box.y ? (box.x > box.z ? box.x : box.z) : (box.y > box.z ? box.y : box.z);
    return 4 * units::pi * units::pi * coupling.compressibility / (3 * coupling.tau * coupling.tau * longest);
}

// d ln V of one coupling step, C-rescale's noise included (Bernetti and Bussi, eq. 5 in the logarithm of the volume).
PARHELION_HD inline double volume_strain(const PressureCoupling& coupling, std::int64_t step, double pressure, double box_volume)
{
    const double rate = coupling.compressibility * coupling.time_step / coupling.tau;
    double strain = rate * (pressure - coupling.reference);
    if (coupling.kind == Barostat::CRescale)
    {
        const double variance = 2 * units::boltzmann * coupling.temperature * rate * units::bar_per_kj_mol_nm3 / box_volume;
        strain += std::sqrt(variance) * RandomSequence(coupling.seed, RandomPurpose::Barostat, step, 0).next_normal();
    }
    return strain;
}

} // namespace barostat_detail

// Parrinello-Rahman: advances the box velocity by the last pressure and returns the drag on the atoms in this step (see
// VelocityCoupling); 0 for the other barostats.
PARHELION_HD inline Vec3<double> box_drag(const PressureCoupling& coupling, const Vec3<double>& box, BarostatState& barostat)
{
    if (coupling.kind != Barostat::ParrinelloRahman) { return {}; }
    if (barostat.pressure_known)
    {
        // One strain drives all edges: dV/dt (P - P0) is the power that changes 1/2 W sum of (box velocity)^2.
        const double strain_acceleration = barostat_detail::inverse_box_mass(coupling, box) * 3 * barostat_detail::volume(box) /
                                           norm2(box) * (barostat.pressure - coupling.reference);
        barostat.box_velocity += (coupling.time_step * strain_acceleration) * box;
    }
    Vec3<double> drag;
    for (int d = 0; d < 3; ++d) { drag[d] = coupling.time_step * barostat.box_velocity[d] / box[d]; }
    return drag;
}

// What a step's pressure makes of the box, and the factor on all velocities.
struct BoxScaling
{
    Vec3<double> box; // nm
    double velocity = 1;
};

// kinetic_energy: of the velocities after the step, kJ/mol. The work of the scaling is left pending in `barostat`.
PARHELION_HD inline BoxScaling next_box(const PressureCoupling& coupling, std::int64_t step,
                                        const PressureObservables& observables, const Vec3<double>& box, double kinetic_energy,
                                        BarostatState& barostat)
{
    BoxScaling scaling{box};
    if (coupling.kind == Barostat::None) { return scaling; }
    if (coupling.kind == Barostat::ParrinelloRahman)
    {
        scaling.box += coupling.time_step * barostat.box_velocity;
        return scaling;
    }
    const double strain = barostat_detail::volume_strain(coupling, step, observables.pressure, barostat_detail::volume(box)) / 3;
    const double edge = std::exp(strain);
    scaling.box *= edge;
    // dU / d(strain) = 2 tr Xi, half of it before and half after the scaling.
    barostat.pending_strain = strain;
    barostat.pending_work = strain * observables.virial_trace;
    if (coupling.kind == Barostat::CRescale)
    {
        scaling.velocity = 1 / edge;
        barostat.pending_work += (scaling.velocity * scaling.velocity - 1) * kinetic_energy;
    }
    return scaling;
}

// Completes the work of the last scaling by the virial at the scaled positions: the trapezoidal rule, without which the noise of
// C-rescale leaves a drift. Call in every step whose virial is known, before conserved_contribution; the step after a scaling
// must be one of them.
PARHELION_HD inline void complete_work(double virial_trace, BarostatState& barostat)
{
    barostat.work += barostat.pending_work + barostat.pending_strain * virial_trace;
    barostat.pending_work = barostat.pending_strain = 0;
}

// What must be added to the total energy to obtain the conserved one, kJ/mol. Parrinello-Rahman: to be taken after scale_box,
// `box` being the scaled one, as GROMACS does.
PARHELION_HD inline double conserved_contribution(const PressureCoupling& coupling, const Vec3<double>& box,
                                                  const BarostatState& barostat)
{
    if (coupling.kind == Barostat::None) { return 0; }
    if (coupling.kind != Barostat::ParrinelloRahman) { return -barostat.work; }
    const double kinetic = 0.5 * norm2(barostat.box_velocity) / barostat_detail::inverse_box_mass(coupling, box);
    return (kinetic + coupling.reference * barostat_detail::volume(box)) / units::bar_per_kj_mol_nm3;
}

} // namespace parhelion
