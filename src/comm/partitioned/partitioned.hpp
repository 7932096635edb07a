// SPDX-License-Identifier: Apache-2.0
// Partitioned messages: one buffer from rank to rank, epoch after epoch, in partitions. Threads of the source mark partitions
// ready one by one, and threads of the destination may read them one by one. The semantics are those of MPI_Psend_init and
// related calls of MPI-4. Source and destination may cut the buffer into different numbers of partitions.
//
//   source        SendRequest send = partitioned.psend_init(buffer, {8, bytes}, {.peer = 1});
//                 send.start(); ... fill partition i; send.pready(i); ... send.wait();
//   destination   ReceiveRequest receive = partitioned.precv_init(buffer, {4, 2 * bytes}, {.peer = 0});
//                 receive.start(); ... if (receive.parrived(j)) { read partition j } ... receive.wait();
//
// Matching.  Requests match by source, destination, tag and group: the nth psend_init of these with the nth precv_init. They
//            stay matched for as long as they live, in whatever order they are started.
// Memory.    Buffers may be anywhere. The source stores straight into a destination's buffer in symmetric memory, which
//            Partitioned::allocate() gives. Into other buffers parrived(), test() or wait() copy the data once.
// Threads.   Any thread may call pready and parrived between start() and wait(). All other calls are for one thread of the
//            rank at a time, which may be another one each time.
// Progress.  A partition leaves at once if the destination has started the epoch; pbuf_prepare() waits for that. Otherwise it
//            leaves during a later test, wait, pbuf_prepare or parrived of any request: each moves all requests of the rank on.
// Waits are bounded: they throw CommError if the deadline passes, PeerAborted if another rank has stopped the run. Calls that
// break the rules throw PartitionedError and change nothing.
#pragma once

#include "base/error.hpp"
#include "comm/world/communicator.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

namespace parhelion {

enum class Misuse : std::uint8_t
{
    Null,                // the request was never made, or has been freed, or a pointer is null
    NotActive,           // pready was called before start() or after wait()
    Active,              // start() or free() was called before the epoch was waited for
    PartitionOutOfRange, //
    ReadyTwice,          // pready of a partition for the second time in one epoch
    BadArgument,         // there are no partitions, or a rank does not exist
    NotSymmetric,        // the receive buffer is in symmetric memory but not in one allocation; on GPUs: outside symmetric memory
    BytesDiffer,         // the two sides have buffers of different sizes
    PeerFreed,           // the other side has freed its request
    NotMatched,          // on GPUs: start() was called before the other side has made its request
    InUse                // release() was called for memory that a request uses
};

class PartitionedError : public ContractError
{
public:
    PartitionedError(Misuse misuse, const std::string& message) : ContractError(message), misuse_(misuse) {}
    Misuse misuse() const { return misuse_; }

private:
    Misuse misuse_;
};

// The peer, tag and group by which requests match. Requests of different groups never match; any text may name a group.
struct Envelope
{
    int peer; // the rank of the other side; a rank may send to itself
    int tag = 0;
    std::string group{};
};

// The number and size of a buffer's partitions, which are equal.
struct Partitioning
{
    int partitions;    // number of partitions, from 1 to most_partitions
    std::size_t bytes; // bytes of each partition; may be 0
};
inline constexpr int most_partitions = 1 << 20;
// An upper bound of the bytes of all partitions and, in a collective, of all members. No memory has more.
inline constexpr std::size_t most_bytes = std::size_t{1} << 56;
// Returns `partitions` * `count` * `bytes` * `blocks` (the number of ranks), or nothing if that is more than most_bytes.
std::optional<std::size_t> product_of(int partitions, std::size_t count, std::size_t bytes, std::size_t blocks = 1);

struct SendOptions
{
    int per_signal = 1;   // number of send partitions that leave together, when all of them are ready
    Word first_epoch = 1; // number of the first epoch, for tests of counters that wrap around
};

class Partitioned;
class PartitionedEngine; // defined in comm/partitioned/engine.hpp; the next three in comm/partitioned/requests.hpp
class RequestState;
class SendState;
class ReceiveState;

// The common part of all kinds of requests. Destroying a request frees it, whether or not it is active.
class PartitionedRequest
{
public:
    bool is_null() const { return state_ == nullptr; }
    // Begins the next epoch and returns at once. From now on the source may write the destination's buffer.
    void start();
    // At the source: returns when the destination has started the epoch. At the destination: when the source can see that start.
    void pbuf_prepare();
    // Waits for the end of the epoch, when all partitions have left or all have arrived. After that the send buffer may be
    // written, and the receive buffer may be read. Returns at once if the request is null or inactive.
    void wait();
    // Returns false if wait() would have to wait. Otherwise does what wait() does and returns true.
    bool test();
    bool is_active() const;
    // Frees an inactive request, or any request once the world has failed. The request is null afterwards.
    void free();

protected:
    PartitionedRequest();
    explicit PartitionedRequest(std::unique_ptr<RequestState> state);
    PartitionedRequest(PartitionedRequest&&) noexcept;
    PartitionedRequest& operator=(PartitionedRequest&&) noexcept;
    ~PartitionedRequest();

