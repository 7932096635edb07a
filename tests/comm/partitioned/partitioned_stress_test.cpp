// SPDX-License-Identifier: Apache-2.0
// Many epochs of partitioned messages both ways, and of collectives, out of step by random pauses. 10 000, or as many as
// PARHELION_TEST_EXCHANGES says; of all collectives together.
#include "comm/partitioned/buffers.hpp"
#include "comm/partitioned/collective_buffers.hpp"
#include "support/number_in.hpp"

using namespace parhelion;

namespace {

class PartitionedStress : public testing::TestWithParam<TransportCase>
{
protected:
    static std::int64_t epochs()
    {
        const auto all = test::number_in<std::int64_t>("PARHELION_TEST_EXCHANGES", 10'000);
        return all / (GetParam().is_faulty ? 50 : GetParam().carrier == Carrier::Plugin ? 10 : 1);
    }
};

} // namespace

TEST_P(PartitionedStress, epochs_out_of_step_deliver_every_byte)
{
    GetParam().run(2, 24, [&](Communicator& c) {
        const int me = c.rank(), peer = 1 - me;
        Partitioned partitioned(c);
        Outgoing out(partitioned, {6, 10}, {peer}, {.per_signal = 1 + me});
        Incoming in(partitioned, {4, 15}, {peer});
        Jitter jitter(static_cast<std::uint64_t>(me));
        for (std::int64_t e = 1, last = epochs(); e <= last; ++e)
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

TEST_P(PartitionedStress, collectives_out_of_step_stay_right)
{
    GetParam().run(2, 25, [&](Communicator& c) {
        Partitioned partitioned(c);
        const std::vector<CollectiveCase> cases = all_cases({ElementType::Float, 2, 11});
        std::vector<std::unique_ptr<Member>> members;
        for (const CollectiveCase& what : cases) { members.push_back(std::make_unique<Member>(partitioned, what, 2, c.rank())); }
        Jitter jitter(static_cast<std::uint64_t>(c.rank()));
        for (std::int64_t e = 0, last = epochs(); e < last; ++e)
        {
            Member& member = *members[static_cast<std::size_t>(e) % members.size()];
            const auto epoch = static_cast<std::uint64_t>(e / static_cast<std::int64_t>(members.size()) + 1);
            member.start_and_fill(epoch);
            jitter();
            member.wait_and_check(epoch);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Transports, PartitionedStress, testing::ValuesIn(transport_cases),
                         [](const auto& i) { return i.param.name; });
