// SPDX-License-Identifier: Apache-2.0
// The halo of a rank on a GPU: which atoms it sends to whom, and the exchange of every step.
//
// The idea: a repartition leaves every rank with its halo atoms in slots of its own choice, a zone's next to each other. It tells
// the source of each zone which atoms these are, in the order of the slots (announce), and the source looks up where it has them
// (learn). From then on a message of positions is what the source gathers, in the order of the receiver's slots, and a message of
// forces is what the receiver gives back, entry by entry; no list travels again until the next repartition. Two patterns, as on
// the CPU (halo/halo.hpp):
//   direct   one message per zone, from its owner
//   staged   one message per pulse, z first, then y, then x; it brings the zones that begin with this pulse, of which the
//            neighbour has all but its home atoms from pulses before
// and four methods:
//   staged-host    pulse by pulse. A kernel packs, the host waits, starts the copies, waits, and a kernel unpacks
//   staged-dma     the same, but queues wait for each other's events; the host reads the sizes of messages at a repartition
//   staged-fused   one kernel stores all pulses into the receivers' memory, one returns all forces; their blocks wait only for
//                  what they forward (Doijade et al., SC Workshops '25, Algorithms 3 to 6, with puts). Ranks that share a GPU:
//                  pulse by pulse
//   direct         kernels store all messages; none waits for another. Positions go into the slots of the copies at once, and the
//                  kernel that moves atoms may do so itself (halo/gpu_copies.hpp)
// The first two are queued by the host in every step, kernel by kernel, for each GPU by a thread of its own if that is wished;
// such threads meet before a repartition. The last two can be captured and replayed.
//
// Order and reuse: every message is one epoch of a channel of depth 1 without credits. Positions e + 1 are sent after forces e
// have come back, which their holder sent after its last look at positions e; forces e + 1 after positions e + 1, hence after
// forces e have been used; a repartition passes a barrier between the last step and the first message after it. (The pattern "x
// forward, f back" of docs/design/communication.md; models halo_direct.pml, halo_staged.pml.) Each send comes before each wait on
// every rank, or has its places on the GPU before it. A message that is copied is packed here and fetched by its receiver; the
// same argument, with "fetched" for "sent".
//
// Cost: 16 bytes an atom and direction, read once and stored once across, then read and stored once more; copied messages are
// read and stored once more on either side.
#pragma once

#include "comm/gpu_world.hpp"
#include "device/device_buffer.hpp"
#include "device/gpu_graph.hpp"
#include "domain/gpu_grid.hpp"
#include "halo/gpu_copies.hpp"
#include "halo/method.hpp"
#include "state/gpu_cell.hpp"
#include "state/gpu_state.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace parhelion {

template <class N>
struct HaloArgs; // of kernels: halo/gpu_halo_message.cuh

// When a message that is copied has been packed: from the thread that queues for its source to the one that queues for the rank
// that fetches it, which may be another. Nobody packs again what has not been fetched: positions wait for the forces that the
// same rank returns, and these for positions, or, where a repartition takes their place, for the meeting of all threads before
// it.
struct PackedMark
{
    GpuEvent event;                      // of the source's queue
    std::atomic<std::uint64_t> times{0}; // that the event has been recorded (staged-dma), or passed (staged-host)
};

// Memory and channels of all ranks' halos.
struct GpuHaloRoom
{
    struct Channels // of one message, by its rank
    {
        GpuChannel wanted;                              // to the source of its atoms
        GpuChannel x;                                   // to the destination; not opened by methods that copy
        GpuChannel f;                                   // to the source; likewise
        std::shared_ptr<PackedMark> x_packed, f_packed; // in their place
    };
    std::size_t capacity = 0;                    // slots of a message
    std::vector<Window> windows;                 // of each message
    std::vector<std::vector<Channels>> channels; // [message][rank]
};

template <class N>
class GpuHalo
{
public:
    // For all ranks' halos. cells: of the ranks. capacity: the most slots a rank may have. Throws CommError if memory or signals
    // are used up.
    static GpuHaloRoom make_room(GpuWorld& world, HaloMethod method, std::span<const GpuCell> cells, std::size_t capacity);
    static constexpr std::size_t most_messages = most_gpu_messages;
    static std::size_t messages(HaloMethod method, const GpuCell& cell); // of a rank
    // Bytes of symmetric memory that make_room() takes on every rank.
    static std::size_t bytes(HaloMethod method, const GpuCell& cell, std::size_t capacity);

    // The halo of `rank`. shares_gpu, the same for all: some rank shares a GPU, so no kernel may wait for what is queued behind
    // it.
    GpuHalo(GpuQueue& queue, GpuWorld& world, const GpuHaloRoom& room, HaloMethod method, const GpuCell& cell, int rank,
            bool shares_gpu);

    // After a repartition; every rank announces before any learns.
    void announce(GpuQueue& queue, const GpuState<N>& state);
    void learn(GpuQueue& queue, const GpuState<N>& state);

