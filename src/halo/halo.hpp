// SPDX-License-Identifier: Apache-2.0
// The exchange of every step: positions of home atoms to the ranks that hold copies of them, forces on the copies back to the
// owners.
//
// Three methods, one result. The halo's content and the territory are the same, and so is the physics. The methods differ in
// their waits:
//   staged-host   pulse by pulse: pack, signal, wait, unpack, and only then the next. The reference.
//   staged-fused  all pulses at once (Doijade et al., SC Workshops '25, Algorithms 1-6): home clusters of every pulse are packed
//                 first; what must be forwarded waits only for the pulse that brings it. Forces come back through the pulses in
//                 reverse, each sent on as soon as what it must include has been added.
//   direct        one message to every neighbour, no forwarding.
// Sums of forces are made in the order of the plan, not of arrival: the bits depend on the plan alone, and staged-fused has those
// of staged-host. Messages without atoms signal like any other.
//
// Reuse of slots: two per channel and direction, and no credits. Positions e + 2 of a message are packed after forces e + 1 have
// come back. Their holder sent these after it had unpacked positions e + 1, hence e. Likewise for forces, after positions. Each
// call of send_coordinates must be followed by one of return_forces. docs/design/communication.md has the argument; models:
// halo_staged.pml, halo_direct.pml. Cost: each byte is copied twice, into the slot and out of it.
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

    // queue: the team that packs and unpacks. Both outlive the halo. first_epoch: of its channels. Throws ContractError for a
    // method that does not run on CPUs.
    Halo(HaloMethod method, Communicator& comm, CpuQueue& queue, Word first_epoch = 1);

    HaloPattern pattern() const { return pattern_; } // of the plans it takes
    const HaloPlan& plan() const { return messages_.plan(); }

    // Takes a new plan into use. Collective, and between two exchanges.
    void bind(HaloPlan plan) { messages_.bind(std::move(plan)); }

    // Every halo atom has its owner's bits afterwards.
    void send_coordinates(ParticleState<N>& state);
    // Adds to state.f what other ranks computed for home atoms. halo_forces: what this rank computed for halo atoms, over the
    // halo's slots; changed by what passes through. Throws CommError, PeerAborted, as does send_coordinates.
    void return_forces(ClusterArray<ForceSum>& halo_forces, ParticleState<N>& state);

private:
    HaloPattern pattern_;
    std::unique_ptr<MessageExchange<N>> exchange_;
    HaloMessages<N> messages_;
};

} // namespace parhelion
