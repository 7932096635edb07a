// SPDX-License-Identifier: Apache-2.0
// Stores the positions of atoms when the pair list is built, and finds how far atoms have moved since then.
//
// The idea: a pair that is not listed was farther apart than the list's cutoff. The buffer is the list's cutoff minus that
// of the forces. While no atom has moved by more than half of the buffer, no unlisted pair can be within range. If results
// must not depend on lists at all, a list is rebuilt before an atom moves so far. This holds for reproducible sums, whose
// bits are the same for all lists that miss no pair. Cost: a pass over the home atoms per step, 24 bytes each.
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
    ClusterArray<typename N::Fixed> x; // positions of home atoms, by slot
    Box<double> box;                   // the box at that time, nm

    void keep(const ParticleState<N>& state);
};

// Returns the largest distance that a home atom has moved since keep(), nm in the present box. Precondition: same atom order.
template <class N>
double largest_displacement(CpuQueue& queue, const ParticleState<N>& state, const ListedPositions<N>& listed);

} // namespace parhelion
