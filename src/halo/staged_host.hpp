// SPDX-License-Identifier: Apache-2.0
// The method staged-host on CPUs: each pulse is packed, sent, awaited and unpacked before the next. The reference method.
#pragma once

#include "halo/message_exchange.hpp"

namespace parhelion {

template <class N>
class StagedHostExchange final : public MessageExchange<N>
{
public:
    using ForceSum = typename N::ForceSum;

    void send_coordinates(HaloMessages<N>& messages, ParticleState<N>& state) override
    {
        for (std::size_t m = 0; m < messages.size(); ++m) { messages.send_together(m, m + 1, state); }
    }
    void return_forces(HaloMessages<N>& messages, ClusterArray<ForceSum>& halo_forces, ParticleState<N>& state) override
    {
        for (std::size_t m = messages.size(); m-- > 0;) { messages.return_together(m, m + 1, halo_forces, state); }
    }
};

} // namespace parhelion
