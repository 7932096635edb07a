// SPDX-License-Identifier: Apache-2.0
// What partitioned messages promise, on every transport: MPI-4's rules for counts, order, matching, completion and reuse.
#include "comm/partitioned/buffers.hpp"

#include <thread>

using namespace parhelion;
using namespace std::chrono_literals;

namespace {

class Partitions : public testing::TestWithParam<TransportCase>
{
protected:
    void run(int ranks, std::uint64_t seed, const std::function<void(Communicator&)>& body) const
    {
        GetParam().run(ranks, seed, body);
    }
};

// In a world with little memory.
class PartitionsOfThreads : public testing::TestWithParam<TransportCase>
{
};

Payload payload(std::uint64_t epoch, int kind = 0) { return {epoch, 0, 1, kind}; }

} // namespace

TEST_P(Partitions, of_any_two_counts_deliver_every_byte_in_any_order)
{
    run(2, 1, [&](Communicator& c) {
        Partitioned partitioned(c);
        for (int send = 1; send <= 16; ++send)
        {
            for (int receive = 1; receive <= 16; ++receive)
            {
                const auto bytes = static_cast<std::size_t>(std::lcm(send, receive) * 3);
                const SendOptions grouped{.per_signal = 1 + (send + receive) % send};
                if (c.rank() == 0)
                {
                    Outgoing out(partitioned, {send, bytes / static_cast<std::size_t>(send)}, {1}, grouped);
                    for (std::uint64_t epoch = 1; epoch <= 3; ++epoch)
                    {
                        out.request.start();
                        out.send_all(payload(epoch, send * 16 + receive), epoch + bytes);
                        out.wait();
                    }
                    out.request.free();
                    continue;
                }
                const BufferOf of = (send + receive) % 3 == 0 ? BufferOf::Caller : BufferOf::Library;
                Incoming in(partitioned, {receive, bytes / static_cast<std::size_t>(receive)}, {0}, of);
                for (std::uint64_t epoch = 1; epoch <= 3; ++epoch)
                {
                    in.start();
                    in.receive_all(payload(epoch, send * 16 + receive));
                }
                in.request.free();
                if (of == BufferOf::Library) { partitioned.release(in.buffer); }
            }
        }
    });
}

TEST_P(Partitions, may_be_read_when_they_have_arrived_and_the_epoch_ends_when_all_have)
{
    run(2, 2, [&](Communicator& c) {
        Partitioned partitioned(c);
        if (c.rank() == 0)
        {
            Outgoing out(partitioned, {4, 10}, {1});
            out.request.start();
            out.request.pbuf_prepare();
            out.send(2, payload(1));
            c.barrier(); // the destination has read it
            EXPECT_FALSE(out.request.test());
            out.send(0, payload(1));
            out.send(3, payload(1));
            EXPECT_FALSE(out.request.test());
            out.send(1, payload(1));
            out.wait();
            EXPECT_FALSE(out.request.is_active());
            return;
        }
        Incoming in(partitioned, {4, 10}, {0});
        in.start();
        in.request.pbuf_prepare();
        EXPECT_TRUE(comes_true([&] { return in.request.parrived(2); }));
        in.check(2, payload(1));
        for (const int p : {0, 1, 3}) { EXPECT_FALSE(in.request.parrived(p)); }
        EXPECT_FALSE(in.request.test());
        c.barrier();
        in.receive_all(payload(1));
        EXPECT_TRUE(in.request.parrived(0)); // of an inactive request
    });
}

