// SPDX-License-Identifier: Apache-2.0
// The mesh of several ranks over a bad network that delays and reorders: what one rank computes, bit by bit, in every exchange;
// and what is lost ends soon. As many exchanges as PARHELION_TEST_EXCHANGES says; PARHELION_TEST_SEED repeats a failure.
#include "mesh_ranks.hpp"

#include "support/faulty.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct NetworkCase
{
    const char* name;
    bool is_faulty;
    PeerAccess access;
    int share; // of all exchanges, per cent
};

class MeshStress : public ::testing::TestWithParam<NetworkCase>
{
};

std::int64_t number(const char* variable, std::int64_t otherwise)
{
    const char* const asked = std::getenv(variable);
    return asked != nullptr ? std::atoll(asked) : otherwise;
}

MakeNetwork behind(const FaultPlan& plan)
{
    return [plan](int ranks) { return with_faults(thread_network(ranks), plan); };
}

// How ranks ended that lose a put, or another incident befell.
struct Ends
{
    std::string error; // of the one that was first to wait in vain
    int primary = 0, bystanders = 0;
};

Ends ends_with(const Incident& incident, MeshMethod method, int threads)
{
    FaultPlan plan;
    plan.incidents = {incident};
    constexpr auto deadline = std::chrono::milliseconds(800); // a rank that is only late on a busy machine must not count as lost
    MeshRanks<MixedReproducible> ranks({{3, 1, 1}}, method, threads, behind(plan), deadline);
    Ends ends;
    for (const std::exception_ptr& end : ranks.outcomes(20))
    {
        if (!end) { continue; }
        try
        {
            std::rethrow_exception(end);
        }
        catch (const CommError& error)
        {
            ends.error = error.what();
            ++ends.primary;
        }
        catch (const PeerAborted&)
        {
            ++ends.bystanders;
        }
    }
    return ends;
}

} // namespace

TEST_P(MeshStress, has_the_bits_of_one_rank_in_every_exchange)
{
    const NetworkCase& network = GetParam();
    std::uint64_t seed = static_cast<std::uint64_t>(number("PARHELION_TEST_SEED", 1));
    const std::int64_t exchanges = number("PARHELION_TEST_EXCHANGES", 12'000) * network.share / 100;
    for (const MeshMethod method : mesh_methods)
    {
        for (const CellGrid& grid : {CellGrid{{2, 1, 1}}, CellGrid{{5, 1, 1}}, CellGrid{{2, 2, 2}}})
        {
            SCOPED_TRACE(testing::Message() << name_of(method) << " " << grid.ranks() << " ranks, seed " << seed);
            const FaultPlan plan{.seed = seed,
                                 .longest_delay = std::chrono::microseconds(20),
                                 .duplicated = 0.05,
                                 .payload = network.access,
                                 .incidents = {}};
            const MakeNetwork plain = [&](int n) { return thread_network(n, network.access); };
            MeshRanks<MixedReproducible> ranks(grid, method, 1, network.is_faulty ? behind(plan) : plain);
            // Of the four exchanges that a step has at the most.
            EXPECT_EQ(ranks.wrong_in(std::max<std::int64_t>(8, exchanges / 4 / 6)), 0);
            ++seed;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Networks, MeshStress,
                         ::testing::Values(NetworkCase{"threads_pointers", false, PeerAccess::Pointers, 10},
                                           NetworkCase{"threads_staged", false, PeerAccess::Staged, 10},
                                           NetworkCase{"faulty_pointers", true, PeerAccess::Pointers, 40},
                                           NetworkCase{"faulty_staged", true, PeerAccess::Staged, 40}),
                         [](const auto& i) { return i.param.name; });

TEST(MeshFaults, a_lost_message_of_any_exchange_ends_all_ranks_and_is_named)
{
    const std::regex in_vain("Rank [0-2] waited 0.8 s in vain for a message from rank [0-2]: channel 'mesh [a-z ]+', epoch "
                             "expected [0-9]+, seen [0-9]+, .*in step [0-9]+\\.");
    for (const MeshMethod method : mesh_methods)
    {
        // A rank has two puts an exchange: these are of step 1 and later, of every exchange that there is.
        for (const std::int64_t put : {8, 10, 12, 15})
        {
            SCOPED_TRACE(testing::Message() << name_of(method) << ", put " << put);
            const auto start = std::chrono::steady_clock::now();
            const Ends ends = ends_with({Incident::Kind::LostPut, 1, put}, method, put % 4 == 0 ? 1 : 2);
            EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
            EXPECT_EQ(ends.primary, 1);
            EXPECT_EQ(ends.bystanders, 2);
            EXPECT_TRUE(std::regex_match(ends.error, in_vain)) << ends.error;
        }
    }
}

TEST(MeshFaults, a_rank_that_dies_ends_all_others)
{
    for (const MeshMethod method : mesh_methods)
    {
        const Ends ends = ends_with({Incident::Kind::Death, 2, 11}, method, 1);
        EXPECT_EQ(ends.primary, 1) << name_of(method);
        EXPECT_EQ(ends.bystanders, 1) << name_of(method);
    }
}
