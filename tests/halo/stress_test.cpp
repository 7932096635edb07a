// SPDX-License-Identifier: Apache-2.0
// Very many exchanges over a bad network that delays and reorders, with slots destroyed after use. 25 000 in all, or
// as many as PARHELION_TEST_EXCHANGES says; PARHELION_TEST_SEED repeats a failure.
#include "halo_ranks.hpp"

#include "support/network_case.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class HaloStress : public ::testing::TestWithParam<NetworkCase>
{
};

} // namespace

TEST_P(HaloStress, reads_nothing_too_early_and_overwrites_nothing_too_soon)
{
    const NetworkCase& network = GetParam();
    const CellGrid grids[] = {{{2, 1, 1}}, {{1, 1, 5}}, {{2, 1, 3}}, {{2, 2, 2}}};
    // A step has two exchanges: positions there, forces back.
    const std::int64_t steps = number_in<std::int64_t>("PARHELION_TEST_EXCHANGES", 25'000) * network.share / 100 / 2 / 12;
    std::uint64_t seed = static_cast<std::uint64_t>(number_in<std::int64_t>("PARHELION_TEST_SEED", 1));
    const System system = random_liquid(domain_box, 12, 20, 8);
    for (const CellGrid& grid : grids)
    {
        for (const HaloMethod method : halo_methods)
        {
            SCOPED_TRACE(testing::Message() << name_of(grid) << ", " << name_of(method) << ", seed " << seed);
            WitnessedWorld world;
            const FaultPlan plan{.seed = seed,
                                 .longest_delay = std::chrono::microseconds(5),
                                 .duplicated = 0.05,
                                 .payload = network.access,
                                 .incidents = {}};
            HaloRanks<Mixed> ranks(system, {.grid = grid,
                                            .method = method,
                                            .reach = 0.95,
                                            .network = network.is_faulty ? world.network(plan) : world.network(network.access)});
            ranks.repartition();
            world.witness->watch();
            const SymmetricMemory& memory = ranks.domains().world().memory();
            const auto poison = [&](DomainRank<Mixed>& r, std::int64_t step) {
                world.witness->poison(r.comm.rank(), static_cast<Word>(step) + 1, memory);
            };
            ASSERT_EQ(ranks.exchange(0, steps, poison), 0);
            EXPECT_EQ(world.overlaps(), 0);
            ++seed;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Networks, HaloStress, network_cases, network_name);