// Each is copied once, by whoever asks first; the buffer is the caller's again after wait(), and what it has changed there stays.
TEST_P(Partitions, come_to_memory_anywhere_and_are_read_by_several_threads)
{
    const Partitioning partitioning{12, 1000};
    const int epochs = std::max(GetParam().scaled(200), 10);
    run(2, 9, [&](Communicator& c) {
        Partitioned partitioned(c);
        if (c.rank() == 0)
        {
            Outgoing out(partitioned, partitioning, {1});
            for (int epoch = 1; epoch <= epochs; ++epoch)
            {
                out.request.start();
                out.send_all(payload(static_cast<std::uint64_t>(epoch)), static_cast<std::uint64_t>(epoch));
                out.wait();
            }
            return;
        }
        Incoming in(partitioned, partitioning, {0}, BufferOf::Caller);
        for (int epoch = 1; epoch <= epochs; ++epoch)
        {
            in.start();
            in.request.pbuf_prepare();
            const auto read = [&](int first) {
                for (int p = first; p < partitioning.partitions; p += 2) // every partition by two of four
                {
                    EXPECT_TRUE(comes_true([&] { return in.request.parrived(p); }));
                    in.check(p, payload(static_cast<std::uint64_t>(epoch)));
                }
            };
            {
                std::jthread others[] = {std::jthread(read, 0), std::jthread(read, 1), std::jthread(read, 1)};
                read(0);
            }
            in.buffer[5] = std::byte{0x11}; // the caller's
            in.request.wait();
            EXPECT_EQ(in.buffer[5], std::byte{0x11});
            EXPECT_TRUE(in.request.parrived(3));
        }
        in.request.free();
        EXPECT_NO_THROW(partitioned.precv_init(in.buffer.data(), partitioning, {0, 1}).free()); // its place is free again
    });
}

// A group's signal goes up with its last partition, whichever that is.
TEST_P(Partitions, of_one_signal_arrive_together)
{
    run(2, 3, [&](Communicator& c) {
        Partitioned partitioned(c);
        if (c.rank() == 0)
        {
            Outgoing out(partitioned, {5, 6}, {1}, {.per_signal = 3});
            out.request.start();
            out.request.pbuf_prepare();
            for (const int p : {4, 1, 2}) { out.send(p, payload(1)); }
            c.barrier();
            c.barrier();
            out.send(0, payload(1));
            EXPECT_FALSE(out.request.test());
            out.send(3, payload(1));
            out.wait();
            return;
        }
        Incoming in(partitioned, {5, 6}, {0});
        in.start();
        in.request.pbuf_prepare();
        c.barrier();
        for (int p = 0; p < 5; ++p) { EXPECT_FALSE(in.request.parrived(p)); }
        c.barrier();
        in.receive_all(payload(1));
    });
}

TEST_P(Partitions, match_by_tag_and_group_in_the_order_of_init)
{
    run(2, 4, [&](Communicator& c) {
        Partitioned partitioned(c);
        const auto tagged = [&](int tag, const char* group) { return Envelope{1 - c.rank(), tag, group}; };
        if (c.rank() == 0)
        {
            Outgoing a(partitioned, {2, 8}, tagged(7, "")), b(partitioned, {2, 8}, tagged(7, ""));
            Outgoing g(partitioned, {2, 8}, tagged(7, "g")), t(partitioned, {2, 8}, tagged(8, ""));
            for (std::uint64_t epoch = 1; epoch <= 5; ++epoch)
            {
                int kind = 0;
                for (Outgoing* out : {&a, &b, &g, &t})
                {
                    out->request.start();
                    out->send_all(payload(epoch, ++kind), epoch);
                }
                for (Outgoing* out : {&t, &g, &b, &a}) { out->wait(); }
            }
            return;
        }
        Incoming t(partitioned, {2, 8}, tagged(8, "")), g(partitioned, {2, 8}, tagged(7, "g"));
        Incoming a(partitioned, {2, 8}, tagged(7, "")), b(partitioned, {2, 8}, tagged(7, ""));
        for (std::uint64_t epoch = 1; epoch <= 5; ++epoch)
        {
            for (Incoming* in : {&b, &t, &a, &g}) { in->start(); } // a and b against the order of their source
            int kind = 0;
            for (Incoming* in : {&a, &b, &g, &t}) { in->receive_all(payload(epoch, ++kind)); }
        }
    });
}

