// SPDX-License-Identifier: Apache-2.0
// How an atom takes part in pair forces: by its charge, by Lennard-Jones, by both, or not at all.
//
// The idea: an atom with a charge alone and an atom with Lennard-Jones alone exert no pair force on each other. Of the sixteen
// pairs of atoms of two four-site waters these are six. Pair lists have pairs of clusters, so they can leave such pairs out
// only if the two sorts of atoms are in different clusters. In a molecule type whose atoms all have one or the other, the
// atoms without a charge therefore come last in the order of atoms on a GPU (pairs/gpu/cluster_order_gpu.hpp).
#pragma once

#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion::pair_kind {

// Bits. Two atoms may exert a pair force on each other if they have one of the bits of `any` in common.
inline constexpr std::uint8_t charge = 1, lennard_jones = 2, any = charge | lennard_jones;
inline constexpr std::uint8_t comes_last = 4;

// Returns the bits of every atom, by molecule type and atom. Every atom has `any` alone if fewer than a tenth of the atoms
// would come last: a sorted order makes clusters wider, and that would cost more than it saves.
std::vector<std::vector<std::uint8_t>> find_pair_kinds(const Topology& topology);

// Returns the number of atoms that come last, over all copies.
std::int64_t count_last_atoms(const Topology& topology);

} // namespace parhelion::pair_kind
