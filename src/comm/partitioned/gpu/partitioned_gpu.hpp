// SPDX-License-Identifier: Apache-2.0
// Partitioned messages between kernels, as comm/partitioned/partitioned.hpp between threads: a kernel of the source's marks
// partitions ready one by one, and a kernel of the destination's may read them one by one.
//
// The idea: what a kernel needs of a request is one small object in its GPU's memory, a prequest. There are two mechanisms, which
// differ in nothing that a caller sees. Kernel copy: pready copies the partition through the peer's pointer by the threads that
// call it, the last of a group of partitions sets the signal, and no host takes part. Progression engine: the last of a group
// leaves a descriptor for the GPU's proxy (comm/gpu/proxy.hpp), which has the copy engine bring the group's bytes and then sets
// the signal; the destination's credit goes the same way. Starts, waits and all counts are in prequests, too, so that captured
// work can be replayed. The device functions are in comm/partitioned/gpu/partitioned.cuh; what is queued instead, from the host,
// is here.
//
// Ranks may be spread over processes (comm/gpu/world_gpu.hpp). Every process then makes and frees the requests of all ranks in
// the same order, and starts those of its own ranks alone. It gives a null buffer for a send of another process's rank. All
// processes have made a request before any of them starts it.
//
// Every wait is bounded and told by GpuWorld::check(). Ranks that share a GPU share a queue, and in it the destination's start
// comes before the source's pready, and that before the destination's wait.
#pragma once

#include "comm/gpu/proxy.hpp"
#include "comm/gpu/world_gpu.hpp"
#include "comm/partitioned/partitioned.hpp"
#include "comm/partitioned/protocol.hpp"

#include <memory>

namespace parhelion {

enum class Mechanism : std::uint8_t
{
    KernelCopy,       // the fastest start; takes the time of the threads that mark, and a pointer to the destination
    ProgressionEngine // takes a host thread, and neither pointer nor threads for the copy
};

// The transport is called by the progression engine alone.
using GpuPartitionedSender = PartitionedSender<CudaAtomics, GpuProxyTransport>;
using GpuPartitionedReceiver = PartitionedReceiver<CudaAtomics, GpuProxyTransport>;

inline constexpr int no_partition = -1; // of a lane that has none to mark

// The first call of kernels that broke the rules; of such calls nothing else remains, they do nothing.
struct DeviceMisuse
{
    Word code = 0;      // 1 + the Misuse, or 0: none
    Word partition = 0; // as it was given
};

// What kernels know of a request; in the memory of its rank's GPU, written by kernels alone.
struct SendPrequest
{
    GpuPartitionedSender core;
    const std::byte* buffer; // null: what is marked is in its place, where kernels have stored it or the proxy takes it from
    Word* read;              // for each signal the epoch up to which the proxy has read the data; null: no proxy reads
    const Watch* watch;
    int channel;      // for the failure record
    Word started = 0; // epochs
    Word ended = 0;
    DeviceMisuse misuse{};
};
struct ReceivePrequest
{
    GpuPartitionedReceiver core;
    const Watch* watch;
    int channel;
    Word started = 0;
    Word ended = 0;
    DeviceMisuse misuse{};
};

class GpuPartitioned;

class GpuSendRequest
{
public:
    // For kernels, once the destination has made its request as well; null before, and in other processes than the rank's.
    SendPrequest* prequest() const;
    // Queued, on a queue of the rank's GPU. What the host's calls of these names do at once (comm/partitioned/partitioned.hpp).
    void start(GpuQueue& queue);
    void pbuf_prepare(GpuQueue& queue);
    void pready_all(GpuQueue& queue); // of what kernels queued before have written
    void wait(GpuQueue& queue);
    void restart(GpuQueue& queue); // wait, if the request is active, and start in one launch
    // Throws PartitionedError if a kernel has broken a rule. Waits for what is queued.
    void check(GpuQueue& queue) const;

private:
    friend class GpuPartitioned;
    struct Of;
    explicit GpuSendRequest(std::shared_ptr<Of> of) : of_(std::move(of)) {}
    std::shared_ptr<Of> of_;
};

class GpuReceiveRequest
{
public:
    ReceivePrequest* prequest() const;
    std::byte* buffer() const;
    void start(GpuQueue& queue);
    void wait(GpuQueue& queue);
    // Both in one launch, which waits: on a queue of its own, where the rank shares its GPU with the source.
    void receive(GpuQueue& queue);
    void check(GpuQueue& queue) const;

private:
    friend class GpuPartitioned;
    struct Of;
    explicit GpuReceiveRequest(std::shared_ptr<Of> of) : of_(std::move(of)) {}
    std::shared_ptr<Of> of_;
};

// The partitioned messages of a world's GPUs, for the host thread that sets them up. Requests are its own until they are freed.
class GpuPartitioned
{
public:
    explicit GpuPartitioned(GpuWorld& world);
    ~GpuPartitioned();
    GpuPartitioned(const GpuPartitioned&) = delete;
    GpuPartitioned& operator=(const GpuPartitioned&) = delete;

    // Of a rank. buffer: memory of its GPU, or null where kernels store into the destination's buffer themselves. The nth
    // psend_init of a source, destination, tag and group matches the nth precv_init. Throw PartitionedError, CommError.
    // With the progression engine the place of such a buffer is at the source.
    GpuSendRequest psend_init(int rank, const std::byte* buffer, Partitioning partitioning, const Envelope& envelope,
                              const SendOptions& options = {}, Mechanism mechanism = Mechanism::KernelCopy);
    // buffer: in the rank's symmetric memory.
    GpuReceiveRequest precv_init(int rank, Window buffer, Partitioning partitioning, const Envelope& envelope);
    // Of a matched request that is inactive, and that nothing queued uses. Its slots are for others once both sides are freed;
    // the other side cannot start any more.
    void free(GpuSendRequest request);
    void free(GpuReceiveRequest request);

private:
    struct Requests;
    template <class Of>
    void free(const std::shared_ptr<Of>& of);
    GpuWorld& world_;
    std::unique_ptr<Requests> requests_;
};

} // namespace parhelion
