// SPDX-License-Identifier: Apache-2.0
// How many slots a rank on a GPU has room for, and the columns that its atoms are sorted into: a plan from numbers alone, before
// anything is allocated. Cost: none.
#pragma once

#include "base/box.hpp"
#include "state/gpu/columns.hpp"

#include <cstddef>

namespace parhelion {

struct RankSlots
{
    std::size_t atoms = 0, slots = 0; // room for home and halo atoms, for fillers as well
    GpuColumns columns;
};

// The entries of a GPU's pair list have 24 bits for the number of a cluster.
inline constexpr std::size_t most_gpu_clusters = (std::size_t{1} << 24) - 1;

// For `density_factor` times as many atoms as there are in a rank's cell and halo at the mean density of `atoms` atoms in the box
// (nm). Whoever sorts them needs shared memory for each column, of which a thread block has so many bytes. Precondition:
// density_factor >= 1.
RankSlots plan_slots(const GpuCell& cell, const Box<double>& box, std::size_t atoms, double density_factor,
                     std::size_t shared_bytes);

} // namespace parhelion
