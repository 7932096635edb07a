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

#include "comm/communicator.hpp"
#include "device/cpu_queue.hpp"
#include "domain/halo_plan.hpp"
#include "halo/method.hpp"
#include "state/particle_state.hpp"

#include <map>

namespace parhelion {

constexpr HaloPattern pattern_of(HaloMethod method)
{
    return method == HaloMethod::Direct ? HaloPattern::Direct : HaloPattern::Staged;
}

template <class N>
class Halo
{
public:
    using Fixed = typename N::Fixed;
    using ForceSum = typename N::ForceSum;

    // queue: the team that packs and unpacks. Both outlive the halo. first_epoch: of its channels.
    Halo(HaloMethod method, Communicator& comm, CpuQueue& queue, Word first_epoch = 1);

    HaloMethod method() const { return method_; }
    const HaloPlan& plan() const { return plan_; }

    // Takes a new plan into use: slots for its messages. Collective, and between two exchanges.
    void bind(HaloPlan plan);

    // Every halo atom has its owner's bits afterwards.
    void send_coordinates(ParticleState<N>& state);
    // Adds to state.f what other ranks computed for home atoms. halo_forces: what this rank computed for halo atoms, over the
    // halo's slots; changed by what passes through. Throws CommError, PeerAborted, as does send_coordinates.
    void return_forces(ClusterArray<ForceSum>& halo_forces, ParticleState<N>& state);

private:
    struct Link // the channels of one message of the plan
    {
        SendChannel send_x;
        ReceiveChannel receive_x;
        SendChannel send_f; // back to where the positions came from
        ReceiveChannel receive_f;
    };
    struct Range
    {
        std::size_t begin, end;
    };

    std::size_t messages() const { return plan_.messages.size(); }
    Link& link(std::size_t m) { return *links_[m]; }
    // What a thread of the team does of n things.
    Range share(std::size_t n, int thread) const
    {
        const auto [begin, end] = queue_.range(n, 1, thread);
        return {begin, end};
    }

    void send_stage(std::size_t begin, std::size_t end, ParticleState<N>& state);
    void return_stage(std::size_t begin, std::size_t end, ClusterArray<ForceSum>& halo_forces, ParticleState<N>& state);
    void send_fused(ParticleState<N>& state);
    void return_fused(ClusterArray<ForceSum>& halo_forces, ParticleState<N>& state);

    void pack_coordinates(std::size_t m, Range entries, const ParticleState<N>& state, std::byte* slot) const;
    void unpack_coordinates(std::size_t m, int thread, const std::byte* slot, ParticleState<N>& state) const;
    void pack_forces(std::size_t m, int thread, const ClusterArray<ForceSum>& halo_forces, std::byte* slot) const;
    void add_forces(std::size_t m, int thread, const std::byte* slot, ClusterArray<ForceSum>& halo_forces,
                    ParticleState<N>& state) const;

    HaloMethod method_;
    Communicator& comm_;
    CpuQueue& queue_;
    Word first_epoch_;
    HaloPlan plan_;
    std::map<std::pair<std::size_t, int>, Link> opened_; // by message and the rank it is sent to
    std::vector<Link*> links_;                           // of the plan's messages
    std::vector<std::vector<std::size_t>> forwards_;     // by message: the earlier messages whose clusters it sends on
};

} // namespace parhelion
