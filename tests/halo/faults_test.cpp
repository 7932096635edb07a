// SPDX-License-Identifier: Apache-2.0
// What goes wrong in an exchange ends soon and says what it was; what is merely late does no harm.
#include "halo_ranks.hpp"

#include <gtest/gtest.h>
#include <regex>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr auto deadline = std::chrono::milliseconds(1500); // a rank that is only late on a busy machine must not count as lost

struct Fault
{
    Incident::Kind kind;
    int rank;
    std::int64_t put; // counted from the first exchange
    std::chrono::microseconds duration{0};
};

// Puts of a rank until the first exchange: the same in every run.
std::int64_t puts_before(HaloMethod method, const CellGrid& grid, int rank)
{
    WitnessedWorld world;
    HaloRanks<Mixed> ranks(domain_cases()[0].system,
                           {.grid = grid, .method = method, .reach = 0.95, .network = world.network(FaultPlan{})});
    ranks.repartition();
    return world.witness->puts(rank);
}

struct Outcome
{
    std::vector<std::exception_ptr> ends; // of the ranks; null: well
    std::int64_t wrong = 0;               // components
    double seconds = 0;
};

Outcome exchange_with(const std::vector<Fault>& faults, HaloMethod method, const CellGrid& grid, std::chrono::nanoseconds timeout,
                      int steps, int threads = 1)
{
    FaultPlan plan;
    for (const Fault& fault : faults)
    {
        plan.incidents.push_back({fault.kind, fault.rank, puts_before(method, grid, fault.rank) + fault.put, fault.duration});
    }
    WitnessedWorld world;
    HaloRanks<Mixed> ranks(
        domain_cases()[0].system,
        {.grid = grid, .method = method, .reach = 0.95, .threads = threads, .network = world.network(plan), .deadline = timeout});
    ranks.repartition();
    Outcome outcome;
    std::atomic<std::int64_t> wrong{0};
    const auto start = std::chrono::steady_clock::now();
    outcome.ends = ranks.domains().outcomes([&](DomainRank<Mixed>& r) {
        for (std::int64_t step = 0; step < steps; ++step)
        {
            r.comm.set_tag(step);
            wrong += ranks.rank(r.comm.rank()).exchange(step);
        }
    });
    outcome.wrong = wrong;
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

// The text of the one error that was not another rank's.
std::string primary_error(const std::vector<std::exception_ptr>& ends, int& bystanders)
{
    std::string text;
    int primary = 0;
    bystanders = 0;
    for (const std::exception_ptr& end : ends)
    {
        if (!end) { continue; }
        try
        {
            std::rethrow_exception(end);
        }
        catch (const CommError& error)
        {
            text = error.what();
            ++primary;
        }
        catch (const PeerAborted&)
        {
            ++bystanders;
        }
    }
    EXPECT_EQ(primary, 1);
    return text;
}

} // namespace

TEST(HaloFaults, a_lost_signal_ends_all_ranks_and_names_the_message)
{
    for (const HaloMethod method : halo_methods)
    {
        SCOPED_TRACE(name_of(method));
        // A rank's puts of a step: positions to its one peer, forces back. The fifth is the positions of step 2, epoch 3.
        const Outcome outcome = exchange_with({{Incident::Kind::LostPut, 0, 4}}, method, {{2, 1, 1}}, deadline, 20);
        int bystanders = 0;
        const std::string text = primary_error(outcome.ends, bystanders);
        EXPECT_EQ(bystanders, 1);
        EXPECT_LT(outcome.seconds, std::chrono::duration<double>(deadline).count() + 5);
        EXPECT_EQ(outcome.wrong, 0);
        // Rank 1 waits for the positions. Rank 0 soon waits as well, for forces; should it be the first to tire, it speaks.
        const std::regex positions(
            "Rank 1 timed out after [0-9.]+ s waiting for a message from rank 0: channel 'halo coordinates, pulse 0', "
            "epoch expected 3, seen 1, .*in step 2\\.");
        const std::regex forces(
            "Rank 0 timed out after [0-9.]+ s waiting for a message from rank 1: channel 'halo forces, pulse 0', "
            "epoch expected 3, seen 1, .*in step 2\\.");
        EXPECT_TRUE(std::regex_match(text, positions) || std::regex_match(text, forces)) << text;
    }
}

