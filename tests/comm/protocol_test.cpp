// SPDX-License-Identifier: Apache-2.0
// The core alone, as a kernel would use it: no host classes, no virtual calls, polls in place of waits.
#include "comm/ranks.hpp"

#include <array>

using namespace parhelion;

namespace {

// A transport that is never asked: both ends reach everything.
struct Unused
{
    void put_signal(const Put&) { std::abort(); }
};

struct Memory
{
    alignas(128) std::array<std::byte, 256> payload{};
    std::array<SignalSlot, 2> signals{}, credits{};
};

} // namespace

TEST(Signals, epochs_compare_right_across_the_wrap)
{
    for (const Word epoch : {Word{1}, Word{0x7FFFFFFB}, Word{0xFFFFFFFB}, ~Word{0}, Word{0}})
    {
        EXPECT_TRUE(reached(epoch, epoch));
        EXPECT_TRUE(reached(epoch + 3, epoch));
        EXPECT_FALSE(reached(epoch - 1, epoch));
    }
}

TEST(Protocol, ends_that_poll_instead_of_waiting_deliver_every_message)
{
    constexpr int epochs = 20000;
    Memory memory;
    SendRoute to{};
    to.depth = 2;
    to.has_credits = true;
    to.stride = 128;
    to.payload = memory.payload.data();
    to.signals = memory.signals.data();
    to.credits = memory.credits.data();
    ReceiveRoute from{};
    from.depth = 2;
    from.has_credits = true;
    from.stride = 128;
    from.payload = memory.payload.data();
    from.signals = memory.signals.data();
    from.credits = memory.credits.data();
    std::thread source([&] {
        Sender<HostAtomics, Unused> send(to, nullptr, 1);
        for (int e = 0; e < epochs; ++e)
        {
            if (!comes_true([&] { return send.is_ready(); })) { return; }
            const std::size_t bytes = send.next_epoch() % 128;
            Payload{send.next_epoch(), 0, 1}.pack(send.slot(), bytes);
            send.publish(bytes);
        }
    });
    Receiver<HostAtomics, Unused> receive(from, nullptr, 1);
    int wrong = 0;
    for (int e = 0; e < epochs; ++e)
    {
        if (!comes_true([&] { return receive.has_arrived(); }))
        {
            ++wrong;
            break;
        }
        const Payload payload{receive.next_epoch(), 0, 1};
        wrong += receive.bytes() != receive.next_epoch() % 128 ? 1 : 0;
        for (std::size_t i = 0; i < receive.bytes(); ++i) { wrong += receive.slot()[i] != payload.at(i) ? 1 : 0; }
        poison({receive.slot(), receive.bytes()});
        receive.take();
        receive.acknowledge();
    }
    source.join();
    EXPECT_EQ(wrong, 0);
}
