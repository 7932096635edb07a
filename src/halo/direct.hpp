// SPDX-License-Identifier: Apache-2.0
// The method direct on CPUs: one message to every neighbour, all at once, and no forwarding.
#pragma once

#include "halo/message_exchange.hpp"

namespace parhelion {

template <class N>
class DirectExchange final : public MessageExchange<N>
{
public:
    using ForceSum = typename N::ForceSum;

    void send_coordinates(HaloMessages<N>& messages, ParticleState<N>& state) override
    {
        messages.send_together(0, messages.size(), state);
    }
    void return_forces(HaloMessages<N>& messages, ClusterArray<ForceSum>& halo_forces, ParticleState<N>& state) override
    {
        messages.return_together(0, messages.size(), halo_forces, state);
    }
};

} // namespace parhelion
