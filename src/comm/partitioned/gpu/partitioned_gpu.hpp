// SPDX-License-Identifier: Apache-2.0
// Partitioned messages between kernels, as comm/partitioned/partitioned.hpp has them between threads. A kernel of the source
// marks partitions ready one by one, and a kernel of the destination may read them one by one.
//
// The idea: a prequest, one small object in a GPU's memory, holds all that a kernel needs of a request. There are two
// mechanisms, which look alike to callers. With kernel copy the threads that call pready copy the partition through the peer's
// pointer. The last of a group of partitions sets the signal, and no host takes part. With the progression engine the last of
// a group leaves a descriptor for the GPU's proxy (comm/gpu/proxy.hpp). The proxy has the copy engine copy the group's bytes,
// then sets the signal; the credit goes the same way. Starts, waits and all counts are in prequests, too, so that captured
// work can be replayed. Device functions are in comm/partitioned/gpu/partitioned.cuh; the calls here queue the same from the
// host.
//
// Ranks may be spread over processes (comm/gpu/world_gpu.hpp). Every process then makes and frees the requests of all ranks in
// the same order, but starts only those of its own ranks. It gives a null buffer for a send of another process's rank. All
// processes must have made a request before any of them starts it.
//
// Every wait is bounded; GpuWorld::check() reports failed waits. Ranks that share a GPU share a queue. In this queue the
// destination's start comes before the source's pready, and the pready comes before the destination's wait.
#pragma once

#include "comm/gpu/proxy.hpp"
#include "comm/gpu/world_gpu.hpp"
#include "comm/partitioned/partitioned.hpp"
#include "comm/partitioned/protocol.hpp"

#include <memory>

namespace parhelion {

enum class Mechanism : std::uint8_t
{
    KernelCopy,       // starts fastest; takes time of the threads that mark, and needs a pointer to the destination
    ProgressionEngine // needs a host thread, but neither a pointer nor threads for the copy
};

// Only the progression engine calls the transport.
using GpuPartitionedSender = PartitionedSender<CudaAtomics, GpuProxyTransport>;
using GpuPartitionedReceiver = PartitionedReceiver<CudaAtomics, GpuProxyTransport>;

inline constexpr int no_partition = -1; // the partition of a lane that has none to mark

// The record of the first kernel call that broke a rule. Calls that break a rule do nothing; later ones are not recorded.
struct DeviceMisuse
{
    Word claimed = 0;   // 1 once a call has begun to write the record
    Word code = 0;      // 1 + the number of the Misuse; 0: no rule was broken
    Word partition = 0; // number of the partition, as the caller gave it
};

// The data of a request that kernels use. It is in the memory of the rank's GPU; only kernels write it.
struct SendPrequest
{
    GpuPartitionedSender core;
    const std::byte* buffer; // null: partitions are in place, stored by kernels at the destination or where the proxy reads
    Word* read;              // per signal: last epoch whose data the proxy has read; null: no proxy
    const Watch* watch;
    int channel;      // number of the message in failure records
    Word started = 0; // number of epochs started
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
    // Returns the object for kernels. Null before the destination has made its request, and in processes without the rank.
    SendPrequest* prequest() const;
    // These calls queue work on a queue of the rank's GPU. They do what the host's calls of these names in partitioned.hpp do.
    void start(GpuQueue& queue);
    void pbuf_prepare(GpuQueue& queue);
    void pready_all(GpuQueue& queue); // sends what kernels queued before have written
    void wait(GpuQueue& queue);
    void restart(GpuQueue& queue); // does wait(), if the request is active, and start() in one launch
    // Waits for the queued work. Throws PartitionedError if a kernel has broken a rule.
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
    // Does start() and wait() in one launch, which blocks the queue. A rank that shares the source's GPU needs a second queue.
    void receive(GpuQueue& queue);
    void check(GpuQueue& queue) const;

private:
    friend class GpuPartitioned;
    struct Of;
    explicit GpuReceiveRequest(std::shared_ptr<Of> of) : of_(std::move(of)) {}
    std::shared_ptr<Of> of_;
};

// Makes and frees the requests of partitioned messages between GPUs of a world. An object of this class owns unfreed requests.
class GpuPartitioned
{
public:
    explicit GpuPartitioned(GpuWorld& world);
    ~GpuPartitioned();
    GpuPartitioned(const GpuPartitioned&) = delete;
    GpuPartitioned& operator=(const GpuPartitioned&) = delete;

    // Makes the send request of a rank. buffer: memory of its GPU, or null if kernels store into the destination's buffer, or
    // with the progression engine into memory at the source. The nth psend_init of a source, destination, tag and group matches
    // the nth precv_init. psend_init() and precv_init() throw PartitionedError, CommError.
    GpuSendRequest psend_init(int rank, const std::byte* buffer, Partitioning partitioning, const Envelope& envelope,
                              const SendOptions& options = {}, Mechanism mechanism = Mechanism::KernelCopy);
    // Makes the receive request of a rank. buffer: a part of the rank's symmetric memory.
    GpuReceiveRequest precv_init(int rank, Window buffer, Partitioning partitioning, const Envelope& envelope);
    // Frees a matched request that is inactive and that no queued work uses. The request on the other side cannot be started
    // any more. Once both sides are freed, other requests may use their slots.
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
