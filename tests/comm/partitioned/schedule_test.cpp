// SPDX-License-Identifier: Apache-2.0
// Schedules by themselves: all members of a group are played, with lists of members in place of numbers. Members are
// deterministic and meet at first-in-first-out channels alone, so that what one order of playing shows holds for all orders
// (Kahn, 1974).
#include "comm/partitioned/schedule.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

using namespace parhelion;

namespace {

constexpr Collective collectives[] = {Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter,
                                      Collective::Broadcast};
constexpr Algorithm algorithms[] = {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring};

// Whose inputs a chunk has been combined of, in which order.
using Terms = std::vector<int>;
struct Sent
{
    int chunk;
    Terms terms;
};

struct Played
{
    std::string error;                         // empty: none
    std::vector<std::map<int, Terms>> results; // by place: what became of the chunks
};

// `depth` messages fit into a channel.
Played play(const std::vector<Schedule>& schedules, int depth)
{
    const auto n = schedules.size();
    Played played{{}, std::vector<std::map<int, Terms>>(n)};
    std::map<std::pair<int, int>, std::deque<Sent>> channels; // from, to
    std::vector<std::size_t> at(n);
    for (bool has_moved = true; has_moved;)
    {
        has_moved = false;
        for (std::size_t m = 0; m < n; ++m)
        {
            const Schedule& s = schedules[m];
            if (at[m] == s.steps.size()) { continue; }
            const Step& step = s.steps[at[m]];
            bool can = true;
            for (int t = step.first_term; t < step.first_term + step.terms; ++t)
            {
                const int from = s.terms[static_cast<std::size_t>(t)];
                can = can && (from == s.place || !channels[{from, s.place}].empty());
            }
            for (int o = step.first_out; o < step.first_out + step.outs; ++o)
            {
                const int to = s.outs[static_cast<std::size_t>(o)];
                can = can && static_cast<int>(channels[{s.place, to}].size()) < depth;
            }
            if (!can) { continue; }
            Terms terms;
            for (int t = step.first_term; t < step.first_term + step.terms; ++t)
            {
                const int from = s.terms[static_cast<std::size_t>(t)];
                if (from == s.place)
                {
                    if (played.results[m].contains(step.chunk)) { played.error = "input read after it was written over"; }
                    terms.push_back(from);
                    continue;
                }
                std::deque<Sent>& channel = channels[{from, s.place}];
                if (channel.front().chunk != step.chunk) { played.error = "a message of another chunk"; }
                terms.insert(terms.end(), channel.front().terms.begin(), channel.front().terms.end());
                channel.pop_front();
            }
            for (int o = step.first_out; o < step.first_out + step.outs; ++o)
            {
                channels[{s.place, s.outs[static_cast<std::size_t>(o)]}].push_back({step.chunk, terms});
            }
            if (step.is_kept && !played.results[m].emplace(step.chunk, terms).second) { played.error = "a chunk kept twice"; }
            ++at[m];
            has_moved = true;
        }
    }
    for (std::size_t m = 0; m < n; ++m)
    {
        if (at[m] < schedules[m].steps.size()) { played.error = "members wait for each other"; }
    }
    for (const auto& [ends, channel] : channels)
    {
        if (!channel.empty() && played.error.empty()) { played.error = "a message that nobody takes"; }
    }
    return played;
}

std::vector<Schedule> schedules_of(Collective collective, Algorithm algorithm, int members, int root)
{
    std::vector<Schedule> schedules;
    for (int place = 0; place < members; ++place)
    {
        schedules.push_back(make_schedule(collective, algorithm, members, place, root));
    }
    return schedules;
}

// What is wrong with the results; empty: nothing.
std::string wrong_results(Collective collective, const std::vector<Schedule>& schedules, int root, const Played& played)
{
    const int members = static_cast<int>(schedules.size());
    std::map<int, Terms> order; // of a chunk, on the first member that has it
    for (int m = 0; m < members; ++m)
    {
        const auto& of_member = played.results[static_cast<std::size_t>(m)];
        const bool has_one = collective == Collective::ReduceScatter;
        const auto expected = static_cast<std::size_t>(has_one ? 1 : schedules[0].chunks);
        if (of_member.size() != expected) { return "chunks are missing"; }
        for (const auto& [chunk, terms] : of_member)
        {
            if (has_one && chunk != m) { return "another member's block"; }
            if (order.emplace(chunk, terms).first->second != terms) { return "members combine in different orders"; }
            Terms sorted = terms, all(static_cast<std::size_t>(members));
            std::sort(sorted.begin(), sorted.end());
            std::iota(all.begin(), all.end(), 0);
            if (collective == Collective::AllGather) { all = {chunk}; }
            if (collective == Collective::Broadcast) { all = {root}; }
            if (sorted != all) { return "not each input once"; }
        }
    }
    return "";
}

void for_all_schedules(int most_members, const std::function<void(Collective, Algorithm, int members, int root)>& body)
{
    for (const Collective collective : collectives)
    {
        for (const Algorithm algorithm : algorithms)
        {
            if (!exists(collective, algorithm)) { continue; }
            for (int members = 1; members <= most_members; ++members)
            {
                for (int root = 0; root < (collective == Collective::Broadcast ? members : 1); ++root)
                {
                    body(collective, algorithm, members, root);
                }
            }
        }
    }
}

} // namespace

