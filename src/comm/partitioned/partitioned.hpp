// SPDX-License-Identifier: Apache-2.0
// Partitioned messages: one buffer from rank to rank, epoch after epoch, in pieces that the source's threads mark ready one by
// one and the destination's threads may read one by one. The semantics are MPI-4's of MPI_Psend_init and its kin; the sides may
// cut the buffer into different numbers of partitions.
//
//   source        SendRequest send = partitioned.psend_init(buffer, {8, bytes}, {.peer = 1});
//                 send.start(); ... fill partition i; send.pready(i); ... send.wait();
//   destination   ReceiveRequest receive = partitioned.precv_init(buffer, {4, 2 * bytes}, {.peer = 0});
//                 receive.start(); ... if (receive.parrived(j)) { read partition j } ... receive.wait();
//
// Matching.  Requests match by source, destination, tag and group: the nth psend_init of these with the nth precv_init, whatever
//            the order in which they are started, for as long as they live.
// Memory.    The destination's buffer is in its symmetric memory (Partitioned::allocate()), the source's is anywhere.
// Threads.   pready and parrived are for any thread between start() and wait(). All else is for the rank's own thread.
// Progress.  A partition leaves at once if the destination has started the epoch; pbuf_prepare() waits for that. Otherwise it
//            leaves during a later test, wait, pbuf_prepare or parrived of any request of this rank: each takes care of all.
//            A partitioned object belongs to the thread that has made it: the rank's own.
// Waits are bounded: CommError if the deadline passes, PeerAborted if another rank has stopped the run. Calls that break the
// rules throw PartitionedError and change nothing.
#pragma once

#include "base/error.hpp"
#include "comm/communicator.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

namespace parhelion {

enum class Misuse : std::uint8_t
{
    Null,                // the request was never made, or has been freed; or a pointer is null
    NotActive,           // pready outside start() ... wait()
    Active,              // start() or free() of a request that has not been waited for
    PartitionOutOfRange, //
    ReadyTwice,          // pready of a partition for the second time in one epoch
    BadArgument,         // no partitions, a rank that does not exist
    NotSymmetric,        // the destination's buffer is not in its symmetric memory
    BytesDiffer,         // the two sides have buffers of different sizes
    PeerFreed,           // the other side has freed its request
    NotMatched,          // on GPUs: start() before the other side has made its request
    InUse                // release() of memory that a request uses
};

class PartitionedError : public ContractError
{
public:
    PartitionedError(Misuse misuse, const std::string& message) : ContractError(message), misuse_(misuse) {}
    Misuse misuse() const { return misuse_; }

private:
    Misuse misuse_;
};

// Who a request is for. Requests of different groups never match; a group is named by any text.
struct Envelope
{
    int peer; // of the other side; a rank may send to itself
    int tag = 0;
    std::string group{};
};

// Equal shares of a buffer.
struct Partitioning
{
    int partitions;    // 1 to most_partitions
    std::size_t bytes; // of each, also 0
};
inline constexpr int most_partitions = 1 << 20;
// Of all partitions and, of a collective, of all members: no memory has more.
inline constexpr std::size_t most_bytes = std::size_t{1} << 56;
// `partitions` times `count` times `bytes`, for `blocks` ranks; nothing if that is more than most_bytes.
std::optional<std::size_t> product_of(int partitions, std::size_t count, std::size_t bytes, std::size_t blocks = 1);

struct SendOptions
{
    int per_signal = 1;   // send partitions that travel together, when the last of them is ready
    Word first_epoch = 1; // for tests, of what comes when counters wrap
};

class Partitioned;
class PartitionedEngine; // comm/partitioned/engine.hpp; what follows: comm/partitioned/requests.hpp
class RequestState;
class SendState;
class ReceiveState;

// What both kinds of request have. A request that is destroyed is freed, active or not.
class PartitionedRequest
{
public:
    bool is_null() const { return state_ == nullptr; }
    // Begins the next epoch. Returns at once. The destination's buffer may be written from now on.
    void start();
    // Returns when the destination has started the epoch, or at the destination when the source can know.
    void pbuf_prepare();
    // The end of the epoch: all partitions have left, or all have arrived. The send buffer may then be written, the other read.
    // Nothing to wait for if the request is null or inactive.
    void wait();
    // As wait() if that would return at once: then true.
    bool test();
    bool is_active() const;
    void free(); // of an inactive request, which is null then

protected:
    PartitionedRequest();
    explicit PartitionedRequest(std::unique_ptr<RequestState> state);
    PartitionedRequest(PartitionedRequest&&) noexcept;
    PartitionedRequest& operator=(PartitionedRequest&&) noexcept;
    ~PartitionedRequest();

    RequestState& state() const; // throws Misuse::Null

    std::unique_ptr<RequestState> state_;
};

class SendRequest : public PartitionedRequest
{
public:
    SendRequest() = default;
    // Each partition exactly once an epoch. A list or range that has an illegal partition marks none.
    void pready(int partition);
    void pready_range(int first, int last); // both included
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
    // May this partition be read? Stays true until the next start(); true for a null or inactive request.
    bool parrived(int partition) const;

private:
    friend class Partitioned;
    explicit ReceiveRequest(std::unique_ptr<ReceiveState> state);
};

// The partitioned messages of one rank: one object a rank, which outlives its requests and not the world.
class Partitioned
{
public:
    explicit Partitioned(Communicator& communicator);
    ~Partitioned();
    Partitioned(const Partitioned&) = delete;
    Partitioned& operator=(const Partitioned&) = delete;

    // In this rank's symmetric memory, aligned to window_alignment. Throws MemoryFull.
    std::span<std::byte> allocate(std::size_t bytes);
    // What allocate() has returned, as a whole, once and when no request uses it any more.
    void release(std::span<std::byte> memory);

    // Both return at once, whether or not the peer has made its request.
    SendRequest psend_init(const std::byte* buffer, Partitioning partitioning, const Envelope& envelope,
                           const SendOptions& options = {});
    ReceiveRequest precv_init(std::byte* buffer, Partitioning partitioning, const Envelope& envelope);

    // The rank's program has ended. Requests that are destroyed from now on tell nobody that they have been freed: others that
    // wait for this rank hear that it has gone, or why it has stopped.
    void leave();

private:
    friend class CollectiveMaker; // comm/partitioned/collectives.cpp
    std::unique_ptr<PartitionedEngine> engine_;
};

} // namespace parhelion
