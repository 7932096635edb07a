// SPDX-License-Identifier: Apache-2.0
// Stochastic (Langevin) dynamics in impulse form (Goga, Rzepiela, de Vries, Marrink, Berendsen, J. Chem. Theory Comput. 8, 3637,
// 2012).
//
// A step is: kick; constrain (v1); friction and noise; constrain; drift; finish. Friction and noise turn v1 into
//   v2 = a v1 + sqrt(kT (1 - a^2) / m) xi,   a = exp(-dt / tau),
// half of which acts on the displacement: the atoms move by w dt with w = (v1 + v2) / 2. Between friction_and_noise() and
// finish_stochastic_step() state.v holds w, so that constraints and drift are the leap-frog's.
// Noise is a function of (seed, step, global atom): independent of threads, ranks and order.
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
        double keep = 1; // exp(-dt / tau); 1: no friction
        double kt = 0;   // kJ/mol
        Vec3<double> mobility{1, 1, 1};
    };
    std::uint64_t seed = 0;
    std::vector<Group> groups; // by motion group
};

// mobility: empty where no temperature group is split.
StochasticDynamics make_stochastic_dynamics(const RunParameters& parameters, std::uint64_t seed, const Mobility& mobility = {});

// Sets the temperatures of all groups to the references that a coupling with annealing has at a time.
void anneal(const TemperatureCoupling& coupling, StochasticDynamics& dynamics);

// Replaces v1 in state.v by w; keeps v1 in `before`.
template <class N>
void friction_and_noise(CpuQueue& queue, const StochasticDynamics& dynamics, std::int64_t step, ParticleState<N>& state,
                        ClusterArray<typename N::Real>& before);

// After constraining and drifting: replaces w in state.v by v2 = 2 w - v1. Returns the heat the bath gave to the home atoms: the
// kinetic energy of v2 less that of v1, to be added over ranks and then, by from_sum(), in kJ/mol. Total energy - heat so far is
// conserved.
template <class N>
ScalarSum<N> finish_stochastic_step(CpuQueue& queue, const ClusterArray<typename N::Real>& before, ParticleState<N>& state);

} // namespace parhelion
