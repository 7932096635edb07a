// SPDX-License-Identifier: Apache-2.0
// The slots that a rank on a GPU is given, by numbers alone.
#include "state/rank_slots.hpp"

#include "state/gpu/particle_state_gpu.hpp"

#include <cmath>
#include <gtest/gtest.h>

using namespace parhelion;

namespace {

constexpr double density = 100; // atoms/nm^3: water
constexpr std::size_t kib = 1024;

Vec3<double> cube_of(std::size_t atoms)
{
    const double edge = std::cbrt(static_cast<double>(atoms) / density);
    return {edge, edge, edge};
}

// The first cell of a grid along x, with a halo of 1 nm.
GpuCell slab_of(int cells)
{
    GpuCell cell;
    cell.cells[0] = cells, cell.pulses[0] = cells > 1 ? 1 : 0;
    cell.reach = 1;
    return cell;
}

} // namespace

TEST(RankSlots, have_room_for_every_atom_however_they_are_spread_over_columns)
{
    for (const std::size_t atoms : {1, 63, 3000, 45000, 720000, 46'000'000})
    {
        for (const std::size_t shared : {99 * kib, 163 * kib, 227 * kib})
        {
            const RankSlots plan = plan_slots({}, cube_of(atoms), atoms, 1, shared);
            EXPECT_EQ(plan.atoms, atoms);
            EXPECT_EQ(plan.slots % supercluster_size, 0u);
            const auto columns = static_cast<std::size_t>(plan.columns.count);
            EXPECT_GE(plan.slots, atoms / supercluster_size * supercluster_size + std::min(columns, atoms));
            EXPECT_LE(2 * (columns + 1) * sizeof(std::int32_t), shared);
        }
    }
}

TEST(RankSlots, are_numbered_up_to_a_hundred_million_atoms)
{
    const auto fits = [](std::size_t atoms, int ranks) {
        return plan_slots(slab_of(ranks), cube_of(atoms), atoms, 1, 227 * kib).slots / cluster_size <= most_gpu_clusters;
    };
    EXPECT_TRUE(fits(46'000'000, 1));
    EXPECT_TRUE(fits(120'000'000, 1));
    EXPECT_FALSE(fits(140'000'000, 1));
    EXPECT_TRUE(fits(140'000'000, 2));
    EXPECT_FALSE(fits(1'100'000'000, 8));
}
