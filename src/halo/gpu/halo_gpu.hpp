// SPDX-License-Identifier: Apache-2.0
// The halo of a rank on a GPU: it knows which atoms the rank sends to which peer, and does the exchange of every step.
//
// The idea: at a repartition every rank puts its halo atoms into slots of its own choice, the atoms of a zone
// together. It sends the source of each zone the numbers of these atoms, in the order of the slots (request_atoms),
// and the source looks up its slots of these atoms (build_send_lists). After that the source gathers a message of
// positions in the order of the receiver's slots, and the receiver returns a message of forces entry by entry. No
// list is sent until the next repartition. The pattern says which messages there are. It is one of two, as in halo/halo.hpp:
//   direct   one message per zone, from its owner
//   staged   one message per pulse, z first, then y, then x. It brings the zones that begin with this pulse. Its sender owns the
//            home atoms of these zones, and received the other atoms in earlier pulses.
// There are four methods:
//   staged-host    pulse by pulse: a kernel packs, the host waits, starts the copies, waits again, and a kernel unpacks
//   staged-dma     as staged-host, but queues wait for each other's events; the host reads the sizes of messages at a repartition
//   staged-fused   one kernel stores all pulses into the receivers' memory, another returns all forces. Their blocks wait only
//                  for forwarded atoms (Doijade et al., SC Workshops '25, Algorithms 3 to 6, with puts). Where ranks share a
//                  GPU, it works pulse by pulse
//   direct         kernels store all messages, and none waits for another. Positions go directly into the slots of the copies,
//                  and the kernel that moves atoms may exchange them itself (halo/gpu/copies.hpp).
// A method is a class that implements GpuHalo and one row of the table in gpu/halo_gpu.cu. The host queues the first
// two methods in every step, kernel by kernel, optionally with a thread for each GPU; such threads meet before a
// repartition. The last two methods can be captured and replayed.
//
// Order and reuse: every message is one epoch of a channel of depth 1 without credits. Positions e + 1 are sent after forces e
// have returned. The rank with the copies has sent these after its last read of positions e. Forces e + 1 are sent after
// positions e + 1, hence after forces e have been used. Between the last step before a repartition and the first message after it
// there is a barrier. (This is the pattern "x forward, f back" of docs/design/communication.md; models halo_direct.pml,
// halo_staged.pml.) On every rank each send is queued before each wait, or its blocks already have places on the GPU. A message
// that is copied is packed here and fetched by its receiver. The same argument holds for it, with "fetched" for "sent".
//
// Cost: 16 bytes per atom and direction are read once, stored once across the link, then read and stored once more.
// Copied messages are read and stored once more on either side.
#pragma once

#include "comm/gpu/world_gpu.hpp"
#include "device/gpu/graph.hpp"
#include "device/rank_program.hpp"
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

    // Call these after a repartition. Every rank must call request_atoms() before any calls build_send_lists().
    virtual void request_atoms(GpuQueue& queue, GpuState<N>& state) = 0;
    virtual void build_send_lists(GpuQueue& queue, GpuState<N>& state) = 0;

    // exchange_x() and return_f() are programs (device/rank_program.hpp), both to be run on the same
    // queue. They pause before each send and each receive, so that every rank has sent before any rank
    // receives. exchange_x() sends positions of home atoms to the ranks that have copies. return_f()
    // sends forces on halo atoms to the owners, which add them. It sets the forces on halo atoms to zero.
    virtual RankProgram exchange_x(GpuQueue& queue, GpuState<N>& state) = 0;
    virtual RankProgram return_f(GpuQueue& queue, GpuState<N>& state) = 0;
    // Returns the number of pauses of exchange_x(), which is that of return_f(), too. It is the same on all ranks.
    virtual int pauses() const = 0;

    // --- optional capabilities, which the engine queries: a method has a capability if its class overrides the functions of it

    // Returns true if the queued exchange may be captured and replayed. It may not if the host takes part in the exchange.
    virtual bool may_be_captured() const { return true; }

    // Returns true if the update exchanges the halo: the kernel that moves all home atoms then runs
    // update_task(), which replaces exchange_x(). If the task adds forces, send_f_to_update() and that
    // kernel replace return_f(). Queue await_update() after the kernel has been queued on all ranks.
    virtual bool update_exchanges() const { return false; }
    virtual void send_f_to_update(GpuQueue&, GpuState<N>&, GpuEvent* /*begun*/) {}
    virtual CopyTask<N> update_task(bool /*adds_forces*/, bool /*sends_positions*/) const { return {}; }
    virtual void await_update(GpuQueue&, GpuState<N>&) {}

    // Returns true if the update kernel may begin while this rank's forces are still being sent. `begun` of
    // send_f_to_update() is then not null. A kernel queued behind `begun` may wait for other ranks' forces, because the
    // blocks that send this rank's forces have then started, or have places on the GPU (device/gpu/launch_begun.cuh).
    virtual bool update_may_begin_early() const { return false; }
};

enum class Carrier : std::uint8_t // says how messages are carried
{
    Kernels, // kernels store messages into the receiver's memory and signal
    Copies   // messages are copied from where a kernel has packed them
};

struct PackedMark; // halo/gpu/fetched.cuh

// Data that the halos of all ranks share: which rank sends to which, and the memory and channels for it.
struct GpuHaloMemory
{
    struct Message // one message of a rank
    {
        int first_zone, end_zone;                       // zones that the message brings
        int source, destination;                        // rank that sends its message to this rank; rank to which this rank sends
        GpuChannel wanted;                              // carries the numbers of the wanted atoms to the source
        GpuChannel x;                                   // leads to the destination; not opened if messages are copied
        GpuChannel f;                                   // leads to the source; not opened if messages are copied
        std::shared_ptr<PackedMark> x_packed, f_packed; // marks of packed messages; used if messages are copied
    };
    GpuWorld* world = nullptr;
    HaloMethod method = HaloMethod::Direct;
    Carrier carrier = Carrier::Kernels;
    bool shares_gpus = false;
    std::vector<GpuCell> cells;                 // cells of the ranks
    std::size_t capacity = 0;                   // maximum number of slots of a message
    std::vector<Window> windows;                // window of each message
    std::vector<std::vector<Message>> messages; // [message][rank]
    bool in_update = true;                      // the update may exchange halos if the method supports it
};

// Returns the number of messages of a rank.
template <class N>
std::size_t gpu_halo_messages(HaloMethod method, const GpuCell& cell);
// Returns the bytes of symmetric memory that make_gpu_halo_memory() takes on every rank. capacity: the maximum slots of a rank.
template <class N>
std::size_t gpu_halo_bytes(HaloMethod method, const GpuCell& cell, std::size_t capacity);
// cells: of the first ranks of the world. shares_gpus: some ranks share a GPU and its queues, so that no kernel may
// wait for work queued after it. Throws CommError if memory or signals are used up.
template <class N>
GpuHaloMemory make_gpu_halo_memory(GpuWorld& world, HaloMethod method, std::span<const GpuCell> cells, std::size_t capacity,
                                   bool shares_gpus);
// Makes the halo of `rank`, which has a cell.
template <class N>
std::unique_ptr<GpuHalo<N>> make_gpu_halo(GpuQueue& queue, const GpuHaloMemory& memory, int rank);

} // namespace parhelion
