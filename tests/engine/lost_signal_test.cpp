// SPDX-License-Identifier: Apache-2.0
// A run whose ranks lose a message of any kind ends on every rank, soon, with one error that says which wait timed out.
#include "base/error.hpp"
#include "comm/networks/networks.hpp"
#include "comm/world/world.hpp"
#include "engine/rank_run.hpp"
#include "run_helpers.hpp"
#include "support/faulty.hpp"

#include <gtest/gtest.h>
#include <regex>
#include <thread>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr auto deadline = std::chrono::milliseconds(1500); // a rank that is only late on a busy machine must not count as lost

// How a run of four ranks ended whose rank 1 loses its put of this number, counted from the beginning.
std::vector<std::string> errors_with_lost(std::int64_t put, HaloMethod halo)
{
    using N = Mixed;
    Refdata data = load_nve("spce");
    data.parameters.list_interval = 5;
    data.parameters.random_seed = 1;
    SimulationOptions one_thread;
    one_thread.threads = 1;
    const auto prepared = prepare_run<N>(std::move(data.system), std::move(data.parameters), one_thread, nullptr);
    const RankDivision division{.grid = {{2, 2, 1}}, .halo_method = halo};

    WorldOptions options;
    options.tag_name = "step";
    options.deadline = deadline;
    FaultPlan plan;
    plan.incidents = {{Incident::Kind::LostPut, 1, put}};
    World world(with_faults(thread_network(4), plan), options);
    std::vector<std::string> errors(4);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 4; ++rank)
    {
        threads.emplace_back([&, rank] {
            RankRun<N> run(*prepared, division, world.communicator(rank));
            try
            {
                Observer silent;
                run.integrate(1000, silent, never);
            }
            catch (const CommError& error)
            {
                errors[static_cast<std::size_t>(rank)] = error.what();
                run.comm().abort();
            }
            catch (const PeerAborted&)
            {
                errors[static_cast<std::size_t>(rank)] = "aborted";
            }
        });
    }
    threads.clear();
    return errors;
}

} // namespace

TEST(LostSignal, ends_the_run_on_every_rank_with_one_error)
{
    const std::regex timed_out("Rank [0-3] timed out after 1.5 s waiting for (a message|a free slot) from rank [0-3]: channel "
                               "'[a-z ]+(, pulse [0-9])?', epoch expected [0-9]+, seen [0-9]+, credit [0-9]+, in step [0-9]+\\.");
    for (const HaloMethod halo : {HaloMethod::StagedHost, HaloMethod::StagedFused, HaloMethod::Direct})
    {
        // Of setting up, of a repartition, of a step: whatever it is that rank 1 puts then.
        for (const std::int64_t put : std::vector<std::int64_t>{3, 60, 201 + static_cast<std::int64_t>(halo)})
        {
            SCOPED_TRACE(testing::Message() << "put " << put);
            const auto start = std::chrono::steady_clock::now();
            const std::vector<std::string> errors = errors_with_lost(put, halo);
            EXPECT_LT(std::chrono::steady_clock::now() - start, deadline + std::chrono::seconds(10));
            int primary = 0;
            for (const std::string& error : errors)
            {
                ASSERT_FALSE(error.empty());
                if (error == "aborted") { continue; }
                ++primary;
                EXPECT_TRUE(std::regex_match(error, timed_out)) << error;
            }
            EXPECT_EQ(primary, 1);
        }
    }
}
