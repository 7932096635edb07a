// SPDX-License-Identifier: Apache-2.0
// Groups of ranks: sums, barriers and windows among some ranks of a world, several groups at the same time.
#include "comm/ranks.hpp"

#include <algorithm>
#include <array>

using namespace parhelion;

namespace {

class Groups : public testing::TestWithParam<TransportCase>
{
};

using Members = std::vector<int>;

bool contains(const Members& members, int rank) { return std::find(members.begin(), members.end(), rank) != members.end(); }

// Of five ranks: disjoint ones, overlapping ones, the same members in another order and once more, one alone, all.
const std::vector<Members> five = {{0, 1, 2}, {3, 4}, {4, 2, 0}, {2, 0, 4}, {4, 2, 0}, {1}, {3, 1, 4, 0, 2}};

} // namespace

TEST_P(Groups, sum_by_themselves_in_their_own_order_while_others_do)
{
    GetParam().run(5, 31, [&](Communicator& c) {
        Jitter jitter(static_cast<std::uint64_t>(c.rank()));
        std::vector<RankGroup> groups;
        for (const Members& members : five)
        {
            if (contains(members, c.rank())) { groups.push_back(c.group(members)); }
        }
        for (int round = 0; round < GetParam().scaled(200); ++round)
        {
            // Two large terms that cancel, and small ones that are lost if they come between: the order shows.
            const auto term = [&](int rank) { return (rank == 0 ? 1e16 : rank == 4 ? -1e16 : 1.0) + round; };
            for (RankGroup& group : groups)
            {
                EXPECT_EQ(group.members()[static_cast<std::size_t>(group.place())], c.rank());
                double expected = term(group.members()[0]);
                std::int64_t greatest = group.members()[0];
                for (std::size_t m = 1; m < group.members().size(); ++m)
                {
                    expected += term(group.members()[m]);
                    greatest = std::max<std::int64_t>(greatest, group.members()[m]);
                }
                jitter();
                double sum = term(c.rank());
                std::int64_t max = c.rank(), count = 1;
                group.sum(std::span(&sum, 1));
                group.max(std::span(&max, 1));
                group.sum(std::span(&count, 1));
                ASSERT_EQ(sum, expected);
                ASSERT_EQ(max, greatest);
                ASSERT_EQ(count, static_cast<std::int64_t>(group.members().size()));
            }
            std::int64_t all = c.rank(); // the group that every communicator is
            c.sum(std::span(&all, 1));
            ASSERT_EQ(all, 10);
        }
    });
}

TEST_P(Groups, wait_for_their_own_members_alone)
{
    Shared<std::array<int, 4>> round_of; // unsynchronised on purpose: the barriers of a pair order it
    GetParam().run(4, 32, [&](Communicator& c) {
        Jitter jitter(static_cast<std::uint64_t>(c.rank()));
        // Ranks 0 and 1 are done before the others have begun: these wait for a message that comes after it.
        const Members pair = c.rank() < 2 ? Members{1, 0} : Members{2, 3};
        RankGroup group = c.group(pair);
        if (c.rank() >= 2) { c.open_receive("go", c.rank() - 2, {.capacity = 8}).wait(); }
        for (int round = 1; round <= GetParam().scaled(200); ++round)
        {
            jitter();
            (*round_of)[static_cast<std::size_t>(c.rank())] = round;
            group.barrier();
            for (const int member : pair) { ASSERT_EQ((*round_of)[static_cast<std::size_t>(member)], round); }
            group.barrier();
        }
        if (c.rank() < 2)
        {
            SendChannel go = c.open_send("go", c.rank() + 2, {.capacity = 8});
            go.begin(0);
            go.publish(0);
        }
    });
}

TEST_P(Groups, have_windows_at_one_offset_that_no_other_group_touches)
{
    Shared<std::array<std::array<Window, 5>, 7>> shared; // by group and rank
    auto& windows = *shared;
    ASSERT_EQ(windows.size(), five.size());
    GetParam().run(5, 33, [&](Communicator& c) {
        Jitter jitter(static_cast<std::uint64_t>(c.rank()));
        for (std::size_t g = 0; g < five.size(); ++g)
        {
            if (!contains(five[g], c.rank())) { continue; }
            RankGroup group = c.group(five[g]);
            jitter();
            const Window window = group.allocate(100 + 200 * g);
            windows[g][static_cast<std::size_t>(c.rank())] = window;
            std::fill_n(group.data(window), window.bytes, static_cast<std::byte>(g + 1));
        }
        c.barrier();
        for (std::size_t g = 0; g < five.size(); ++g)
        {
            const Window window = windows[g][static_cast<std::size_t>(c.rank())];
            const auto* const data = c.data(window);
            EXPECT_TRUE(std::all_of(data, data + window.bytes, [&](std::byte b) { return b == static_cast<std::byte>(g + 1); }));
            c.release(window);
        }
    });
    if (IsSkipped()) { return; }
    for (std::size_t g = 0; g < five.size(); ++g)
    {
        const Window first = windows[g][static_cast<std::size_t>(five[g][0])];
        EXPECT_EQ(first.bytes, round_up_window(100 + 200 * g));
        for (const int member : five[g]) { EXPECT_EQ(windows[g][static_cast<std::size_t>(member)].offset, first.offset); }
    }
}

TEST(Groups, of_one_keep_their_values)
{
    World world(thread_network(2));
    check_ranks(world, [](Communicator& c) {
        RankGroup alone = c.group({c.rank()});
        double value = 0.1 + c.rank();
        alone.sum(std::span(&value, 1));
        alone.barrier();
        EXPECT_EQ(value, 0.1 + c.rank());
        EXPECT_EQ(alone.place(), 0);
    });
}

TEST(Groups, have_each_member_once_and_this_rank_among_them)
{
    World world(thread_network(3));
    Communicator c = world.communicator(0);
    EXPECT_THROW(c.group({1, 2}), ContractError);
    EXPECT_THROW(c.group({0, 1, 0}), ContractError);
    EXPECT_THROW(c.group({0, 3}), ContractError);
    EXPECT_THROW(c.group({}), ContractError);
}

INSTANTIATE_TEST_SUITE_P(Transports, Groups, testing::ValuesIn(transport_cases), [](const auto& i) { return i.param.name; });
