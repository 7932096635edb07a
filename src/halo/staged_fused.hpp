// SPDX-License-Identifier: Apache-2.0
// staged-fused on CPUs (Doijade et al., SC Workshops '25, Algorithms 1-6): all pulses at once. Home clusters of every pulse are
// packed first; what must be forwarded waits only for the pulse that brings it. Forces come back through the pulses in reverse,
// each sent on as soon as what it must include has been added.
#pragma once

#include "halo/message_exchange.hpp"

namespace parhelion {

template <class N>
class StagedFusedExchange final : public MessageExchange<N>
{
public:
    using ForceSum = typename N::ForceSum;

    void send_coordinates(HaloMessages<N>& messages, ParticleState<N>& state) override;
    void return_forces(HaloMessages<N>& messages, ClusterArray<ForceSum>& halo_forces, ParticleState<N>& state) override;
};

} // namespace parhelion
