// SPDX-License-Identifier: Apache-2.0
// Threads of ranks: every rank has its turn, together with the others, and of errors the cause is told.
#include "base/error.hpp"
#include "comm/every_rank.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <stdexcept>

using namespace parhelion;

namespace {

void no_abort(int) { FAIL() << "nothing was thrown"; }

std::string error_of(RankThreads& threads, const std::function<void(int)>& body, const std::function<void(int)>& abort)
{
    try
    {
        threads.run(body, abort);
    }
    catch (const std::exception& error)
    {
        return error.what();
    }
    return "";
}

} // namespace

TEST(EveryRank, has_its_turn_beside_the_others_again_and_again)
{
    constexpr int ranks = 5, turns = 2000;
    RankThreads threads(ranks);
    std::vector<int> done(ranks);
    const std::thread::id caller = std::this_thread::get_id();
    for (int turn = 0; turn < turns; ++turn)
    {
        std::barrier together(ranks); // who came one after another would wait here for ever
        threads.run(
            [&](int rank) {
                EXPECT_EQ(rank == 0, std::this_thread::get_id() == caller);
                together.arrive_and_wait();
                ++done[static_cast<std::size_t>(rank)];
            },
            no_abort);
    }
    EXPECT_EQ(done, std::vector<int>(ranks, turns));
}

TEST(EveryRank, may_be_the_caller_alone)
{
    int calls = 0;
    RankThreads(1).run([&](int rank) { calls += rank == 0 ? 1 : 100; }, no_abort);
    EXPECT_EQ(calls, 1);
    RankThreads idle(3); // ends without a turn
}

TEST(EveryRank, that_fails_ends_the_turn_of_all_and_not_the_next)
{
    RankThreads threads(4);
    for (const int failing : {0, 2, 3})
    {
        std::atomic<bool> ends = false;
        const auto body = [&](int rank) {
            if (rank == failing) { throw std::runtime_error("rank " + std::to_string(rank)); }
            while (!ends) { std::this_thread::yield(); }
            throw PeerAborted("another");
        };
        EXPECT_EQ(error_of(threads, body, [&](int) { ends = true; }), "rank " + std::to_string(failing));
        std::atomic<int> done = 0;
        threads.run([&](int) { ++done; }, no_abort);
        EXPECT_EQ(done, 4);
    }
    EXPECT_NE(error_of(
                  threads,
                  [](int rank) {
                      if (rank > 1) { throw PeerAborted("all are bystanders"); }
                  },
                  [](int) {}),
              "");
}
