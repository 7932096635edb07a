// SPDX-License-Identifier: Apache-2.0
// The interface of a halo exchange method on CPUs; each method is a class that implements it (halo/halo.hpp has the list).
#pragma once

#include "halo/messages.hpp"

namespace parhelion {

template <class N>
class MessageExchange
{
public:
    virtual ~MessageExchange() = default;
    virtual void send_coordinates(HaloMessages<N>& messages, ParticleState<N>& state) = 0;
    virtual void return_forces(HaloMessages<N>& messages, ClusterArray<typename N::ForceSum>& halo_forces,
                               ParticleState<N>& state) = 0;
};

} // namespace parhelion
