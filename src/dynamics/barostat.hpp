// SPDX-License-Identifier: Apache-2.0
// Isotropic pressure coupling for leap-frog. All edges of the box grow by one factor.
//
//   Parrinello-Rahman  Parrinello, Rahman, J. Appl. Phys. 52, 7182 (1981): the box has a velocity, driven by the pressure of the
//                      previous step. Acts on the kick (advance_box_velocity) and on the box (scale_box).
//   C-rescale          Bernetti, Bussi, J. Chem. Phys. 153, 114107 (2020): stochastic, first order. Scales box and velocities.
//   Berendsen          Berendsen et al., J. Chem. Phys. 81, 3684 (1984): first order, not an ensemble. Scales the box.
//
// Positions are fractions of the box and follow it for free. Plain data and functions of it: the state is what a checkpoint
// keeps.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/leap_frog.hpp"
#include "model/run_parameters.hpp"
#include "state/particle_state.hpp"

#include <cstdint>

namespace parhelion {

struct PressureCoupling
{
    Barostat kind = Barostat::None;
    double time_step = 0;       // ps, from one coupling to the next
    double tau = 1;             // ps
    double compressibility = 0; // 1/bar
    double reference = 0;       // bar
    double temperature = 0;     // K, of C-rescale's noise: the ensemble's
    std::uint64_t seed = 0;
};

// Requires an ensemble temperature for C-rescale.
PressureCoupling make_pressure_coupling(const RunParameters& parameters, std::uint64_t seed);

struct BarostatState
{
    // Parrinello-Rahman
    Vec3<double> box_velocity;   // nm/ps
    double pressure = 0;         // bar, of the last step in which it was computed; the engine keeps it up to date
    bool pressure_known = false; // false until the first step has passed: the box velocity stays 0 in that step

    // Berendsen, C-rescale: energy given to the system, kJ/mol. That of the last scaling is known in full one step later, with
    // the virial of the scaled positions.
    double work = 0;
    double pending_work = 0;   // what is known of it
    double pending_strain = 0; // logarithm of the last scaling factor
};

// Parrinello-Rahman, before the kick: advances the box velocity by the last pressure and writes the drag of this step. Call in
// steps that couple; does nothing for the other barostats.
void advance_box_velocity(const PressureCoupling& coupling, const Vec3<double>& box, BarostatState& barostat,
                          VelocityCoupling& velocities);

// Trace of the virial of all forces and constraints (kJ/mol) and the pressure (bar), both with long-range corrections.
struct PressureObservables
{
    double virial_trace = 0;
    double pressure = 0;
};

// After the drift and after the step's pressure is known: scales the box, and for C-rescale state.v by the inverse and half_step,
// the kinetic energies of state.v, by its square. Call in steps that couple.
template <class N>
void scale_box(CpuQueue& queue, const PressureCoupling& coupling, std::int64_t step, const PressureObservables& observables,
               BarostatState& barostat, KineticEnergies& half_step, ParticleState<N>& state);

} // namespace parhelion
