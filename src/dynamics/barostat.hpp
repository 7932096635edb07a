// SPDX-License-Identifier: Apache-2.0
// Isotropic pressure coupling for leap-frog. All edges of the box grow by one factor.
//
//   Parrinello-Rahman  Parrinello, Rahman, J. Appl. Phys. 52, 7182 (1981): the box has a velocity, driven by the pressure of the
//   previous
//                      step. Acts on the kick (advance_box_velocity) and on the box (scale_box).
//   C-rescale          Bernetti, Bussi, J. Chem. Phys. 153, 114107 (2020): stochastic, first order. Scales box and velocities.
//   Berendsen          Berendsen et al., J. Chem. Phys. 81, 3684 (1984): first order, not an ensemble. Scales the box.
//
// Positions are fractions of the box and follow it for free.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/thermostat.hpp"
#include "model/run_parameters.hpp"
#include "state/particle_state.hpp"

#include <cstdint>

namespace parhelion {

struct PressureCoupling
{
    Barostat kind = Barostat::None;
    int interval = 1;                 // steps
    double time_step = 0;             // ps: interval * dt
    double tau = 1;                   // ps
    double compressibility = 0;       // 1/bar
    double reference = 0;             // bar
    double reference_temperature = 0; // K, of the first temperature group (C-rescale)
    std::uint64_t seed = 0;
};

PressureCoupling make_pressure_coupling(const RunParameters& parameters, std::uint64_t seed);

struct BarostatState
{
    Vec3<double> box_velocity;      // Parrinello-Rahman, nm/ps
    Mat3<double> previous_pressure; // Parrinello-Rahman, bar: of the last step in which it was computed
    bool pressure_known = false;    // false until the first step has passed: the box velocity stays 0 in that step
    double work = 0;                // Berendsen, C-rescale: energy given to the system so far, kJ/mol
};

// Parrinello-Rahman, before the kick: advances the box velocity by the previous pressure and writes the drag of this step. Call
// when couples(step, coupling.interval); does nothing for the other barostats.
void advance_box_velocity(const PressureCoupling& coupling, const Vec3<double>& box, BarostatState& state,
                          VelocityCoupling& velocities);

// What the barostat needs to know of a step: pressure in bar (with long-range corrections), virial of all forces and constraints
// in kJ/mol (with long-range corrections), and the kinetic energy of state.v.
struct PressureObservables
{
    Mat3<double> pressure, virial, kinetic;
};

// After the drift and after the step's pressure is known: scales the box (C-rescale: and state.v by the inverse). Call when
// couples().
template <class N>
void scale_box(CpuQueue& queue, const PressureCoupling& coupling, std::int64_t step, const PressureObservables& observables,
               BarostatState& barostat, ParticleState<N>& state);

// What must be added to the total energy to obtain the conserved one, kJ/mol; box: the one the energies of this step belong to.
double conserved_contribution(const PressureCoupling& coupling, const Vec3<double>& box, const BarostatState& state);

} // namespace parhelion
