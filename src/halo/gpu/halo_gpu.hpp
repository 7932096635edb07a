// SPDX-License-Identifier: Apache-2.0
// The halo of a rank on a GPU: which atoms it sends to whom, and the exchange of every step.
//
// The idea: a repartition leaves every rank with its halo atoms in slots of its own choice, a zone's next to each other. It tells
// the source of each zone which atoms these are, in the order of the slots (requests), and the source looks up where it has them
// (builds). From then on a message of positions is what the source gathers, in the order of the receiver's slots, and a message
// of forces is what the receiver gives back, entry by entry; no list travels again until the next repartition. Two patterns, as
// on the CPU (halo/halo.hpp):
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
//                  kernel that moves atoms may do so itself (halo/gpu/copies.hpp)
// A method is a class that implements GpuHalo and one row of the table in gpu/halo_gpu.cu. The first two are queued by the host
// in every step, kernel by kernel, for each GPU by a thread of its own if that is wished; such threads meet before a repartition.
// The last two can be captured and replayed.
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

#include "comm/gpu/world_gpu.hpp"
#include "device/gpu/graph.hpp"
#include "domain/gpu/grid_gpu.hpp"
#include "halo/gpu/copies.hpp"
#include "halo/method.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <memory>
#include <span>
#include <vector>

namespace parhelion {

template <class N>
class GpuHalo
{
public:
    virtual ~GpuHalo() = default;

    // After a repartition; every rank announces before any learns.
    virtual void request_atoms(GpuQueue& queue, GpuState<N>& state) = 0;
    virtual void build_send_lists(GpuQueue& queue, GpuState<N>& state) = 0;

    // An exchange is so many rounds of a send and a receive. Every rank sends in a round before any receives in it, and receives
    // in it before any sends in the next; all on a queue that is the same for positions and forces.
    virtual int rounds() const = 0;
    virtual void send_x(GpuQueue& queue, int round, GpuState<N>& state) = 0;
    virtual void receive_x(GpuQueue& queue, int round, GpuState<N>& state) = 0;
    // Forces on halo atoms are cleared as they leave.
    virtual void send_f(GpuQueue& queue, int round, GpuState<N>& state) = 0;
    virtual void receive_f(GpuQueue& queue, int round, GpuState<N>& state) = 0;

    // --- capabilities, by which the engine decides: a method has none that its class does not name

    // May what is queued be captured and replayed? Not if the host takes part in an exchange.
    virtual bool may_be_captured() const { return true; }

    // Does the update exchange the halo? Then the kernel that moves all home atoms runs update_task(), which replaces send_x()
    // and receive_x(), and receive_f() if it adds the forces. await_update() is queued after that kernel has been queued on all
    // ranks.
    virtual bool update_exchanges() const { return false; }
    virtual CopyTask<N> update_task(bool /*adds_forces*/, bool /*sends_positions*/) const { return {}; }
    virtual void await_update(GpuQueue&, GpuState<N>&) {}

    // May that kernel begin while this rank's forces are being sent? They are then sent by send_f_beside_update(). A kernel that
    // is queued behind `begun` may wait for other ranks' forces: the blocks that send this rank's have started by then, or have
    // places on the GPU (device/gpu/launch_begun.cuh).
    virtual bool update_may_begin_early() const { return false; }
    virtual void send_f_beside_update(GpuQueue&, GpuState<N>&, GpuEvent& /*begun*/) {}
};

enum class Carrier : std::uint8_t // of messages
{
    Kernels, // store them into the receiver's memory and signal
    Copies   // fetch them from where a kernel has packed them
};

struct PackedMark; // halo/gpu/fetched.cuh

// What the halos of all ranks share: who sends to whom, and memory and channels for that.
struct GpuHaloMemory
{
    struct Message // of a rank
    {
        int first_zone, end_zone;                       // that it brings
        int source, destination;                        // the rank it comes from; that to which this rank sends in turn
        GpuChannel wanted;                              // to the source: which atoms
        GpuChannel x;                                   // to the destination; not opened if messages are copied
        GpuChannel f;                                   // to the source; likewise
        std::shared_ptr<PackedMark> x_packed, f_packed; // in their place
    };
    GpuWorld* world = nullptr;
    HaloMethod method = HaloMethod::Direct;
    Carrier carrier = Carrier::Kernels;
    bool shares_gpus = false;
    std::vector<GpuCell> cells;                 // of the ranks
    std::size_t capacity = 0;                   // slots of a message
    std::vector<Window> windows;                // of each message
    std::vector<std::vector<Message>> messages; // [message][rank]
    bool in_update = true;                      // may the update exchange halos, where the method lets it?
};

// Messages of a rank.
template <class N>
std::size_t gpu_halo_messages(HaloMethod method, const GpuCell& cell);
// Bytes of symmetric memory that make_gpu_halo_memory() takes on every rank. capacity: the most slots a rank may have.
template <class N>
std::size_t gpu_halo_bytes(HaloMethod method, const GpuCell& cell, std::size_t capacity);
// cells: of the ranks, the first of the world. shares_gpus: some share a GPU and queues: no kernel may wait for what comes
// behind. Throws CommError if memory or signals are used up.
template <class N>
GpuHaloMemory make_gpu_halo_memory(GpuWorld& world, HaloMethod method, std::span<const GpuCell> cells, std::size_t capacity,
                                   bool shares_gpus);
// The halo of `rank`, which has a cell.
template <class N>
std::unique_ptr<GpuHalo<N>> make_gpu_halo(GpuQueue& queue, const GpuHaloMemory& memory, int rank);

} // namespace parhelion