// Thread 0 waits for messages; the others, which wait for thread 0, must not do so for ever.
TEST(HaloFaults, a_lost_signal_ends_all_threads_of_a_rank)
{
    for (const HaloMethod method : halo_methods)
    {
        SCOPED_TRACE(name_of(method));
        for (const std::int64_t put : {4, 5}) // positions and forces of step 2
        {
            const Outcome outcome = exchange_with({{Incident::Kind::LostPut, 0, put}}, method, {{2, 1, 1}}, deadline, 20, 3);
            int bystanders = 0;
            EXPECT_FALSE(primary_error(outcome.ends, bystanders).empty());
            EXPECT_EQ(bystanders, 1);
            EXPECT_LT(outcome.seconds, std::chrono::duration<double>(deadline).count() + 5);
        }
    }
}

TEST(HaloFaults, a_lost_signal_names_the_pulse)
{
    for (const HaloMethod method : {HaloMethod::StagedHost, HaloMethod::StagedFused})
    {
        SCOPED_TRACE(name_of(method));
        // Two pulses: the fourth put is the forces of the first, which are sent last. Others go on and wait for rank 2; should
        // one of them be the first to tire, it speaks.
        const Outcome outcome = exchange_with({{Incident::Kind::LostPut, 1, 3}}, method, {{1, 1, 5}}, deadline, 20);
        int bystanders = 0;
        const std::string text = primary_error(outcome.ends, bystanders);
        EXPECT_EQ(bystanders, 4);
        const std::regex lost(
            "Rank 2 timed out after .* waiting for a message from rank 1: channel 'halo forces, pulse 0', epoch expected 1, .*");
        const std::regex other("Rank [0134] timed out after .* waiting for .* from rank [0-4]: channel 'halo "
                               "(coordinates|forces), pulse [01]', epoch expected [12], .*");
        EXPECT_TRUE(std::regex_match(text, lost) || std::regex_match(text, other)) << text;
    }
}

TEST(HaloFaults, a_dead_rank_ends_all_others)
{
    for (const HaloMethod method : halo_methods)
    {
        const Outcome outcome = exchange_with({{Incident::Kind::Death, 2, 5}}, method, {{2, 2, 1}}, deadline, 20);
        int bystanders = 0;
        EXPECT_FALSE(primary_error(outcome.ends, bystanders).empty());
        EXPECT_EQ(bystanders, 2);
        EXPECT_LT(outcome.seconds, std::chrono::duration<double>(deadline).count() + 5);
    }
}

TEST(HaloFaults, a_rank_that_stalls_and_resumes_does_no_harm)
{
    for (const HaloMethod method : halo_methods)
    {
        for (const std::int64_t put : {0, 3, 6})
        {
            const Outcome outcome = exchange_with({{Incident::Kind::Stall, 1, put, std::chrono::milliseconds(100)}}, method,
                                                  {{2, 2, 1}}, std::chrono::seconds(60), 20);
            for (const std::exception_ptr& end : outcome.ends) { EXPECT_FALSE(end); }
            EXPECT_EQ(outcome.wrong, 0);
            EXPECT_GT(outcome.seconds, 0.1);
        }
    }
}

TEST(HaloFaults, a_signal_before_its_data_is_seen_by_the_payload)
{
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the fault is a data race, which the sanitizer reports";
#endif
    for (const HaloMethod method : halo_methods)
    {
        for (const std::int64_t first : {0, 1}) // positions; forces
        {
            // The data come with the next sign of life from the receiver, which may be before it reads them: not every time.
            std::vector<Fault> faults;
            for (std::int64_t put = first; put < 38; put += 2) { faults.push_back({Incident::Kind::EarlySignal, 0, put}); }
            const Outcome outcome = exchange_with(faults, method, {{2, 1, 1}}, std::chrono::seconds(60), 20);
            EXPECT_GT(outcome.wrong, 0) << name_of(method) << ", from put " << first;
        }
    }
}
