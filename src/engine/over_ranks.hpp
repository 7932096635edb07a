// SPDX-License-Identifier: Apache-2.0
// Sums over all ranks, in the order of ranks, so that every rank gets the same bits.
// Reproducible policies sum integers, so they get the same bits as a lone rank.
#pragma once

#include "engine/rank.hpp"
#include "trace/phases.hpp"

#include <span>
#include <vector>

namespace parhelion {

template <class N, class T>
void sum_over_ranks(Rank<N>& r, std::span<T> values)
{
    const ScopedPhase span(r.queue.clock(), Phase::Reduce);
    r.comm.sum(values);
}
template <class N, class T>
std::vector<T> over_ranks(Rank<N>& r, std::vector<T> values)
{
    sum_over_ranks(r, std::span<T>(values));
    return values;
}
template <class N, class T>
T over_ranks(Rank<N>& r, T value)
{
    sum_over_ranks(r, std::span<T>(&value, 1));
    return value;
}

// Returns the kinetic energies of r.state.v, summed over all ranks.
template <class N>
KineticEnergies kinetic_energies(Rank<N>& r)
{
    return joined(finish_kinetic(over_ranks(r, sum_kinetic(r.queue, r.state, r.motion_groups()))), r.temperature_groups());
}

} // namespace parhelion
