// SPDX-License-Identifier: Apache-2.0
// The method staged-fused on CPUs (Doijade et al., SC Workshops '25, Algorithms 1-6): all pulses at once. Home clusters
// of every pulse are packed first; forwarded clusters wait only for the pulse that brings them. Forces return through
// the pulses in reverse order. The forces of a pulse are sent as soon as all forces that belong to them have been added.
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
