// SPDX-License-Identifier: Apache-2.0
// The exchange of every step: sends positions of home atoms to the ranks that hold copies of them, and returns forces
// on the copies to the owners.
//
// There are three methods with the same result: the halo's content, the territory and the
// physics do not depend on the method. The methods differ in which messages they wait for:
//   staged-host   pulse by pulse: each is packed, signalled, awaited and unpacked before the next. It is the reference.
//   staged-fused  all pulses at once (Doijade et al., SC Workshops '25, Algorithms 1-6). Home clusters of every pulse are packed
//                 first; forwarded clusters wait only for the pulse that brings them. Forces return through the pulses in reverse
//                 order. The forces of a pulse are sent as soon as all forces that belong to them have been added.
//   direct        one message to every neighbour, no forwarding.
// Forces are summed in the order of the plan, not of arrival. The bits therefore depend on the plan alone, and
// staged-fused has the bits of staged-host. Messages without atoms signal like any other.
//
// Reuse of payload slots: each channel has two in each direction, and no credits. Positions e + 2 of a message are packed after
// forces e + 1 have returned. The rank with the copies sent those forces after it had unpacked positions e + 1, hence e. The same
// holds for forces. A return_forces() must follow each send_coordinates(). docs/design/communication.md has the argument; models:
// halo_staged.pml, halo_direct.pml. Cost: each byte is copied into the slot and out of it.
#pragma once

#include "halo/message_exchange.hpp"
#include "halo/method.hpp"

#include <memory>

namespace parhelion {

constexpr HaloPattern pattern_of(HaloMethod method)
{
    return method == HaloMethod::Direct ? HaloPattern::Direct : HaloPattern::Staged;
}

template <class N>
class Halo
{
public:
    using ForceSum = typename N::ForceSum;

    // queue: the team that packs and unpacks. comm and queue must outlive the halo. first_epoch: where its channels begin.
    // Throws ContractError for a method that does not run on CPUs.
    Halo(HaloMethod method, Communicator& comm, CpuQueue& queue, Word first_epoch = 1);

    HaloPattern pattern() const { return pattern_; } // the pattern of plans that bind() accepts
    const HaloPlan& plan() const { return messages_.plan(); }

    // Replaces the plan. Collective; call it between two exchanges.
    void bind(HaloPlan plan) { messages_.bind(std::move(plan)); }

    // Copies positions of home atoms to other ranks. Every halo atom has the bits of its owner's position afterwards.
    void send_coordinates(ParticleState<N>& state);
    // Adds to state.f the forces that other ranks computed for home atoms. halo_forces: the forces that this rank computed for
    // halo atoms, over the halo's slots; forwarded forces are added to them. Both functions throw CommError and PeerAborted.
    void return_forces(ClusterArray<ForceSum>& halo_forces, ParticleState<N>& state);

private:
    HaloPattern pattern_;
    std::unique_ptr<MessageExchange<N>> exchange_;
    HaloMessages<N> messages_;
};

} // namespace parhelion