    // An exchange is so many rounds of a send and a receive; every rank sends in a round before any receives in it, and all on a
    // queue that is the same for positions and forces.
    // Positions go straight to their slots: receive_x() just waits.
    int rounds() const { return is_at_once() ? std::min(count_, 1) : rounds_per_message() * count_; }
    void send_x(GpuQueue& queue, int round, const GpuState<N>& state);
    void receive_x(GpuQueue& queue, int round, GpuState<N>& state);
    // Forces on halo atoms are cleared as they leave.
    void send_f(GpuQueue& queue, int round, GpuState<N>& state);
    void receive_f(GpuQueue& queue, int round, GpuState<N>& state);
    // In the place of send_f() if update_may_begin_early(). What waits for `begun` alone may itself wait for other ranks' forces,
    // as if it came after this: these are sent already, or no block that sends them has yet to find room.
    void send_f(GpuQueue& queue, GpuState<N>& state, GpuEvent& begun);

    // --- capabilities, by which the engine decides

    // May what is queued be captured and replayed? Not if the host takes part in an exchange.
    bool may_be_captured() const { return count_ == 0 || !is_host_driven(method_); }
    // Does the update exchange? Then the kernel that moves all home atoms runs update_task(), which takes the place of send_x()
    // and receive_x(), and of receive_f() if it adds the forces. await_update() is queued when that kernel has been for all
    // ranks.
    bool update_exchanges() const { return copies_.count > 0; }
    CopyTask<N> update_task(bool adds_forces, bool sends_positions) const
    {
        return {copies_, adds_forces, sends_positions, sends_positions && !shares_gpu_};
    }
    void await_update(GpuQueue& queue, GpuState<N>& state);
    // May that kernel begin while this rank's forces are being sent, by the send_f() with an event? It waits for the forces of
    // other ranks, so these must not be queued behind it.
    bool update_may_begin_early() const { return update_exchanges() && !shares_gpu_; }

private:
    struct Part // of the messages
    {
        int first, count;
    };
    // Of a message, positions or forces, for methods that copy: what this rank packs, and what it fetches from another's memory.
    struct Copied
    {
        std::shared_ptr<PackedMark> packed;
        std::byte* to;
        const std::byte* from;
        std::size_t slot_bytes;
        const std::int32_t* slots;
        int source;
        std::shared_ptr<PackedMark> packed_there;
        std::uint64_t fetched = 0; // times
    };

    // Set-up
    void connect(GpuQueue& queue, GpuWorld& world, const GpuHaloRoom& room, int rank);
    static int resident_blocks(const GpuQueue& queue); // of kernels whose blocks wait for each other

    // The step
    bool is_forwarding() const { return method_ == HaloMethod::StagedFused && !shares_gpu_; } // all pulses at once
    bool is_at_once() const { return method_ == HaloMethod::Direct || is_forwarding(); }
    int rounds_per_message() const { return method_ == HaloMethod::StagedHost ? 2 : 1; } // the first packs, the second copies
    // Positions first to last, forces last to first.
    int x_message(int round) const { return round / rounds_per_message(); }
    int f_message(int round) const { return count_ - 1 - round / rounds_per_message(); }
    Part part(int message) const { return is_at_once() ? Part{0, count_} : Part{message, 1}; }
    HaloArgs<N> args(Part part, const GpuState<N>& state);
    template <class Kernel>
    void launch_part(GpuQueue& queue, Phase phase, Kernel kernel, Part part, const GpuState<N>& state);
    template <class Pack>
    void send_copied(GpuQueue& queue, int round, Copied& message, Pack&& pack);
    template <class Unpack>
    void receive_copied(GpuQueue& queue, int round, Copied& message, Unpack&& unpack);
    void fetch(GpuQueue& queue, Copied& message);
    void forward_x(GpuQueue& queue, const GpuState<N>& state);
    void return_f(GpuQueue& queue, GpuState<N>& state);

    GpuWorld& world_;
    int rank_;
    HaloMethod method_;
    GpuCell cell_;
    bool shares_gpu_;
    int count_ = 0, blocks_ = 1; // messages; thread blocks of each
    const Watch* watch_;
    std::size_t capacity_;
    DeviceBuffer<std::byte> messages_; // of the kernels' type
    DeviceBuffer<std::int32_t> send_slots_;
    DeviceBuffer<std::uint8_t> is_forwarded_;
    // Direct
    GpuCopies<N> copies_;
    DeviceBuffer<std::byte> copies_done_; // their BlockCounter
    DeviceBuffer<std::int32_t> copies_of_slot_;
    DeviceBuffer<Copy<N>> copy_table_;
    // Of methods that copy.
    std::vector<Copied> copied_x_, copied_f_; // by message
    PinnedBuffer<std::int32_t> sizes_;
    GpuEvent learnt_;  // the sizes are there
    GpuEvent fetched_; // the latest message, by staged-host
};

} // namespace parhelion