TEST(Schedules, combine_each_input_once_in_one_order_and_come_to_an_end)
{
    for_all_schedules(17, [](Collective collective, Algorithm algorithm, int members, int root) {
        SCOPED_TRACE(std::to_string(static_cast<int>(collective)) + " " + std::to_string(static_cast<int>(algorithm)) + " " +
                     std::to_string(members));
        const std::vector<Schedule> schedules = schedules_of(collective, algorithm, members, root);
        for (const int depth : {2, 1000})
        {
            const Played played = play(schedules, depth);
            ASSERT_EQ(played.error, "") << "depth " << depth;
            ASSERT_EQ(wrong_results(collective, schedules, root, played), "") << "depth " << depth;
        }
    });
}

TEST(Schedules, of_a_ring_take_the_steps_and_bytes_of_the_paper)
{
    for (int members = 2; members <= 9; ++members)
    {
        const Schedule s = make_schedule(Collective::AllReduce, Algorithm::Ring, members, members / 2);
        EXPECT_EQ(s.outs.size(), static_cast<std::size_t>(2 * (members - 1))); // messages, of 1 / members of a partition each
        for (const int out : s.outs) { EXPECT_EQ(out, (members / 2 + 1) % members); }
        EXPECT_EQ(s.steps.size(), static_cast<std::size_t>(2 * members - 1)); // the last one only receives
    }
}

TEST(Schedules, of_a_ring_need_two_slots)
{
    EXPECT_EQ(play(schedules_of(Collective::AllReduce, Algorithm::Ring, 3, 0), 1).error, "members wait for each other");
}

// The play is a judge that can condemn: every schedule with one thing wrong is found out.
TEST(Schedules, with_one_thing_wrong_are_found_out)
{
    int tried = 0;
    for_all_schedules(4, [&](Collective collective, Algorithm algorithm, int members, int root) {
        if (members < 3) { return; }
        const auto is_found = [&](const std::vector<Schedule>& schedules) {
            const Played played = play(schedules, 2);
            ++tried;
            return !played.error.empty() || !wrong_results(collective, schedules, root, played).empty();
        };
        const std::vector<Schedule> right = schedules_of(collective, algorithm, members, root);
        const Schedule& last = right.back();
        for (std::size_t i = 0; i < last.steps.size(); ++i)
        {
            std::vector<Schedule> wrong = right;
            Step& step = wrong.back().steps[i];
            step.is_kept = !step.is_kept;
            EXPECT_TRUE(is_found(wrong)) << "kept";
            wrong = right;
            if (last.chunks > 1)
            {
                wrong.back().steps[i].chunk = (wrong.back().steps[i].chunk + 1) % last.chunks;
                // Where a member only passes its own input on or keeps it, the chunk of the step alone says what it is.
                EXPECT_TRUE(is_found(wrong)) << "chunk";
            }
            wrong = right;
            if (last.steps[i].outs > 0)
            {
                --wrong.back().steps[i].outs;
                EXPECT_TRUE(is_found(wrong)) << "a message less";
            }
            wrong = right;
            if (last.steps[i].terms > 1)
            {
                --wrong.back().steps[i].terms;
                EXPECT_TRUE(is_found(wrong)) << "a term less";
            }
            wrong = right;
            wrong.back().steps.erase(wrong.back().steps.begin() + static_cast<std::ptrdiff_t>(i));
            EXPECT_TRUE(is_found(wrong)) << "a step less";
        }
    });
    EXPECT_GT(tried, 300);
}

TEST(Schedules, cut_a_partition_into_chunks_that_cover_it_once)
{
    for (const std::size_t count : {0, 1, 7, 8, 9, 63, 64, 65, 1000, 4097})
    {
        for (int cuts = 1; cuts <= 17; ++cuts)
        {
            const ChunkLayout layout{count, cuts, 0};
            std::size_t at = 3 * count;
            for (int chunk = 0; chunk < cuts; ++chunk)
            {
                const Extent extent = layout.extent(3, chunk);
                EXPECT_EQ(extent.begin, at);
                EXPECT_LE(extent.count, layout.largest());
                if (extent.count > 0) { EXPECT_EQ((extent.begin - 3 * count) % ChunkLayout::grain, 0u); }
                at += extent.count;
            }
            EXPECT_EQ(at, 4 * count);
        }
    }
}

TEST(Schedules, are_refused_where_there_is_no_such_algorithm)
{
    EXPECT_THROW(make_schedule(Collective::Broadcast, Algorithm::TwoShot, 3, 0), ContractError);
    EXPECT_THROW(make_schedule(Collective::AllReduce, Algorithm::Automatic, 3, 0), ContractError);
    EXPECT_THROW(make_schedule(Collective::AllReduce, Algorithm::Ring, 3, 3), ContractError);
}

TEST(Schedules, are_chosen_by_size)
{
    const auto of = [](std::size_t bytes) { return choose_algorithm(Collective::AllReduce, 8, bytes); };
    EXPECT_EQ(of(8), Algorithm::OneShot);
    EXPECT_EQ(of(100'000), Algorithm::TwoShot);
    EXPECT_EQ(of(std::size_t{1} << 24), Algorithm::Ring);
    for (const Collective collective : collectives)
    {
        for (const std::size_t bytes : {1u, 100'000u, 1u << 24})
        {
            EXPECT_TRUE(exists(collective, choose_algorithm(collective, 5, bytes)));
        }
    }
}
