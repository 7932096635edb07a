// SPDX-License-Identifier: Apache-2.0
// Partitioned collectives between kernels, as comm/partitioned/collectives.hpp between threads: a kernel marks input partitions
// ready one by one, and blocks send, combine and receive them, whole collectives without a host. They execute the same schedules.
//
// The idea: a partition is the work of one block, from its mark to its result. Either the block that has made the partition goes
// on with it (block_all in comm/partitioned/gpu/collectives_gpu.cuh), or run() queues blocks that wait for marks of other
// kernels. What arrives is combined with the own input and stored for the next member in one pass: nothing else is launched in
// between.
//
// Members may be spread over processes (comm/gpu/world_gpu.hpp). Every process then makes and frees the requests of all members
// in the same order, and starts those of its own members alone. It gives null buffers for members of other processes.
//
// All counts are in device memory, so that captured work can be replayed. Every wait is bounded and told by GpuWorld::check().
// Blocks that wait for peers must run at the same time on all GPUs: run() is for ranks with a GPU each; where ranks share one,
// blocks of one grid can be the ranks.
//
// A one-shot all-reduce of less than half a megabyte goes by packets instead, which need no signals.
//
// Cost: a partition goes at the speed of one block, some 10 GB/s to a peer, so that large buffers want many partitions.
#pragma once

#include "comm/gpu/world_gpu.hpp"
#include "comm/partitioned/collectives.hpp"
#include "comm/partitioned/gpu/partitioned_gpu.hpp"

#include <memory>
#include <span>
#include <vector>

namespace parhelion {

struct Packet; // device/gpu/instructions.cuh

// Where packets go (comm/partitioned/gpu/packets.cuh); by place.
struct PacketRoutes
{
    Packet* const* slots = nullptr; // in the memory of that member; null: this collective has none
    const int* ranks = nullptr;
};

// What kernels know of a member's collective; in the memory of its GPU. Arrays by partition, or by partition and place.
struct CollectivePrequest
{
    int members, place, partitions, n_steps;
    bool takes_input;
    const Step* steps; // and so on: as in Schedule
    const int* terms;
    const int* outs;
    Layouts layouts;
    const std::byte* input;
    std::byte* result;
    GpuSender* senders;
    GpuReceiver* receivers;
    Word* ready; // marks of all epochs
    Word* done;  // epochs whose result is there
    PacketRoutes packets;
    const Watch* watch;
    int channel;      // for the failure record
    Word started = 0; // epochs
    Word ended = 0;
    DeviceMisuse misuse{};
};

// Of one member, in the memory of its GPU.
struct GpuCollectiveBuffers
{
    const void* input;
    void* result;
};

class GpuCollectiveRequest
{
public:
    // For kernels. This and all calls below throw PartitionedError in other processes than the member's.
    CollectivePrequest* prequest() const;
    // Queued, on a queue of the rank's GPU. What kernels queued before have written is the input.
    void start(GpuQueue& queue);
    void pready_all(GpuQueue& queue);
    // Blocks that wait for marks and execute the schedule; marks may come from kernels on other queues.
    void run(GpuQueue& queue);
    void wait(GpuQueue& queue);
    // All four in one launch, where all input comes from kernels queued before.
    void execute(GpuQueue& queue);
    // Throws PartitionedError if a kernel has broken a rule. Waits for what is queued.
    void check(GpuQueue& queue) const;

private:
    friend std::vector<GpuCollectiveRequest> make_collective(GpuWorld&, Collective, const Elements&, Reduction,
                                                             std::span<const GpuCollectiveBuffers>, int,
                                                             const CollectiveOptions&);
    friend void free_collective(GpuWorld&, std::vector<GpuCollectiveRequest>);
    struct Of;
    explicit GpuCollectiveRequest(std::shared_ptr<Of> of) : of_(std::move(of)) {}
    std::shared_ptr<Of> of_;
};

// The requests of all members, in their order, as the buffers are. root: a broadcast's, a place among the members. Throws
// PartitionedError, CommError.
std::vector<GpuCollectiveRequest> make_collective(GpuWorld& world, Collective collective, const Elements& elements,
                                                  Reduction reduction, std::span<const GpuCollectiveBuffers> buffers,
                                                  int root = 0, const CollectiveOptions& options = {});
// As make_collective has made them, all inactive, and nothing queued uses them. Their slots are for others then. Throws
// PartitionedError and changes nothing if one is active.
void free_collective(GpuWorld& world, std::vector<GpuCollectiveRequest> requests);

} // namespace parhelion
