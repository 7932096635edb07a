// SPDX-License-Identifier: Apache-2.0
// Partitioned collectives between kernels, as comm/partitioned/collectives.hpp has them between threads. A kernel marks input
// partitions ready one by one; blocks send, combine and receive the partitions, without a host. Both use the same schedules.
//
// The idea: one block does all the work of a partition, from its mark to its result. Either the block that has made the
// partition continues with it (block_all in comm/partitioned/gpu/collectives_gpu.cuh), or run() queues blocks that wait for the
// marks of other kernels. An arriving chunk is combined with this member's input and stored for the next member in one pass,
// without further launches.
//
// Members may be spread over processes (comm/gpu/world_gpu.hpp). Every process then makes and frees the requests of all members
// in the same order, but starts only those of its own members. It gives null buffers for members of other processes.
//
// Epochs are counted in device memory, so that captured work can be replayed. Every wait is bounded; GpuWorld::check() reports
// failed waits. Blocks that wait for each other must run at the same time. So run() requires one GPU per rank. Ranks that share
// a GPU cannot use run(); their blocks must belong to one kernel launch.
//
// A one-shot all-reduce of less than half a megabyte uses packets instead (packets.cuh), which need no signals.
//
// Cost: a partition moves at the speed of one block, some 10 GB/s to a peer, so that large buffers need many partitions.
#pragma once

#include "comm/gpu/world_gpu.hpp"
#include "comm/partitioned/collectives.hpp"
#include "comm/partitioned/gpu/partitioned_gpu.hpp"

#include <memory>
#include <span>
#include <vector>

namespace parhelion {

struct Packet; // defined in device/gpu/instructions.cuh

// The addresses to which a member stores packets (comm/partitioned/gpu/packets.cuh). The arrays are indexed by member's place.
struct PacketRoutes
{
    Packet* const* slots = nullptr; // slots in each member's memory; null if the collective uses no packets
    const int* ranks = nullptr;
};

// The data of a member's collective that kernels use, in its GPU's memory. Arrays go by partition, or by partition and place.
struct CollectivePrequest
{
    int members, place, partitions, n_steps;
    bool takes_input;
    const Step* steps; // steps, terms and outs are those of Schedule
    const int* terms;
    const int* outs;
    Layouts layouts;
    const std::byte* input;
    std::byte* result;
    GpuSender* senders;
    GpuReceiver* receivers;
    Word* ready; // number of times that each partition has been marked, in all epochs
    Word* done;  // last epoch for which each partition's result is complete
    PacketRoutes packets;
    const Watch* watch;
    int channel;      // number of this collective in failure records
    Word started = 0; // number of epochs started
    Word ended = 0;
    DeviceMisuse misuse{};
};

// The buffers of one member, in the memory of its GPU.
struct GpuCollectiveBuffers
{
    const void* input;
    void* result;
};

class GpuCollectiveRequest
{
public:
    // Returns the object for kernels. prequest() and the calls below throw PartitionedError in processes without the member.
    CollectivePrequest* prequest() const;
    // The calls below queue work on a queue of the rank's GPU. The input is what kernels queued before have written.
    void start(GpuQueue& queue);
    void pready_all(GpuQueue& queue);
    // Queues blocks that wait for marks and execute the schedule. Kernels on other queues may mark partitions.
    void run(GpuQueue& queue);
    void wait(GpuQueue& queue);
    // Does start, pready_all, run and wait in one launch. Kernels queued before must have written all of the input.
    void execute(GpuQueue& queue);
    // Waits for the queued work. Throws PartitionedError if a kernel has broken a rule.
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

// Makes and returns the requests of all members, in the order of the members and of `buffers`. root: the place of a broadcast's
// root among the members. Throws PartitionedError, CommError.
std::vector<GpuCollectiveRequest> make_collective(GpuWorld& world, Collective collective, const Elements& elements,
                                                  Reduction reduction, std::span<const GpuCollectiveBuffers> buffers,
                                                  int root = 0, const CollectiveOptions& options = {});
// Frees the requests that one call of make_collective() has made. All of them must be inactive, and no queued work may use
// them. Other requests may then use their slots. Throws PartitionedError and changes nothing if one is active.
void free_collective(GpuWorld& world, std::vector<GpuCollectiveRequest> requests);

} // namespace parhelion