// Whatever is marked before the destination is there leaves later, by itself: both ranks send before they receive, and wait for
// what they send before they wait for what they receive.
TEST_P(Partitions, may_be_marked_ready_before_the_destination_has_started)
{
    run(3, 5, [&](Communicator& c) {
        Partitioned partitioned(c);
        const int next = (c.rank() + 1) % 3, previous = (c.rank() + 2) % 3;
        Jitter jitter(static_cast<std::uint64_t>(c.rank()));
        Outgoing out(partitioned, {6, 5}, {next}, {.per_signal = 2});
        if (c.rank() == 1) { std::this_thread::sleep_for(2ms); }
        Incoming in(partitioned, {5, 6}, {previous});
        for (std::uint64_t epoch = 1; epoch <= 200; ++epoch)
        {
            out.request.start();
            out.send_all(payload(epoch, c.rank()), epoch);
            jitter();
            in.start();
            out.wait();
            jitter();
            in.receive_all(payload(epoch, previous));
        }
    });
}

TEST_P(Partitions, are_marked_by_many_threads_at_once)
{
    constexpr int partitions = 24, threads = 3;
    const auto epochs = static_cast<std::uint64_t>(GetParam().scaled(400));
    run(2, 6, [&](Communicator& c) {
        Partitioned partitioned(c);
        if (c.rank() == 1)
        {
            Incoming in(partitioned, {16, 3}, {0});
            for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
            {
                in.start();
                in.receive_all(payload(epoch));
            }
            return;
        }
        Outgoing out(partitioned, {partitions, 2}, {1}, {.per_signal = 5});
        for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
        {
            out.request.start();
            std::vector<std::thread> team;
            for (int t = 0; t < threads; ++t)
            {
                team.emplace_back([&, t] {
                    for (int p = t; p < partitions; p += threads) { out.send(p, payload(epoch)); }
                });
            }
            out.wait(); // beside them: sends what they have marked too early
            for (std::thread& thread : team) { thread.join(); }
        }
    });
}

// A rank whose own thread waits for others is moved on by these when they ask for partitions.
TEST_P(Partitions, leave_while_only_other_threads_ask_for_theirs)
{
    run(2, 10, [&](Communicator& c) {
        Partitioned partitioned(c);
        const int peer = 1 - c.rank();
        Outgoing out(partitioned, {4, 6}, {peer});
        Incoming in(partitioned, {3, 8}, {peer});
        out.request.start();
        in.start();
        out.request.pbuf_prepare(); // both are matched
        out.send_all(payload(1, c.rank()), 1);
        in.receive_all(payload(1, peer));
        out.wait();
        for (std::uint64_t epoch = 2; epoch <= 100; ++epoch)
        {
            out.request.start();
            out.send_all(payload(epoch, c.rank()), epoch); // now and then before the peer has started
            in.start();
            std::vector<std::thread> readers;
            for (int p = 0; p < 3; ++p)
            {
                readers.emplace_back([&, p] {
                    EXPECT_TRUE(comes_true([&] { return in.request.parrived(p); }));
                    in.check(p, payload(epoch, peer));
                });
            }
            for (std::thread& reader : readers) { reader.join(); }
            in.request.wait();
            out.wait();
        }
    });
}

TEST_P(Partitions, are_asked_for_by_other_threads_before_the_source_is_there)
{
    run(2, 11, [&](Communicator& c) {
        Partitioned partitioned(c);
        if (c.rank() == 0)
        {
            std::this_thread::sleep_for(5ms);
            Outgoing out(partitioned, {4, 6}, {1});
            out.request.start();
            out.send_all(payload(1), 1);
            out.wait();
            return;
        }
        Incoming in(partitioned, {3, 8}, {0});
        in.start();
        std::vector<std::thread> readers;
        for (int p = 0; p < 3; ++p)
        {
            readers.emplace_back([&, p] {
                EXPECT_TRUE(comes_true([&] { return in.request.parrived(p); }));
                in.check(p, payload(1));
            });
        }
        in.request.pbuf_prepare(); // matches while they ask
        for (std::thread& reader : readers) { reader.join(); }
        in.request.wait();
    });
}

TEST_P(Partitions, are_marked_by_other_threads_while_the_destination_comes)
{
    run(2, 12, [&](Communicator& c) {
        Partitioned partitioned(c);
        if (c.rank() == 1)
        {
            std::this_thread::sleep_for(5ms);
            Incoming in(partitioned, {8, 3}, {0});
            in.start();
            in.receive_all(payload(1));
            return;
        }
        Outgoing out(partitioned, {24, 1}, {1});
        out.request.start();
        std::thread team([&] {
            for (int p = 0; p < 24; ++p)
            {
                out.send(p, payload(1));
                std::this_thread::sleep_for(500us);
            }
        });
        out.request.pbuf_prepare(); // matches while the other thread marks
        team.join();
        out.wait();
    });
}

