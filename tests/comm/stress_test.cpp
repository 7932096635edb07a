// SPDX-License-Identifier: Apache-2.0
// Many exchanges of coordinates and forces between two ranks, without credits, out of step by random pauses. 25 000, or as many
// as PARHELION_TEST_EXCHANGES says, and a part of them where ranks are processes, or the network is slow or bad; or as many over
// each transport as PARHELION_TEST_EXCHANGES_OF_EACH says.
#include "comm/ranks.hpp"
#include "support/network_case.hpp"

#include <cstdlib>

using namespace parhelion;

namespace {

class Stress : public testing::TestWithParam<TransportCase>
{
};

std::int64_t exchanges_over(const TransportCase& transport)
{
    const bool is_slow = transport.ranks_of_process > 0 || transport.is_slow();
    const std::int64_t part = transport.is_faulty ? 50 : is_slow ? 10 : 1;
    return test::number_in<std::int64_t>("PARHELION_TEST_EXCHANGES_OF_EACH",
                                         test::number_in<std::int64_t>("PARHELION_TEST_EXCHANGES", 25'000) / part);
}

std::size_t size_of(const Payload& payload) { return std::to_integer<std::size_t>(payload.at(1 << 20)) % 65; }

} // namespace

TEST_P(Stress, exchanges_out_of_step_deliver_every_byte)
{
    const std::int64_t exchanges = exchanges_over(GetParam());
    GetParam().run(2, 99, [&](Communicator& c) {
        const int me = c.rank(), peer = 1 - me;
        const ChannelOptions options{2, Credits::No, 64};
        SendChannel x_out = c.open_send("x", peer, options), f_out = c.open_send("f", peer, options);
        ReceiveChannel x_in = c.open_receive("x", peer, options), f_in = c.open_receive("f", peer, options);
        Jitter jitter(static_cast<std::uint64_t>(me));
        for (std::int64_t e = 0; e < exchanges; ++e)
        {
            const auto epoch = static_cast<std::uint64_t>(e);
            const Payload x_ours{epoch, me, peer, 1}, f_ours{epoch, me, peer, 2};
            const Payload x_theirs{epoch, peer, me, 1}, f_theirs{epoch, peer, me, 2};
            send_payload(x_out, x_ours, size_of(x_ours));
            jitter();
            const Message x = x_in.wait();
            x_theirs.check(x, size_of(x_theirs));
            poison(x);
            x_in.ack();
            jitter();
            send_payload(f_out, f_ours, size_of(f_ours));
            const Message f = f_in.wait();
            f_theirs.check(f, size_of(f_theirs));
            poison(f);
            f_in.ack();
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Transports, Stress, testing::ValuesIn(transport_cases), [](const auto& i) { return i.param.name; });
