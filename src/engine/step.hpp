// SPDX-License-Identifier: Apache-2.0
// One leap-frog step of one rank. This file and forces.hpp are the whole schedule, and the only place that decides
// the order of phases. The phases have the names of trace/phases.hpp, of the report and of the benchmarks.
//
//   S repartition    X send coordinates    L pair forces    B bonded forces    M mesh forces   R sum forces    F return forces
//   T couple         U kick           C constrain           D drift          K kinetic          G sums over ranks
//
// On entry: x(t), v(t - dt/2); x satisfies the constraints.      On exit: x(t + dt), v(t + dt/2); x satisfies the constraints.
// Velocity Verlet: the same, but the kinetic energy, the velocities of the output and those on which the thermostat acts
//           are v(t), see full_step.hpp.
// Coupling: the thermostat acts before the kick on the kinetic energy of v(t - dt/2). So does Parrinello-Rahman, on the previous
//           observed pressure. The box changes last, when this step's pressure is known; positions are fractions of the box.
// Ranks:    between X and F halo atoms have their owners' positions; only F and G add forces and energies of other ranks.
// Multiple time stepping: the mesh acts in every n-th step, with weight n.
//           In steps that need plain forces, for energies, virial or output, the mesh is computed with weight 1. The rest of its
//           weight (n - 1 in every n-th step, -1 in other steps) is added before U.
// Virtual sites: their forces move to their constructing atoms before the kick. Sites are placed after all atoms have moved.
// External forces: if one has no answer, all ranks leave the step there, with x(t) and v(t - dt/2) unchanged.
// Blow-ups: just before D the guard checks every force and velocity. When it reports an atom, x(t) is still valid.
#pragma once

#include "dynamics/com.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/shear_body.hpp"
#include "engine/forces.hpp"
#include "engine/full_step.hpp"
#include "engine/observe.hpp"
#include "engine/over_ranks.hpp"
#include "engine/rank.hpp"
#include "engine/repartition.hpp"
#include "engine/unstable_atom.hpp"

#include <algorithm>

