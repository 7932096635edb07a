// SPDX-License-Identifier: Apache-2.0
// Programs of ranks in turns: whoever waits finds what it waits for queued before, also in a model of queues that ranks share.
#include "device/rank_program.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace parhelion {
namespace {

// Queues that do one operation after another. An operation that cannot be done yet holds up all behind it.
class Queues
{
public:
    explicit Queues(std::size_t count) : queues_(count) {}

    void add(std::size_t queue, std::function<bool()> operation) { queues_[queue].push_back(std::move(operation)); }
    // Does what can be done; is that all?
    bool run()
    {
        for (bool goes_on = true; goes_on;)
        {
            goes_on = false;
            for (auto& queue : queues_)
            {
                while (!queue.empty() && queue.front()()) { queue.pop_front(), goes_on = true; }
            }
        }
        return std::ranges::all_of(queues_, [](const auto& queue) { return queue.empty(); });
    }

private:
    std::vector<std::deque<std::function<bool()>>> queues_;
};

// All ranks exchange messages with all others, in rounds.
struct Exchange
{
    enum class Pauses
    {
        Yes,
        No
    };

    Exchange(int ranks_, std::size_t queues_) : ranks(ranks_), queue_count(queues_), queues(queues_) {}

    RankProgram exchange(std::size_t queue, int& sent_in_round, Pauses pauses)
    {
        if (pauses == Pauses::Yes) { co_await all_are_here; }
        queues.add(queue, [&] { return ++sent_in_round > 0; });
        if (pauses == Pauses::Yes) { co_await all_are_here; }
        queues.add(queue, [&] { return sent_in_round == ranks; });
    }
    RankProgram all_rounds(std::size_t queue, Pauses pauses)
    {
        for (int& sent_in_round : sent) { co_await exchange(queue, sent_in_round, pauses); }
    }
    // Ranks are dealt out to the queues in turns.
    bool ends(Pauses pauses)
    {
        std::vector<RankProgram> programs;
        for (int rank = 0; rank < ranks; ++rank)
        {
            programs.push_back(all_rounds(static_cast<std::size_t>(rank) % queue_count, pauses));
        }
        run_together(programs);
        return queues.run();
    }

    int ranks;
    std::size_t queue_count;
    Queues queues;
    std::vector<int> sent = {0, 0, 0}; // by round
};

bool exchange_ends(int ranks, std::size_t queues, Exchange::Pauses pauses) { return Exchange(ranks, queues).ends(pauses); }

TEST(RankPrograms, of_ranks_that_share_queues_never_wait_for_what_is_queued_behind)
{
    for (const int ranks : {1, 2, 3, 8})
    {
        for (const std::size_t queues : {1, 2})
        {
            EXPECT_TRUE(exchange_ends(ranks, queues, Exchange::Pauses::Yes)) << ranks << " ranks, " << queues << " queues";
        }
    }
}

TEST(RankPrograms, would_wait_for_ever_without_their_pauses)
{
    EXPECT_FALSE(exchange_ends(2, 1, Exchange::Pauses::No));
    EXPECT_FALSE(exchange_ends(4, 2, Exchange::Pauses::No));
    EXPECT_TRUE(exchange_ends(2, 2, Exchange::Pauses::No)); // a queue each
}

RankProgram inner(char rank, std::string& log)
{
    log += rank, log += '2';
    co_await all_are_here;
    log += rank, log += '3';
}
RankProgram outer(char rank, std::string& log)
{
    log += rank, log += '1';
    co_await inner(rank, log);
    log += rank, log += '4';
    co_await all_are_here;
    log += rank, log += '5';
}

TEST(RankPrograms, come_to_each_pause_before_any_goes_on_also_in_programs_that_they_call)
{
    std::string log;
    std::vector<RankProgram> programs;
    for (const char rank : {'a', 'b', 'c'}) { programs.push_back(outer(rank, log)); }
    EXPECT_EQ(log, ""); // nothing runs before they run together
    run_together(programs);
    EXPECT_EQ(log, "a1a2b1b2c1c2a3a4b3b4c3c4a5b5c5");
}

RankProgram ask(std::vector<bool>& answers)
{
    answers.push_back(co_await is_alone);
    co_await all_are_here;
}
RankProgram ask_from_below(std::vector<bool>& answers) { co_await ask(answers); }

TEST(RankPrograms, know_whether_they_are_alone)
{
    std::vector<bool> answers;
    std::vector<RankProgram> one, two;
    one.push_back(ask_from_below(answers));
    run_together(one);
    EXPECT_EQ(answers, std::vector<bool>{true});
    two.push_back(ask(answers));
    two.push_back(ask_from_below(answers));
    run_together(two);
    EXPECT_EQ(answers, (std::vector<bool>{true, false, false}));
}

RankProgram fail_when_all_are_here(bool fails)
{
    co_await all_are_here;
    if (fails) { throw std::runtime_error("no memory"); }
}
RankProgram fail_below(bool fails, std::string& log)
{
    co_await fail_when_all_are_here(fails);
    log += "ended";
}

TEST(RankPrograms, end_with_what_one_of_them_throws)
{
    std::string log;
    std::vector<RankProgram> programs;
    programs.push_back(fail_below(true, log));
    programs.push_back(fail_below(false, log));
    EXPECT_THROW(run_together(programs), std::runtime_error);
    EXPECT_EQ(log, "");
}

RankProgram pause(int times)
{
    for (int i = 0; i < times; ++i) { co_await all_are_here; }
}

TEST(RankPrograms, must_have_the_same_pauses)
{
    std::vector<RankProgram> programs;
    programs.push_back(pause(2));
    programs.push_back(pause(3));
    EXPECT_THROW(run_together(programs), ContractError);
}

} // namespace
} // namespace parhelion
