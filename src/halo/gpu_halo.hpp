// SPDX-License-Identifier: Apache-2.0
// The halo of a rank on a GPU: which atoms it sends to whom, and the exchange of every step from inside kernels.
//
// The idea: a repartition leaves every rank with its halo atoms in slots of its own choice, a zone's next to each other. It tells
// the source of each zone which atoms these are, in the order of the slots (announce), and the source looks up where it has them
// (learn). From then on a message of positions is what the source gathers and stores into the receiver's memory, and a message of
// forces is what the receiver stores back, entry by entry; no list travels again until the next repartition. Two patterns, as on
// the CPU (halo/halo.hpp):
//   direct   one message per zone, from its owner
//   staged   one message per pulse, z first, then y, then x; it brings the zones that begin with this pulse, of which the
//            neighbour has all but its home atoms from pulses before
// and three methods: `direct`; `staged-host`, pulse by pulse; `staged-fused`, positions of all pulses by one kernel, whose blocks
// wait only for what they forward (Doijade et al., SC Workshops '25, Algorithm 3).
//
// Order and reuse: every message is one epoch of a channel of depth 1 without credits. Positions e + 1 are sent after forces e
// have come back, which their holder sent after its last look at positions e; forces e + 1 after positions e + 1, hence after
// forces e have been used; a repartition passes a barrier between the last step and the first message after it. (The pattern "x
// forward, f back" of docs/design/communication.md; models halo_direct.pml, halo_staged.pml.) Each send comes before each wait on
// every rank.
//
// Cost: 16 bytes an atom and direction, read once and stored once across, then read and stored once more.
#pragma once

#include "comm/gpu_world.hpp"
#include "device/device_buffer.hpp"
#include "halo/method.hpp"
#include "state/gpu_cell.hpp"
#include "state/gpu_state.hpp"
#include "trace/phases.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

// Memory and channels of all ranks' halos.
struct GpuHaloRoom
{
    struct Channels // of one message, by its rank
    {
        GpuChannel wanted; // to the source of its atoms
        GpuChannel x;      // to the destination
        GpuChannel f;      // to the source
    };
    std::size_t capacity = 0;                    // slots of a message
    std::vector<Window> windows;                 // of each message
    std::vector<std::vector<Channels>> channels; // [message][rank]
};

template <class N>
class GpuHalo
{
public:
    // For all ranks' halos. cells: of the ranks. capacity: the most slots a message may have; those of any rank are enough.
    // Throws CommError if memory or signals are used up.
    static GpuHaloRoom make_room(GpuWorld& world, HaloMethod method, std::span<const GpuCell> cells, std::size_t capacity);
    // Bytes of symmetric memory that make_room() takes on every rank.
    static std::size_t bytes(HaloMethod method, const GpuCell& cell, std::size_t capacity);

    // The halo of `rank`. shares_gpu: other ranks are on its GPU, so no kernel may wait for what is queued behind it.
    GpuHalo(GpuQueue& queue, GpuWorld& world, const GpuHaloRoom& room, HaloMethod method, const GpuCell& cell, int rank,
            bool shares_gpu);

    // After a repartition; every rank announces before any learns.
    void announce(GpuQueue& queue, const GpuState<N>& state);
    void learn(GpuQueue& queue, const GpuState<N>& state);

    // An exchange is so many rounds of a send and a receive; every rank sends in a round before any receives in it.
    int x_rounds() const;
    int f_rounds() const;
    void send_x(GpuQueue& queue, int round, const GpuState<N>& state);
    void receive_x(GpuQueue& queue, int round, GpuState<N>& state);
    // Forces on halo atoms are cleared as they leave.
    void send_f(GpuQueue& queue, int round, GpuState<N>& state);
    void receive_f(GpuQueue& queue, int round, GpuState<N>& state);

private:
    struct Part // of the messages
    {
        int first, count;
    };
    Part x_part(int round) const;
    Part f_part(int round) const;
    template <class Kernel>
    void launch_part(GpuQueue& queue, Phase phase, Kernel kernel, Part part, const GpuState<N>& state);

    HaloMethod method_;
    GpuCell cell_;
    bool shares_gpu_;
    int count_ = 0, blocks_ = 1; // messages; thread blocks of each
    const Watch* watch_;
    std::size_t capacity_;
    DeviceBuffer<std::byte> messages_; // of the kernels' type
    DeviceBuffer<std::int32_t> send_slots_;
};

} // namespace parhelion
