// SPDX-License-Identifier: Apache-2.0
// Patterns of messages that reuse slots without credits, each as in its model (tests/comm/models): payload says which epoch it
// belongs to, readers read as late as the pattern allows, and slots are poisoned at the last moment they may be used.
#include "comm/ranks.hpp"

#include <cstring>

using namespace parhelion;

namespace {

constexpr std::size_t piece = 40; // bytes

struct PatternCase
{
    TransportCase transport;
    int ranks;
};

std::vector<PatternCase> pattern_cases()
{
    std::vector<PatternCase> cases;
    for (const TransportCase& transport : transport_cases)
    {
        for (const int ranks : {2, 3, 4}) { cases.push_back({transport, ranks}); }
    }
    return cases;
}

class Patterns : public testing::TestWithParam<PatternCase>
{
protected:
    void run(const std::function<void(Communicator&)>& body) const
    {
        const auto [transport, ranks] = GetParam();
        transport.run(ranks, 20 + static_cast<std::uint64_t>(ranks), body);
    }
    int up(int rank, int by = 1) const { return (rank + by) % GetParam().ranks; }
    int down(int rank, int by = 1) const { return (rank + by * (GetParam().ranks - 1)) % GetParam().ranks; }
    int scaled(int n) const { return GetParam().transport.scaled(n); }
};

ChannelOptions uncredited(int depth, std::size_t capacity = piece) { return {depth, Credits::No, capacity}; }

} // namespace

TEST_P(Patterns, both_neighbours_send_each_epoch)
{
    run([&](Communicator& c) {
        const int me = c.rank(), above = up(me), below = down(me);
        SendChannel to_above = c.open_send("up", above, uncredited(2)), to_below = c.open_send("down", below, uncredited(2));
        ReceiveChannel from_below = c.open_receive("up", below, uncredited(2));
        ReceiveChannel from_above = c.open_receive("down", above, uncredited(2));
        Jitter jitter(static_cast<std::uint64_t>(me));
        for (int e = 0; e < scaled(4000); ++e)
        {
            const auto epoch = static_cast<std::uint64_t>(e);
            send_payload(to_above, {epoch, me, above, 1}, piece);
            jitter();
            send_payload(to_below, {epoch, me, below, 2}, piece);
            jitter();
            const Message first = from_below.wait();
            const Message second = from_above.wait();
            jitter();
            Payload{epoch, below, me, 1}.check(first, piece);
            Payload{epoch, above, me, 2}.check(second, piece);
            poison(first); // read before the next epoch is sent
            poison(second);
            from_below.ack();
            from_above.ack();
        }
    });
}

TEST_P(Patterns, coordinates_may_be_read_until_the_next_force_is_sent)
{
    run([&](Communicator& c) {
        const int me = c.rank(), above = up(me), below = down(me);
        SendChannel x_out = c.open_send("x", below, uncredited(2)), f_out = c.open_send("f", above, uncredited(2));
        ReceiveChannel x_in = c.open_receive("x", above, uncredited(2)), f_in = c.open_receive("f", below, uncredited(2));
        Jitter jitter(static_cast<std::uint64_t>(me));
        Message late; // x of the epoch before
        for (int e = 0; e < scaled(4000); ++e)
        {
            const auto epoch = static_cast<std::uint64_t>(e);
            send_payload(x_out, {epoch, me, below, 1}, piece);
            const Message x = x_in.wait();
            Payload{epoch, above, me, 1}.check(x, piece);
            jitter();
            if (e > 0)
            {
                Payload{epoch - 1, above, me, 1}.check(late, piece);
                poison(late);
            }
            late = x;
            x_in.ack();
            send_payload(f_out, {epoch, me, above, 2}, piece);
            jitter();
            const Message f = f_in.wait();
            Payload{epoch, below, me, 2}.check(f, piece);
            poison(f);
            f_in.ack();
        }
    });
}

TEST_P(Patterns, two_pulses_forward_coordinates_and_return_forces)
{
    run([&](Communicator& c) {
        const int me = c.rank(), above = up(me), below = down(me);
        SendChannel x1_out = c.open_send("x 1", below, uncredited(2)), x2_out = c.open_send("x 2", below, uncredited(2));
        ReceiveChannel x1_in = c.open_receive("x 1", above, uncredited(2));
        ReceiveChannel x2_in = c.open_receive("x 2", above, uncredited(2));
        SendChannel f1_out = c.open_send("f 1", above, uncredited(2, 2 * piece));
        SendChannel f2_out = c.open_send("f 2", above, uncredited(2));
        ReceiveChannel f1_in = c.open_receive("f 1", below, uncredited(2, 2 * piece));
        ReceiveChannel f2_in = c.open_receive("f 2", below, uncredited(2));
        Jitter jitter(static_cast<std::uint64_t>(me));
        for (int e = 0; e < scaled(4000); ++e)
        {
            const auto epoch = static_cast<std::uint64_t>(e);
            // Coordinates: one's own in pulse 1, what it brought in pulse 2.
            send_payload(x1_out, {epoch, me, 0, 1}, piece);
            jitter();
            const Message x1 = x1_in.wait();
            std::byte* const x2_slot = x2_out.begin(piece);
            std::memcpy(x2_slot, x1.data, piece);
            x2_out.publish(piece);
            const Message x2 = x2_in.wait();
            jitter();
            Payload{epoch, above, 0, 1}.check(x1, piece);
            Payload{epoch, up(me, 2), 0, 1}.check(x2, piece);
            poison(x1); // read before the forces leave
            poison(x2);
            // Forces: back through pulse 2, then through pulse 1 with what came back.
            send_payload(f2_out, {epoch, me, 0, 2}, piece);
            jitter();
            const Message f2 = f2_in.wait();
            std::byte* const f1_slot = f1_out.begin(2 * piece);
            Payload{epoch, me, 0, 3}.pack(f1_slot, piece);
            std::memcpy(f1_slot + piece, f2.data, piece);
            f1_out.publish(2 * piece);
            poison(f2);
            const Message f1 = f1_in.wait();
            Payload{epoch, below, 0, 3}.check({f1.data, piece}, piece);
            Payload{epoch, down(me, 2), 0, 2}.check({f1.data + piece, f1.bytes - piece}, piece);
            poison(f1);
            for (ReceiveChannel* const channel : {&x1_in, &x2_in, &f1_in, &f2_in}) { channel->ack(); }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Transports, Patterns, testing::ValuesIn(pattern_cases()), [](const auto& i) {
    return std::string(i.param.transport.name) + "_" + std::to_string(i.param.ranks) + "_ranks";
});
