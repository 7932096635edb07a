// SPDX-License-Identifier: Apache-2.0
// Delayed puts, and the network cards that are made of them: times, order, who reaches whom. What all transports must do, they do
// in conformance_test.cpp.
#include "comm/ranks.hpp"
#include "comm/transports/delayed_puts.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <limits>

using namespace parhelion;
using namespace std::chrono_literals;

namespace {

using Clock = DelayedPuts::Clock;

Put put_to(std::size_t signal, Word epoch, const std::byte* data = nullptr)
{
    return {.source = 0, .destination = 1, .offset = 0, .data = data, .bytes = 1, .signal = signal, .epoch = epoch};
}

// What is done with puts, in words. The thread waits in its first call until go_on(): so the test adds the other puts before any
// of them is due, however long that takes.
struct Deeds
{
    DelayedPuts::Calls calls()
    {
        return {.deliver = [this](const Put& put) { note("signal", put); },
                .copy = [this](const Put& put) { note("payload", put); }};
    }
    void note(const char* what, const Put& put)
    {
        may_go_on.wait(false);
        done.push_back(fmt::format("{} {} {}", what, put.signal, put.epoch));
    }
    void go_on()
    {
        may_go_on = true;
        may_go_on.notify_all();
    }
    std::vector<std::string> done; // of the thread, until the puts have ended
    std::atomic<bool> may_go_on{false};
};

// From the first message's publication until the one rank that receives any has received all.
std::chrono::nanoseconds time_of_messages(const NicEmulation& nics, const std::vector<std::pair<int, int>>& pairs,
                                          std::size_t bytes)
{
    World world(nic_emulation_network(std::make_unique<ThreadsBootstrap>(nics.ranks()), nics));
    std::atomic<std::int64_t> begin{std::numeric_limits<std::int64_t>::max()}, end{0};
    check_ranks(world, [&](Communicator& c) {
        for (const auto& [source, destination] : pairs)
        {
            if (c.rank() != source) { continue; }
            SendChannel send = c.open_send("slow", destination, {.capacity = bytes});
            const Payload payload{1, source, destination};
            payload.pack(send.begin(bytes), bytes);
            const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
            for (std::int64_t seen = begin; now < seen && !begin.compare_exchange_weak(seen, now);) {}
            send.publish(bytes);
        }
        std::vector<std::pair<int, ReceiveChannel>> receives; // all open before the first is waited for: senders need that
        for (const auto& [source, destination] : pairs)
        {
            if (c.rank() == destination) { receives.emplace_back(source, c.open_receive("slow", source, {.capacity = bytes})); }
        }
        for (auto& [source, receive] : receives)
        {
            const Payload payload{1, source, c.rank()};
            payload.check(receive.wait(), bytes);
            end = std::chrono::steady_clock::now().time_since_epoch().count();
        }
    });
    return std::chrono::nanoseconds(end - begin);
}

} // namespace

TEST(DelayedPuts, come_when_they_are_due_and_in_order_to_one_slot)
{
    Deeds deeds;
    {
        DelayedPuts puts("test", HelperNeeds::Turns, deeds.calls());
        const auto now = Clock::now();
        puts.add(put_to(4, 1), now, now); // the thread waits in this one
        puts.add(put_to(5, 1), now + 30ms, now + 30ms);
        puts.add(put_to(6, 1), now + 20ms, now + 20ms); // overtakes
        puts.add(put_to(5, 2), now + 10ms, now + 10ms); // must not
        EXPECT_EQ(puts.overlaps(), 1);
        deeds.go_on();
    }
    EXPECT_EQ(deeds.done, (std::vector<std::string>{"signal 4 1", "signal 6 1", "signal 5 1", "signal 5 2"}));
}

TEST(DelayedPuts, bring_the_payload_before_its_signal)
{
    Deeds deeds;
    const std::byte data{};
    {
        DelayedPuts puts("test", HelperNeeds::Turns, deeds.calls());
        const auto now = Clock::now();
        puts.add(put_to(5, 1, &data), now, now + 1s); // a signal that is due when the thread comes is not sent by itself
        puts.add(put_to(6, 1), now + 10ms, now + 10ms);
        deeds.go_on();
    }
    EXPECT_EQ(deeds.done, (std::vector<std::string>{"payload 5 1", "signal 6 1", "signal 5 1"}));
}

TEST(DelayedPuts, may_come_twice_as_signals)
{
    Deeds deeds;
    deeds.go_on();
    {
        DelayedPuts puts("test", HelperNeeds::Turns, deeds.calls());
        puts.add(put_to(5, 1), Clock::now(), Clock::now(), 1ms);
        EXPECT_EQ(puts.overlaps(), 0);
    }
    EXPECT_EQ(deeds.done, (std::vector<std::string>{"signal 5 1", "signal 5 1"}));
}

TEST(NicEmulation, hides_memory_between_nodes_alone)
{
    World world(nic_emulation_network(std::make_unique<ThreadsBootstrap>(4), {.nodes = 2, .ranks_per_node = 2}));
    for (int source = 0; source < 4; ++source)
    {
        for (int destination = 0; destination < 4; ++destination)
        {
            const bool is_one_node = source / 2 == destination / 2;
            EXPECT_EQ(world.transport().reach_payload(source, destination, 0) != nullptr, is_one_node);
            EXPECT_EQ(world.transport().reach_signal(source, destination, 1) != nullptr, is_one_node);
        }
    }
}

TEST(NicEmulation, takes_latency_and_the_time_of_the_bytes)
{
    constexpr std::size_t bytes = 100'000;
    NicEmulation nics{.nodes = 2, .ranks_per_node = 2, .latency = 20ms, .bandwidth = 0.005};
    EXPECT_GE(time_of_messages(nics, {{0, 2}}, bytes), 20ms + 20ms) << "100 kB at 5 MB/s";
    EXPECT_GE(time_of_messages(nics, {{0, 3}, {1, 3}}, bytes), 20ms + 40ms) << "two ranks of a node share its link";
    nics.bandwidth = 1000;
    EXPECT_GE(time_of_messages(nics, {{0, 2}}, bytes), 20ms);
    EXPECT_LT(time_of_messages({.nodes = 1, .ranks_per_node = 2, .latency = 30s}, {{0, 1}}, bytes), 20s) << "within a node";
}

TEST(NicEmulation, is_told_in_words)
{
    EXPECT_EQ((NicEmulation{.nodes = 2, .ranks_per_node = 4}.text()), "2 virtual nodes of 4 ranks, 3 us, 25 GB/s");
    EXPECT_EQ((NicEmulation{.nodes = 1, .ranks_per_node = 1, .latency = 500ns, .bandwidth = 0.5}.text()),
              "1 virtual node of 1 rank, 0.5 us, 0.5 GB/s");
}
