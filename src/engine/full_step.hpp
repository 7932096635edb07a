// SPDX-License-Identifier: Apache-2.0
// Velocity Verlet, as a leap-frog step that also knows v(t): Swope, Andersen, Berens, Wilson, J. Chem. Phys. 76, 637 (1982).
//
// Between steps the velocities are v(t - dt/2), as with leap-frog: v(t) = v(t - dt/2) + dt/2 a(t), without its components along
// constraints (Andersen, J. Comput. Phys. 52, 24 (1983)), and v(t + dt/2) = s v(t) + dt/2 a(t), with the factor s of a
// thermostat. Constraint forces of the step remove those components, too, so the trajectory is the same whether or not v(t) is
// computed: steps in which nobody needs v(t) are leap-frog's. The virial of constraint forces is also leap-frog's, which is of
// second order in dt: that of the forces before v(t) and that of those after it, as in GROMACS, are of first order. Cost of a
// step that needs it: a kick, a projection and two copies of velocities.
#pragma once

#include "dynamics/leap_frog.hpp"
#include "engine/observe.hpp"
#include "engine/over_ranks.hpp"
#include "engine/rank.hpp"

#include <utility>

namespace parhelion {

// The results of a step that belong to v(t).
struct FullStep
{
    KineticEnergies kinetic;
    GivenEnergy given;
};

// Changes v(t), the velocities at the start of a run, to v(t - dt/2), so that x(t) - dt v satisfies the constraints.
template <class N>
void go_back_half_a_step(Rank<N>& r)
{
    const double dt = r.parameters.dt;
    kick(r.queue, kick_coefficients(-0.5 * dt, r.temperature_groups(), {}, r.tables.mobility), r.state);
    r.tables.constraints.apply(r.queue, r.assigned_constraints, r.state, -dt, Virial::Skip);
    r.coupling.half_step = kinetic_energies(r);
}

// Computes v(t), which output(rank) finds in r.state.v; the velocities are v(t - dt/2) again afterwards. If a Nose-Hoover
// chain ends its coupling step here, `coupling` gets its factors on v(t), which v(t) contains.
template <class N, class Output>
FullStep take_full_step(Rank<N>& r, const StepFlags& flags, VelocityCoupling& coupling, Output&& output)
{
    const double half = 0.5 * r.parameters.dt;
    FullStep full;
    auto v = r.state.v;
    kick(r.queue, kick_coefficients(half, r.temperature_groups(), {}, r.tables.mobility), r.state);
    r.tables.constraints.project(r.queue, r.assigned_constraints, r.state, r.state.v);
    full.kinetic = kinetic_energies(r);
    if (flags.finish_coupling)
    {
        finish_coupling(r.temperature_coupling, full.kinetic, r.coupling.thermostat, coupling);
        if (flags.due.wants_v())
        {
            kick(r.queue, kick_coefficients(0, r.temperature_groups(), coupling, r.tables.mobility), r.state);
        }
    }
    full.given = given_energy(r);
    if (flags.due.wants_v()) { r.tables.sites.construct(r.queue, r.assigned_sites, r.state); } // sets their velocities
    output(r);
    r.state.v = std::move(v);
    return full;
}

} // namespace parhelion