    RequestState& state() const; // throws PartitionedError (Misuse::Null)
    void end() noexcept;

    std::unique_ptr<RequestState> state_;
};

class SendRequest : public PartitionedRequest
{
public:
    SendRequest() = default;
    // Marks partitions ready, each exactly once an epoch. If one partition of a list or range is illegal, none of them is marked.
    void pready(int partition);
    void pready_range(int first, int last); // marks first, last and all between
    void pready_list(std::span<const int> partitions);
    void pready_list(std::initializer_list<int> partitions) { pready_list({partitions.begin(), partitions.size()}); }

private:
    friend class Partitioned;
    explicit SendRequest(std::unique_ptr<SendState> state);
    SendState& send() const;
};

class ReceiveRequest : public PartitionedRequest
{
public:
    ReceiveRequest() = default;
    // Returns whether this partition may be read, until the next start(). True if the request is null or inactive.
    bool parrived(int partition) const;

private:
    friend class Partitioned;
    explicit ReceiveRequest(std::unique_ptr<ReceiveState> state);
};

// The partitioned messages of one rank. Each rank has one such object, which outlives its requests, but not the world.
class Partitioned
{
public:
    explicit Partitioned(Communicator& communicator);
    ~Partitioned();
    Partitioned(const Partitioned&) = delete;
    Partitioned& operator=(const Partitioned&) = delete;

    // Allocates memory in this rank's symmetric memory, aligned to window_alignment. Throws MemoryFull.
    std::span<std::byte> allocate(std::size_t bytes);
    // Takes back memory that allocate() has returned, as a whole and once. No request may use the memory any more.
    void release(std::span<std::byte> memory);

    // Make one side of a message. They return at once, whether or not the peer has made its side.
    SendRequest psend_init(const std::byte* buffer, Partitioning partitioning, const Envelope& envelope,
                           const SendOptions& options = {});
    ReceiveRequest precv_init(std::byte* buffer, Partitioning partitioning, const Envelope& envelope);

    // Does the work that a wait does while it waits: sends partitions that are marked ready, and exchanges letters between
    // requests. Any thread may call it. It does nothing while the rank is in another call.
    void progress();
    // Takes the memory that collectives of one call need (CollectiveCalls::memory_of()), which nothing else can take then. Else
    // the first call with another rank does. Throws MemoryFull.
    void reserve_for_calls();
    // Declares that the rank's program has ended. Requests destroyed from now on do not tell their partners that they are
    // freed. Other ranks that wait for this rank learn that it has ended, or why it has stopped.
    void leave();

private:
    friend class CollectiveMaker; // defined in comm/partitioned/collectives.cpp
    friend class CollectiveCalls;
    std::unique_ptr<PartitionedEngine> engine_;
};

} // namespace parhelion
