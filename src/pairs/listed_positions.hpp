// SPDX-License-Identifier: Apache-2.0
// Where atoms were when the pair list was built, and how far they have moved since.
//
// The idea: a pair that is not listed was farther apart than the list's cutoff. As long as no atom has moved more than half of
// what that is beyond the cut-off of the forces, no pair can have come within it unlisted. A list is built anew before that where
// results must not depend on lists at all: with reproducible sums, whose bits are those of every list that misses nothing.
// Cost: a pass over the home atoms per step, 24 bytes each.
#pragma once

#include "base/box.hpp"
#include "device/cpu_queue.hpp"
#include "state/particle_state.hpp"

#include <type_traits>

namespace parhelion {

template <class N>
inline constexpr bool lists_miss_nothing = std::is_integral_v<typename N::ForceSum>;

template <class N>
struct ListedPositions
{
    ClusterArray<typename N::Fixed> x; // home slots
    Box<double> box;                   // nm

    void keep(const ParticleState<N>& state);
};

// nm, of the present box: the farthest that a home atom is from where it was. Precondition: the same order of atoms.
template <class N>
double largest_displacement(CpuQueue& queue, const ParticleState<N>& state, const ListedPositions<N>& listed);

} // namespace parhelion
