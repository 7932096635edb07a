// SPDX-License-Identifier: Apache-2.0
// What every transport must do, whether ranks reach each other's memory or not.
#include "comm/ranks.hpp"

#include "device/cpu_queue.hpp"

#include <cstring>
#include <map>
#include <mutex>

using namespace parhelion;

namespace {

constexpr Word before_31_bits = (Word{1} << 31) - 5, before_32_bits = (Word{1} << 32) - 5;

class Conformance : public testing::TestWithParam<TransportCase>
{
protected:
    // Each rank sends to the next and receives from the previous one; sizes and pauses are random.
    void ring(int ranks, int epochs, const ChannelOptions& options, std::uint64_t seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        GetParam().run(ranks, seed, [&](Communicator& c) {
            const int next = (c.rank() + 1) % ranks, previous = (c.rank() + ranks - 1) % ranks;
            SendChannel send = c.open_send("ring", next, options);
            ReceiveChannel receive = c.open_receive("ring", previous, options);
            Jitter jitter(seed * 100 + static_cast<std::uint64_t>(c.rank()));
            for (int e = 0; e < epochs; ++e)
            {
                const Payload ours{send.next_epoch(), c.rank(), next}, theirs{receive.next_epoch(), previous, c.rank()};
                const auto size = [&](const Payload& p) {
                    return std::to_integer<std::size_t>(p.at(1 << 20)) % (options.capacity + 1);
                };
                jitter();
                std::byte* const slot = send.begin(size(ours));
                jitter();
                ours.pack(slot, size(ours));
                send.publish(size(ours));
                jitter();
                const Message message = receive.wait();
                theirs.check(message, size(theirs));
                jitter();
                theirs.check(message, size(theirs)); // still, until we say so
                poison(message);
                receive.ack();
            }
        });
    }
};

// What is left under a key is known to others 20 ms later.
class LateBootstrap : public ThreadsBootstrap
{
public:
    using ThreadsBootstrap::ThreadsBootstrap;
    std::optional<Bytes> get(const std::string& key) override
    {
        const auto now = std::chrono::steady_clock::now();
        std::optional<Bytes> found = ThreadsBootstrap::get(key);
        const std::scoped_lock lock(mutex_);
        if (!found) { return std::nullopt; }
        const auto [first_asked, is_new] = first_asked_.emplace(key, now);
        return now - first_asked->second > std::chrono::milliseconds(20) ? found : std::nullopt;
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::chrono::steady_clock::time_point> first_asked_;
};

} // namespace

TEST_P(Conformance, messages_of_every_small_size_arrive_whole_and_in_order)
{
    const std::size_t sizes[] = {0, 1, 31, 32, 33, 127, 128, 129, 1000, 0, 4096, 7, 0};
    GetParam().run(2, 1, [&](Communicator& c) {
        const ChannelOptions options{2, Credits::Yes, 4096};
        if (c.rank() == 0)
        {
            SendChannel send = c.open_send("sizes", 1, options);
            for (const std::size_t bytes : sizes)
            {
                const Payload payload{send.next_epoch(), 0, 1};
                payload.pack(send.begin(4096), bytes);
                send.publish(bytes);
            }
        }
        else
        {
            ReceiveChannel receive = c.open_receive("sizes", 0, options);
            for (const std::size_t bytes : sizes)
            {
                const Payload payload{receive.next_epoch(), 0, 1};
                const Message message = receive.wait();
                payload.check(message, bytes);
                poison(message);
                receive.ack();
            }
        }
    });
}

TEST_P(Conformance, a_ring_with_credits_loses_nothing_at_any_depth)
{
    for (const int depth : {1, 2, 3, 4})
    {
        ring(3, GetParam().scaled(3000), {depth, Credits::Yes, 60}, static_cast<std::uint64_t>(depth));
    }
}

TEST_P(Conformance, a_sender_far_ahead_waits_for_credit)
{
    GetParam().run(2, 2, [&](Communicator& c) {
        const ChannelOptions options{2, Credits::Yes, 64};
        const int epochs = GetParam().scaled(4000);
        if (c.rank() == 0)
        {
            SendChannel send = c.open_send("ahead", 1, options);
            for (int e = 0; e < epochs; ++e)
            {
                const Payload payload{send.next_epoch(), 0, 1};
                send_payload(send, payload, 64);
            }
        }
        else
        {
            ReceiveChannel receive = c.open_receive("ahead", 0, options);
            Jitter jitter(3);
            for (int e = 0; e < epochs; ++e)
            {
                const Payload payload{receive.next_epoch(), 0, 1};
                const Message message = receive.wait();
                jitter();
                payload.check(message, 64);
                jitter();
                payload.check(message, 64);
                poison(message);
                receive.ack();
            }
        }
    });
}

TEST_P(Conformance, a_late_reader_keeps_a_slot_while_the_next_message_is_there)
{
    GetParam().run(2, 3, [&](Communicator& c) {
        const ChannelOptions options{2, Credits::Yes, 64};
        const int epochs = GetParam().scaled(2000);
        if (c.rank() == 0)
        {
            SendChannel send = c.open_send("late", 1, options);
            for (int e = 0; e < epochs; ++e)
            {
                const Payload payload{send.next_epoch(), 0, 1};
                send_payload(send, payload, 64);
            }
            return;
        }
        ReceiveChannel receive = c.open_receive("late", 0, options);
        Payload older{receive.next_epoch(), 0, 1};
        Message kept = receive.wait();
        for (int e = 1; e < epochs; ++e)
        {
            const Payload newer{receive.next_epoch(), 0, 1};
            const Message message = receive.wait(); // two taken, none acknowledged
            EXPECT_NE(message.data, kept.data);
            older.check(kept, 64);
            poison(kept);
            receive.ack(); // for the older one
            kept = message;
            older = newer;
        }
        older.check(kept, 64);
        receive.ack();
    });
}

TEST_P(Conformance, all_pairs_talk_at_once)
{
    constexpr int ranks = 4;
    GetParam().run(ranks, 4, [&](Communicator& c) {
        const ChannelOptions options{2, Credits::Yes, 40};
        std::vector<SendChannel> sends;
        std::vector<ReceiveChannel> receives;
        for (int peer = 0; peer < ranks; ++peer)
        {
            if (peer == c.rank()) { continue; }
            sends.push_back(c.open_send("pairs 7", peer, options));
            receives.push_back(c.open_receive("pairs 7", peer, options));
        }
        Jitter jitter(40 + static_cast<std::uint64_t>(c.rank()));
        for (int e = 0; e < GetParam().scaled(3000); ++e)
        {
            for (SendChannel& send : sends)
            {
                const Payload payload{send.next_epoch(), c.rank(), send.peer()};
                send_payload(send, payload, 40);
                jitter();
            }
            for (ReceiveChannel& receive : receives)
            {
                const Payload payload{receive.next_epoch(), receive.peer(), c.rank()};
                const Message message = receive.wait();
                payload.check(message, 40);
                poison(message);
                receive.ack();
            }
        }
    });
}

TEST_P(Conformance, epochs_pass_the_ends_of_31_and_32_bits)
{
    for (const Word first : {before_31_bits, before_32_bits, ~Word{0} - 3})
    {
        ring(2, 20, {2, Credits::Yes, 33, first}, first);
        ring(3, 20, {1, Credits::Yes, 33, first}, first);
    }
}

TEST_P(Conformance, three_worlds_one_after_another_start_afresh)
{
    for (std::uint64_t seed = 0; seed < 3; ++seed) { ring(3, 50, {2, Credits::Yes, 100}, seed); }
}

TEST_P(Conformance, several_threads_pack_and_the_last_publishes)
{
    constexpr int threads = 3;
    constexpr std::size_t part = 50;
    GetParam().run(2, 6, [&](Communicator& c) {
        const ChannelOptions options{2, Credits::Yes, threads * part};
        const int epochs = GetParam().scaled(400);
        if (c.rank() == 0)
        {
            SendChannel send = c.open_send("threads", 1, options);
            CpuQueue queue(threads);
            ArrivalCounter<HostAtomics> counter;
            Word goal = 0;
            for (int e = 0; e < epochs; ++e)
            {
                const Payload payload{send.next_epoch(), 0, 1};
                std::byte* const slot = send.begin(threads * part);
                goal += threads;
                queue.run([&](int t) {
                    for (std::size_t i = 0; i < part; ++i)
                    {
                        const std::size_t at = static_cast<std::size_t>(t) * part + i;
                        slot[at] = payload.at(at);
                    }
                    if (counter.arrive(goal)) { send.publish(threads * part); }
                });
            }
        }
        else
        {
            ReceiveChannel receive = c.open_receive("threads", 0, options);
            for (int e = 0; e < epochs; ++e)
            {
                const Payload payload{receive.next_epoch(), 0, 1};
                const Message message = receive.wait();
                payload.check(message, threads * part);
                poison(message);
                receive.ack();
            }
        }
    });
}

TEST_P(Conformance, slots_move_and_grow_between_epochs)
{
    GetParam().run(2, 7, [&](Communicator& c) {
        const int peer = 1 - c.rank();
        SendChannel send = c.open_send("moving", peer, {});
        ReceiveChannel receive = c.open_receive("moving", peer, {});
        std::size_t capacity = 0;
        for (int repartition = 0; repartition < 30; ++repartition)
        {
            // What the halo does at a repartition: the receiver places slots and tells the sender where.
            const std::size_t needed = 37 * static_cast<std::size_t>(repartition % 11);
            const Placement here = receive.reserve(needed);
            EXPECT_GE(here.capacity, std::max(needed, capacity));
            capacity = here.capacity;
            SetupMessage setup_message{peer, Bytes(sizeof here)};
            std::memcpy(setup_message.bytes.data(), &here, sizeof here);
            const std::vector<SetupMessage> answer = c.exchange(std::span(&setup_message, 1), std::span(&peer, 1));
            Placement there;
            std::memcpy(&there, answer[0].bytes.data(), sizeof there);
            send.bind(there);
            for (int e = 0; e < 5; ++e)
            {
                const Payload ours{send.next_epoch(), c.rank(), peer}, theirs{receive.next_epoch(), peer, c.rank()};
                send_payload(send, ours, needed);
                const Message message = receive.wait();
                theirs.check(message, needed);
                poison(message);
                receive.ack();
            }
        }
        EXPECT_EQ(send.next_epoch(), 151u); // epochs survive every move
    });
}

TEST_P(Conformance, arrival_and_readiness_are_told_without_waiting)
{
    GetParam().run(2, 8, [&](Communicator& c) {
        const ChannelOptions options{1, Credits::Yes, 8};
        if (c.rank() == 0)
        {
            SendChannel send = c.open_send("asked", 1, options);
            EXPECT_TRUE(comes_true([&] { return send.is_ready(); })); // once the peer has opened its end
            send.begin(8);
            c.barrier(); // the peer has looked
            send.publish(0);
            c.barrier(); // the peer has the message but has not acknowledged
            EXPECT_FALSE(send.is_ready());
            c.barrier();
            EXPECT_TRUE(comes_true([&] { return send.is_ready(); }));
        }
        else
        {
            ReceiveChannel receive = c.open_receive("asked", 0, options);
            EXPECT_FALSE(receive.has_arrived());
            c.barrier();
            EXPECT_TRUE(comes_true([&] { return receive.has_arrived(); }));
            EXPECT_EQ(receive.wait().bytes, 0u);
            EXPECT_FALSE(receive.has_arrived());
            c.barrier();
            c.barrier();
            receive.ack();
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Transports, Conformance, testing::ValuesIn(transport_cases), [](const auto& i) { return i.param.name; });

TEST(Channels, may_learn_of_their_other_end_after_its_first_message)
{
    World world(shared_memory_network(std::make_unique<LateBootstrap>(2)));
    check_ranks(world, [](Communicator& c) {
        const ChannelOptions options{1, Credits::Yes, 64};
        if (c.rank() == 0)
        {
            SendChannel send = c.open_send("early", 1, options);
            for (int e = 0; e < 3; ++e) { send_payload(send, {send.next_epoch(), 0, 1}, 64); }
            return;
        }
        ReceiveChannel receive = c.open_receive("early", 0, options);
        for (int e = 0; e < 3; ++e)
        {
            const Payload payload{receive.next_epoch(), 0, 1};
            payload.check(receive.wait(), 64);
            receive.ack();
        }
    });
}

TEST(Channels, misuse_is_a_broken_contract)
{
    World world(thread_network(2));
    Communicator c = world.communicator(0), d = world.communicator(1);
    SendChannel send = c.open_send("once", 1, {2, Credits::Yes, 16});
    EXPECT_THROW(c.open_send("once", 1, {2, Credits::Yes, 16}), ContractError);
    EXPECT_THROW(d.open_receive("once", 0, {3, Credits::Yes, 16}), ContractError);
    EXPECT_EQ(d.open_receive("once", 0, {2, Credits::Yes, 16}).peer(), 0);
    EXPECT_THROW(d.open_receive("once", 0, {2, Credits::Yes, 16}), ContractError);
    EXPECT_THROW(send.publish(0), ContractError);
    EXPECT_THROW(send.begin(17), ContractError);
    send.begin(8);
    EXPECT_THROW(send.begin(8), ContractError);
    EXPECT_THROW(send.publish(9), ContractError);
    ReceiveChannel receive = c.open_receive("back", 1, {});
    EXPECT_THROW(receive.ack(), ContractError);
    EXPECT_THROW(c.open_send("self", 0), ContractError);
}
