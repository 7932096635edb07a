// SPDX-License-Identifier: Apache-2.0
#include "comm/ranks.hpp"

#include <algorithm>
#include <bit>

using namespace parhelion;

namespace {

class Collectives : public testing::TestWithParam<TransportCase>
{
};

// Terms whose sum depends on the order in which they are added.
double term(int rank, std::size_t i)
{
    std::mt19937_64 random(static_cast<std::uint64_t>(rank) * 7919 + i);
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 40) - 80);
}

} // namespace

TEST_P(Collectives, sums_are_added_in_rank_order_on_every_rank)
{
    for (const int ranks : {1, 2, 3, 5})
    {
        GetParam().run(ranks, static_cast<std::uint64_t>(ranks), [&](Communicator& c) {
            Jitter jitter(static_cast<std::uint64_t>(c.rank()));
            for (const std::size_t n : {0, 1, 3, 511, 512, 513, 1300})
            {
                std::vector<double> values(n), expected(n);
                for (std::size_t i = 0; i < n; ++i)
                {
                    values[i] = term(c.rank(), i);
                    expected[i] = term(0, i);
                    for (int r = 1; r < ranks; ++r) { expected[i] += term(r, i); }
                }
                jitter();
                c.sum(values);
                for (std::size_t i = 0; i < n; ++i)
                {
                    EXPECT_EQ(std::bit_cast<std::uint64_t>(values[i]), std::bit_cast<std::uint64_t>(expected[i]))
                        << "value " << i << " of " << n << ", " << ranks << " ranks";
                }
            }
        });
    }
}

TEST_P(Collectives, integers_are_summed_and_compared_exactly)
{
    GetParam().run(3, 9, [&](Communicator& c) {
        const std::int64_t big = std::int64_t{1} << 60;
        for (int round = 0; round < GetParam().scaled(2000); ++round)
        {
            std::int64_t values[] = {big + c.rank(), -c.rank(), round * (c.rank() == 1 ? 1 : 0)};
            c.sum(std::span(values));
            EXPECT_EQ(values[0], 3 * big + 3);
            EXPECT_EQ(values[1], -3);
            EXPECT_EQ(values[2], round);
            std::int64_t largest[] = {-5 - c.rank(), round + c.rank()};
            c.max(std::span(largest));
            EXPECT_EQ(largest[0], -5);
            EXPECT_EQ(largest[1], round + 2);
        }
    });
}

TEST_P(Collectives, nobody_passes_a_barrier_before_all_have_come)
{
    constexpr int ranks = 3;
    Shared<std::array<int, ranks>> round_of; // unsynchronised on purpose: barriers order it
    GetParam().run(ranks, 10, [&](Communicator& c) {
        Jitter jitter(static_cast<std::uint64_t>(c.rank()));
        for (int round = 1; round <= GetParam().scaled(2000); ++round)
        {
            (*round_of)[static_cast<std::size_t>(c.rank())] = round;
            jitter();
            c.barrier();
            for (const int r : *round_of) { EXPECT_EQ(r, round); }
            c.barrier();
        }
    });
}

TEST_P(Collectives, parcels_of_any_size_reach_their_destinations_in_order)
{
    for (const int ranks : {1, 2, 4})
    {
        // Known to all: who sends what to whom in which round. Several to one peer, some to oneself, sizes around the chunk's.
        const auto plan = [&](int round, int source) {
            std::mt19937 random(static_cast<unsigned>(round * 100 + source));
            const std::size_t sizes[] = {0, 1, 100, 65527, 65528, 65529, 131072, 300000};
            std::vector<std::pair<int, std::size_t>> sent;
            for (std::size_t i = random() % 6; i > 0; --i)
            {
                sent.emplace_back(static_cast<int>(random()) & 3, sizes[random() % std::size(sizes)]);
                sent.back().first %= ranks;
            }
            return sent;
        };
        GetParam().run(ranks, 11, [&](Communicator& c) {
            for (int round = 0; round < GetParam().scaled(60); ++round)
            {
                std::vector<SetupMessage> setup_messages;
                const auto ours = plan(round, c.rank());
                for (std::size_t i = 0; i < ours.size(); ++i)
                {
                    setup_messages.push_back({ours[i].first, Bytes(ours[i].second)});
                    Payload{i, c.rank(), ours[i].first, round}.pack(setup_messages.back().bytes.data(), ours[i].second);
                }
                std::vector<int> sources;
                std::vector<std::pair<Payload, std::size_t>> expected;
                for (int s = ranks - 1; s >= 0; --s)
                {
                    const auto theirs = plan(round, s);
                    for (std::size_t i = 0; i < theirs.size(); ++i)
                    {
                        if (theirs[i].first != c.rank()) { continue; }
                        sources.push_back(s);
                        expected.push_back({Payload{i, s, c.rank(), round}, theirs[i].second});
                    }
                }
                std::vector<SetupMessage> received = c.exchange(setup_messages, sources);
                ASSERT_EQ(received.size(), expected.size());
                for (std::size_t i = 0; i < received.size(); ++i)
                {
                    EXPECT_EQ(received[i].peer, sources[i]);
                    expected[i].first.check({received[i].bytes.data(), received[i].bytes.size()}, expected[i].second);
                }
            }
        });
    }
}