namespace parhelion {

// Sets the reference temperatures of this step for simulated annealing.
template <class N>
void anneal(Rank<N>& r)
{
    anneal(r.time(), r.temperature_coupling);
    anneal(r.temperature_coupling, r.stochastic);
    if (r.pressure_coupling.follows_annealing) { r.pressure_coupling.temperature = r.temperature_coupling.groups[0].reference; }
}

// Returns constraint forces and virial that the forces in r.state.f cause. They need a kick, which is taken back afterwards.
template <class N>
ConstraintResult<N> constrain_on_trial(Rank<N>& r, const KickCoefficients& coefficients)
{
    const auto v = r.state.v;
    kick(r.queue, coefficients, r.state);
    const ConstraintResult<N> result =
        r.tables.constraints.apply(r.queue, r.assigned_constraints, r.state, r.parameters.dt, Virial::Compute);
    r.state.v = v;
    return result;
}

// Takes one step. `output`, called as output(rank), receives f(t), x(t) and v(t - dt/2) before the update, with velocity Verlet
// v(t). `guard`, called as guard(rank), looks for a blow-up and returns whether the step continues, the same on all ranks.
template <class N, class Output, class Guard>
void step(Rank<N>& r, const StepFlags& flags, Output&& output, Guard&& guard)
{
    const double dt = r.parameters.dt;
    if (flags.repartition) { repartition(r); } // S: repartition
    r.halo.send_coordinates(r.state);          // X: halo positions are sent
    prune_if_due(r);

    compute_forces(r, flags.compute(), flags.mesh); // L B M R: forces, see forces.hpp
    r.halo.return_forces(r.buffers.halo, r.state);  // F: forces on halo atoms are returned
    if (!add_external_forces(r)) { return; }
    spread_site_forces(r, flags.compute());

    if (!r.temperature_coupling.points.empty()) { anneal(r); } // T: reference temperatures
    Coupling& coupled = r.coupling;
    VelocityCoupling coupling;
    FullStep full;
    if (flags.begins) { go_back_half_a_step(r); }
    if (flags.full_step) { full = take_full_step(r, flags, coupling, output); }
    else { output(r); }
    const bool at_full_step = r.parameters.integrator == Integrator::VelocityVerlet;
    if (flags.couple_temperature)
    {
        couple_temperature(r.temperature_coupling, r.step, at_full_step ? full.kinetic : coupled.half_step, coupled.thermostat,
                           coupling);
    } // T: thermostat
    if (flags.couple_pressure) { advance_box_velocity(r.pressure_coupling, r.state.box.edges(), coupled.barostat, coupling); }

    const KickCoefficients coefficients = kick_coefficients(dt, r.temperature_groups(), coupling, r.tables.mobility);
    if (coupling.shear != Vec3<double>{}) { shear_velocities(r.queue, coefficients, dt, coupling.shear, r.state); }
    ConstraintResult<N> of_plain_forces;
    const bool has_rest = flags.mesh.rest != 0;
    if (has_rest)
    {
        if (flags.observe) { of_plain_forces = constrain_on_trial(r, coefficients); }
        r.mesh.add_rest(r.queue, flags.mesh, r.state); // M: the rest of the mesh forces
        spread_site_forces(r, Compute::Forces);
    }
    kick(r.queue, coefficients, r.state); // U: kick
    r.constraint_result =
        r.tables.constraints.apply(r.queue, r.assigned_constraints, r.state, dt,
                                   flags.observe && !has_rest ? Virial::Compute : Virial::Skip); // C: constraints
    if (has_rest)
    {
        r.constraint_result.virial_sum = of_plain_forces.virial_sum;
        r.constraint_result.deviation_squares = of_plain_forces.deviation_squares;
    }
    const bool stochastic = r.parameters.integrator == Integrator::StochasticDynamics;
    if (stochastic)
    {
        friction_and_noise(r.queue, r.stochastic, r.step, r.state, r.velocities_before_noise);
        const ConstraintResult<N> second = r.tables.constraints.apply(r.queue, r.assigned_constraints, r.state, dt, Virial::Skip);
        const double largest_deviation = std::max(r.constraint_result.largest_deviation, second.largest_deviation);
        if (second.failures > r.constraint_result.failures) { r.constraint_result = second; }
        r.constraint_result.largest_deviation = largest_deviation;
    }
    if (!guard(r)) { return; }
    drift(r.queue, dt, r.state); // D: drift
    if (stochastic)
    {
        coupled.bath_heat += from_sum(over_ranks(r, finish_stochastic_step(r.queue, r.velocities_before_noise, r.state)));
    }

    if (flags.remove_com)
    {
        const ComMode mode = r.parameters.com_mode;
        const std::vector<ComMotion> motions = finish_com_motion(
            over_ranks(r, sum_com_motion(r.queue, r.tables.com.groups, r.state, mode)), r.tables.com.frozen, mode);
        remove_com_motion(r.queue, r.tables.com.groups, motions, r.state, r.tables.mobility);
        if (mode == ComMode::LinearWithDisplacement)
        {
            remove_com_displacement(r.queue, r.tables.com.groups, motions, r.parameters.com_interval * dt, r.state,
                                    r.tables.mobility);
        }
        coupled.bath_heat -= kinetic_energy(motions);
    }
    const KineticEnergies before = coupled.half_step;
    if (flags.kinetic) { coupled.half_step = kinetic_energies(r); } // K: kinetic energies
    if (flags.observe) { observe(r, at_full_step ? full.kinetic : mean(before, coupled.half_step)); }
    if (flags.couple_pressure) // T: barostat
    {
        const Mat3<double>&virial = r.observables.virial, &pressure = r.observables.pressure_tensor;
        const PressureObservables now{diagonal(virial), diagonal(pressure), off_diagonal(virial), off_diagonal(pressure)};
        scale_box(r.queue, r.pressure_coupling, r.step, now, coupled.barostat, coupled.half_step, r.state, r.tables.mobility);
        if (r.pressure_coupling.shears()) { flip_if_leaning(r); }
        stop_if_box_too_small(r.step, r.state.box.edges().largest_cutoff(), r.list_plan.cutoff);
        // A sudden scaling stretches bonds, so they are constrained again here. If this were left to the next
        // C, the correction would count as constraint force in the next virial, in proportion to this scaling,
        // and the conserved energy would drift. The box of Parrinello-Rahman moves as smoothly as the atoms.
        if (r.parameters.barostat != Barostat::ParrinelloRahman)
        {
            r.constraint_result = constrain_positions(r.queue, r.tables.constraints, r.assigned_constraints, r.state);
            stop_if_constraints_failed(r);
        }
    }
    r.tables.sites.construct(r.queue, r.assigned_sites, r.state);
    if (flags.observe) { balance_energy(r, at_full_step ? full.given : given_energy(r)); }
    ++r.step;
}

} // namespace parhelion
