// SPDX-License-Identifier: Apache-2.0
// Plans the number of slots of a rank on a GPU, and the columns into which its atoms are sorted, from numbers alone
// and before any allocation. Cost: none.
#pragma once

#include "base/box.hpp"
#include "state/gpu/columns.hpp"

#include <cstddef>

namespace parhelion {

struct RankSlots
{
    std::size_t atoms = 0, slots = 0; // atoms: capacity for home and halo atoms; slots: capacity with fillers
    GpuColumns columns;
};

// The largest number of clusters: the entries of a GPU's pair list have 24 bits for a cluster.
inline constexpr std::size_t most_gpu_clusters = (std::size_t{1} << 24) - 1;

// Returns slots for `density_factor` times the atoms that a rank's cell and halo have at the mean
// density of `atoms` atoms in the box (nm). The sorting kernel needs shared memory for each column, and
// a thread block has `shared_bytes` of it, which limits the columns. Precondition: density_factor >= 1.
RankSlots plan_slots(const GpuCell& cell, const Box<double>& box, std::size_t atoms, double density_factor,
                     std::size_t shared_bytes);

} // namespace parhelion
