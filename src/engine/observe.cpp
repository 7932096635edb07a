// SPDX-License-Identifier: Apache-2.0
#include "engine/observe.hpp"

#include "engine/over_ranks.hpp"
#include "trace/phases.hpp"

#include <algorithm>

namespace parhelion {

namespace {

// Sums energies, virial and constraint results of an observed step over all ranks, in one message.
template <class N>
void sum_over_ranks(Rank<N>& r, EnergySums<N>& energies, ConstraintResult<N>& constraints)
{
    std::vector<ScalarSum<N>> sums(energies.energy.begin(), energies.energy.end());
    sums.insert(sums.end(), energies.virial.begin(), energies.virial.end());
    sums.insert(sums.end(), constraints.virial_sum.begin(), constraints.virial_sum.end());
    sums.push_back(constraints.deviation_squares);
    sums = over_ranks(r, std::move(sums));
    auto next = sums.begin();
    const auto take = [&](auto& array) {
        std::copy_n(next, array.size(), array.begin());
        next += static_cast<std::ptrdiff_t>(array.size());
    };
    take(energies.energy), take(energies.virial), take(constraints.virial_sum);
    constraints.deviation_squares = *next;
}

} // namespace

template <class N>
void observe(Rank<N>& r, const KineticEnergies& kinetic)
{
    EnergySums<N> energies = sum_energies(r.buffers);
    ConstraintResult<N> constraints = r.constraint_result;
    sum_over_ranks(r, energies, constraints);

    const ScopedPhase span(r.queue.clock(), Phase::Output);

    Observables& o = r.observables;
    o = Observables{};
    o.step = r.step;
    o.time = r.time();
    o.box = r.state.box.edges();
    o.forces = energies.result();
    if (!r.external.list.empty())
    {
        o.external = r.external.energy;
        o.forces.virial = o.forces.virial + r.external.virial;
    }
    o.kinetic = kinetic.total();
    o.constraint_rmsd = rms_deviation(from_sum(constraints.deviation_squares), r.tables.lincs_constraints);
    double degrees_of_freedom = 0;
    for (std::size_t g = 0; g < r.tables.degrees_of_freedom.size(); ++g)
    {
        degrees_of_freedom += r.tables.degrees_of_freedom[g];
        o.group_temperature.push_back(temperature(kinetic.energy(static_cast<int>(g)), r.tables.degrees_of_freedom[g]));
    }
    complete_observed_step(constraints.virial(), r.tables.dispersion, degrees_of_freedom, r.pressure_coupling,
                           r.coupling.barostat, o);
}

template <class N>
void balance_energy(Rank<N>& r, const GivenEnergy& given)
{
    balance_observed_step(given, r.pressure_coupling, r.state.box.edges().diagonal(), r.coupling.barostat, r.observables);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void observe<N>(Rank<N>&, const KineticEnergies&);                                                                  \
    template void balance_energy<N>(Rank<N>&, const GivenEnergy&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
