// SPDX-License-Identifier: Apache-2.0
// The mesh of several ranks over a bad network that delays and reorders: what one rank computes, bit by bit, in every exchange;
// and what is lost ends soon. As many exchanges as PARHELION_TEST_EXCHANGES says; PARHELION_TEST_SEED repeats a failure.
#include "mesh_ranks.hpp"

#include "comm/networks/networks.hpp"
#include "support/network_case.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class MeshStress : public ::testing::TestWithParam<NetworkCase>
{
};

MakeNetwork behind(const FaultPlan& plan)
{
    return [plan](int ranks) { return with_faults(thread_network(ranks), plan); };
}

// Counts the puts of a rank.
class CountingTransport final : public Transport
{
public:
    CountingTransport(std::unique_ptr<Transport> inner, int rank, std::int64_t& puts)
        : inner_(std::move(inner)), rank_(rank), puts_(puts)
    {
    }
    std::byte* reach_payload(int source, int destination, std::size_t offset) override
    {
        return inner_->reach_payload(source, destination, offset);
    }
    SignalSlot* reach_signal(int, int, std::size_t) override { return nullptr; }
    void put_signal(const Put& put) override
    {
        puts_ += put.source == rank_ ? 1 : 0; // by the rank's own thread
        inner_->put_signal(put);
    }

private:
    std::unique_ptr<Transport> inner_;
    int rank_;
    std::int64_t& puts_;
};

// Of three ranks.
CellGrid few_cells(MeshMethod method) { return {{3 - mesh_ranks_of(method), 1, 1}}; }

CellGrid uneven_slabs() { return {{3, 1, 1}, {std::vector<std::uint32_t>{0x14000000u, 0x2c000000u}, {}, {}}}; }

// Puts of a rank before the first exchange of the mesh: the same in every run.
std::int64_t puts_before(int rank, MeshMethod method)
{
    std::int64_t puts = 0;
    const MeshRanks<MixedReproducible> ranks(few_cells(method), method, 1, [&](int n) {
        return with_transport(thread_network(n), [&](std::unique_ptr<Transport> inner) {
            return std::make_unique<CountingTransport>(std::move(inner), rank, puts);
        });
    });
    return puts;
}

// How ranks ended that lose a put, or another incident befell.
struct Ends
{
    std::string error; // of the first whose wait timed out
    int primary = 0, bystanders = 0;
};

// incident.put: from the first exchange of the mesh on.
Ends ends_with(const Incident& incident, MeshMethod method, int threads)
{
    FaultPlan plan;
    plan.incidents = {incident};
    plan.incidents[0].put += puts_before(incident.rank, method);
    constexpr auto deadline = std::chrono::milliseconds(1500); // a busy machine keeps no rank from running for so long
    MeshRanks<MixedReproducible> ranks(few_cells(method), method, threads, behind(plan), deadline);
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
    std::uint64_t seed = static_cast<std::uint64_t>(number_in<std::int64_t>("PARHELION_TEST_SEED", 1));
    const std::int64_t exchanges = number_in<std::int64_t>("PARHELION_TEST_EXCHANGES", 12'000) * network.share / 100;
    for (const MeshMethod method : mesh_methods)
    {
        for (const CellGrid& grid : {CellGrid{{2, 1, 1}}, CellGrid{{5, 1, 1}}, CellGrid{{2, 2, 2}}, uneven_slabs()})
        {
            if (method == MeshMethod::Shared && grid.cells[1] > 1) { continue; }
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

INSTANTIATE_TEST_SUITE_P(Networks, MeshStress, network_cases, network_name);

// Guards the test above: of `shared` both ways of a step must be among its steps.
TEST(MeshStress, has_steps_within_reach_of_the_halo_and_others)
{
    for (const CellGrid& grid : {CellGrid{{2, 1, 1}}, CellGrid{{5, 1, 1}}})
    {
        MeshRanks<MixedReproducible> ranks(grid, MeshMethod::Shared, 1, [](int n) { return thread_network(n); });
        for (const int step : {0, 2, 4, 6}) { EXPECT_TRUE(ranks.is_in_reach(step)) << step; }
        for (const int step : {1, 3}) { EXPECT_FALSE(ranks.is_in_reach(step)) << step; }
    }
    // Planes do not follow borders that have moved.
    EXPECT_FALSE(MeshRanks<MixedReproducible>(uneven_slabs(), MeshMethod::Shared, 1, [](int n) {
                     return thread_network(n);
                 }).is_in_reach(0));
}

TEST(MeshFaults, a_lost_message_of_any_exchange_ends_all_ranks_and_is_named)
{
    const std::regex timed_out(
        "Rank [0-2] timed out after [0-9.]+ s waiting for a message from rank [0-2]: channel 'mesh [a-z ]+', epoch "
        "expected [0-9]+, seen [0-9]+, .*in step [0-9]+\\.");
    for (const MeshMethod method : mesh_methods)
    {
        // A rank has two puts an exchange, or three a step if it is dedicated, or sends its atoms to two that are: these are of
        // step 1 and later, of every exchange that there is.
        for (const auto& [rank, put] : {std::pair(1, 8), {1, 10}, {1, 12}, {1, 15}, {0, 9}})
        {
            SCOPED_TRACE(testing::Message() << name_of(method) << ", rank " << rank << ", put " << put);
            const auto start = std::chrono::steady_clock::now();
            const Ends ends = ends_with({Incident::Kind::LostPut, rank, put}, method, put % 4 == 0 ? 1 : 2);
            EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(12));
            EXPECT_EQ(ends.primary, 1);
            EXPECT_EQ(ends.bystanders, 2);
            EXPECT_TRUE(std::regex_match(ends.error, timed_out)) << ends.error;
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