TEST_P(Collectives, large_parcels_between_all_pairs_do_not_block_each_other)
{
    constexpr int ranks = 4;
    constexpr std::size_t bytes = 1'500'000;
    GetParam().run(ranks, 12, [&](Communicator& c) {
        std::vector<SetupMessage> setup_messages;
        std::vector<int> sources;
        for (int peer = 0; peer < ranks; ++peer)
        {
            setup_messages.push_back({peer, Bytes(bytes, static_cast<std::byte>(16 * c.rank() + peer))});
            sources.push_back(ranks - 1 - peer); // in another order than they are sent
        }
        for (const SetupMessage& setup_message : c.exchange(setup_messages, sources))
        {
            EXPECT_EQ(setup_message.bytes, Bytes(bytes, static_cast<std::byte>(16 * setup_message.peer + c.rank())));
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Transports, Collectives, testing::ValuesIn(transport_cases), [](const auto& i) { return i.param.name; });

TEST(Communicator, ranks_that_send_to_each_other_receive_meanwhile)
{
    FaultPlan slow; // both have filled their slots long before anything arrives
    slow.longest_delay = std::chrono::milliseconds(10);
    World world(with_faults(thread_network(2), slow), transport_cases.front().options());
    check_ranks(world, [](Communicator& c) {
        const int peer = 1 - c.rank();
        for (int round = 0; round < 3; ++round)
        {
            const SetupMessage setup_message{peer, Bytes(300'000, static_cast<std::byte>(c.rank()))};
            const std::vector<SetupMessage> received = c.exchange(std::span(&setup_message, 1), std::span(&peer, 1));
            EXPECT_EQ(received.front().bytes, Bytes(300'000, static_cast<std::byte>(peer)));
        }
    });
}

TEST(Communicator, a_parcel_need_not_wait_for_one_from_another_rank)
{
    World world(thread_network(3), transport_cases.front().options());
    check_ranks(world, [](Communicator& c) {
        const ChannelOptions options{2, Credits::Yes, 8};
        const SetupMessage setup_message{1, Bytes(300'000)};
        if (c.rank() == 0) // sends only after rank 2 has done so
        {
            c.open_receive("done", 2, options).wait();
            c.exchange(std::span(&setup_message, 1), {});
        }
        else if (c.rank() == 1)
        {
            const int sources[] = {0, 2};
            c.exchange({}, sources);
        }
        else
        {
            c.exchange(std::span(&setup_message, 1), {});
            SendChannel done = c.open_send("done", 0, options);
            done.begin(0);
            done.publish(0);
        }
    });
}

TEST(Communicator, arrays_of_different_sizes_are_a_broken_contract)
{
    World world(thread_network(2), transport_cases.front().options());
    const auto ends = outcomes(world, [](Communicator& c) {
        std::vector<double> values(static_cast<std::size_t>(3 + c.rank()));
        c.sum(values);
    });
    EXPECT_THROW(std::rethrow_exception(ends[0]), ContractError);
    EXPECT_TRUE(ends[1]);
}

TEST(Communicator, a_parcel_to_oneself_that_nobody_expects_is_a_broken_contract)
{
    World world(thread_network(1));
    Communicator c = world.communicator(0);
    const SetupMessage setup_message{0, Bytes(3)};
    const int self = 0;
    EXPECT_THROW(c.exchange(std::span(&setup_message, 1), {}), ContractError);
    EXPECT_THROW(c.exchange({}, std::span(&self, 1)), ContractError);
}
