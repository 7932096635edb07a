// SPDX-License-Identifier: Apache-2.0
// Stochastic (Langevin) dynamics in impulse form (Goga, Rzepiela, de
// Vries, Marrink, Berendsen, J. Chem. Theory Comput. 8, 3637, 2012).
//
// A step is: kick; constrain, which gives v1; friction and noise; constrain; drift; finish. Friction and noise turn v1 into
//   v2 = a v1 + sqrt(kT (1 - a^2) / m) xi,   a = exp(-dt / tau),
// half of which acts on the displacement: the atoms move by w dt with w = (v1 + v2) / 2. Between friction_and_noise() and
// finish_stochastic_step() state.v holds w, so leap-frog's constraints and drift serve unchanged.
// Noise is a function of (seed, step, global atom). It does not depend on threads, ranks or order.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/motion_groups.hpp"
#include "dynamics/thermostat.hpp"
#include "model/run_parameters.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct StochasticDynamics
{
    struct Group
    {
        double keep = 1; // exp(-dt / tau); 1: there is no friction
        double kt = 0;   // kJ/mol
        Vec3<double> mobility{1, 1, 1};
    };
    std::uint64_t seed = 0;
    std::vector<Group> groups; // indexed by motion group
};

// Returns the friction and noise of all motion groups. `mobility` is empty if no atom is frozen.
StochasticDynamics make_stochastic_dynamics(const RunParameters& parameters, std::uint64_t seed, const Mobility& mobility = {});

// Sets the temperatures of all groups to the present reference temperatures of a coupling with annealing.
void anneal(const TemperatureCoupling& coupling, StochasticDynamics& dynamics);

// Replaces v1 in state.v by w, and stores v1 in `before`.
template <class N>
void friction_and_noise(CpuQueue& queue, const StochasticDynamics& dynamics, std::int64_t step, ParticleState<N>& state,
                        ClusterArray<typename N::Real>& before);

// Replaces w in state.v by v2 = 2 w - v1; call it after constraints and drift. Returns the heat that
// the bath gave to the home atoms: the kinetic energy of v2 minus that of v1. Sum it over ranks;
// from_sum() then converts it to kJ/mol. The total energy minus the heat of all steps is conserved.
template <class N>
ScalarSum<N> finish_stochastic_step(CpuQueue& queue, const ClusterArray<typename N::Real>& before, ParticleState<N>& state);

} // namespace parhelion