TEST_P(Partitions, without_bytes_signal_all_the_same)
{
    run(2, 7, [&](Communicator& c) {
        Partitioned partitioned(c);
        if (c.rank() == 0)
        {
            SendRequest out = partitioned.psend_init(nullptr, {3, 0}, {1});
            out.start();
            out.pbuf_prepare();
            out.pready(1);
            c.barrier();
            out.pready_list({2, 0});
            out.wait();
            return;
        }
        ReceiveRequest in = partitioned.precv_init(nullptr, {3, 0}, {0});
        in.start();
        in.pbuf_prepare();
        EXPECT_TRUE(comes_true([&] { return in.parrived(1); }));
        EXPECT_FALSE(in.parrived(0));
        EXPECT_FALSE(in.parrived(2));
        c.barrier();
        in.wait();
    });
}

TEST_P(Partitions, of_a_rank_to_itself_arrive)
{
    run(1, 8, [&](Communicator& c) {
        Partitioned partitioned(c);
        Outgoing out(partitioned, {3, 4}, {0});
        Incoming in(partitioned, {2, 6}, {0});
        for (std::uint64_t epoch = 1; epoch <= 5; ++epoch)
        {
            out.request.start();
            out.send_all(payload(epoch), epoch);
            in.start();
            in.receive_all(payload(epoch));
            out.wait();
        }
    });
}

TEST_P(Partitions, go_on_where_the_counter_of_epochs_wraps)
{
    for (const Word first : {(Word{1} << 31) - 3, (Word{1} << 32) - 3, ~Word{0} - 3})
    {
        run(2, first, [&](Communicator& c) {
            Partitioned partitioned(c);
            if (c.rank() == 0)
            {
                Outgoing out(partitioned, {6, 4}, {1}, {2, first});
                for (std::uint64_t epoch = 1; epoch <= 10; ++epoch)
                {
                    out.request.start();
                    out.send_all(payload(epoch), epoch);
                    out.wait();
                }
                return;
            }
            Incoming in(partitioned, {4, 6}, {0});
            for (std::uint64_t epoch = 1; epoch <= 10; ++epoch)
            {
                in.start();
                in.receive_all(payload(epoch));
            }
        });
    }
}

// Of a rank that makes requests all the time neither signal slots nor memory run out.
TEST_P(PartitionsOfThreads, of_freed_requests_leave_nothing_behind)
{
    WorldOptions few = GetParam().options();
    few.signal_slots = 64;
    few.payload_bytes = 32768;
    World world(GetParam().network(2, 9), few);
    check_ranks(world, [&](Communicator& c) {
        Partitioned partitioned(c);
        for (std::uint64_t life = 1; life <= 200; ++life)
        {
            const std::uint64_t epochs = 1 + life % 2;
            if (c.rank() == 0)
            {
                Outgoing out(partitioned, {8, 64}, {1, static_cast<int>(life % 2)}, {.per_signal = 2});
                for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
                {
                    out.request.start();
                    out.send_all(payload(epoch, static_cast<int>(life)), epoch);
                    out.wait();
                }
                out.request.free();
            }
            else
            {
                Incoming in(partitioned, {4, 128}, {0, static_cast<int>(life % 2)});
                for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
                {
                    in.start();
                    in.receive_all(payload(epoch, static_cast<int>(life)));
                }
                in.request.free();
                partitioned.release(in.buffer);
            }
        }
    });
    expect_no_overlaps(world);
}

INSTANTIATE_TEST_SUITE_P(Transports, Partitions, testing::ValuesIn(transport_cases), [](const auto& i) { return i.param.name; });
INSTANTIATE_TEST_SUITE_P(Transports, PartitionsOfThreads, testing::ValuesIn(thread_cases()),
                         [](const auto& i) { return i.param.name; });
