// SPDX-License-Identifier: Apache-2.0
// Many epochs of partitioned messages both ways, out of step by random pauses. 10 000, or as many as PARHELION_TEST_EXCHANGES
// says.
#include "comm/partitioned/buffers.hpp"

#include <cstdlib>

using namespace parhelion;

namespace {

class PartitionedStress : public testing::TestWithParam<TransportCase>
{
};

} // namespace

TEST_P(PartitionedStress, epochs_out_of_step_deliver_every_byte)
{
    const char* const asked = std::getenv("PARHELION_TEST_EXCHANGES");
    const std::int64_t all = asked != nullptr ? std::atoll(asked) : 10'000;
    const std::int64_t epochs = all / (GetParam().is_faulty ? 50 : GetParam().carrier == Carrier::Plugin ? 10 : 1);
    GetParam().run(2, 24, [&](Communicator& c) {
        const int me = c.rank(), peer = 1 - me;
        Partitioned partitioned(c);
        Outgoing out(partitioned, {6, 10}, {peer}, {.per_signal = 1 + me});
        Incoming in(partitioned, {4, 15}, {peer});
        Jitter jitter(static_cast<std::uint64_t>(me));
        for (std::int64_t e = 1; e <= epochs; ++e)
        {
            const auto epoch = static_cast<std::uint64_t>(e);
            out.request.start();
            in.start();
            jitter();
            if (e % 3 == 0) { out.request.pbuf_prepare(); }
            out.send_all({epoch, me, peer}, epoch);
            jitter();
            in.receive_all({epoch, peer, me});
            out.wait();
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Transports, PartitionedStress, testing::ValuesIn(transport_cases),
                         [](const auto& i) { return i.param.name; });
