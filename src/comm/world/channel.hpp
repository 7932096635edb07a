// SPDX-License-Identifier: Apache-2.0
// The two ends of a directed channel for hosts: the protocol of comm/core/protocol.hpp, with waits that throw and slots that
// can be moved. Communicator::open_send and open_receive make the ends. Each end belongs to one rank and must not outlive its
// World, which owns the memory of the slots. A send end and a receive end match by source, destination and label. The label is
// any text that the caller chooses, and appears in texts of failures.
//
//   source        std::byte* slot = send.begin(bytes); pack into slot; send.publish(bytes);
//   destination   const Message m = receive.wait(); read m.data; receive.ack();
//
// Threads: only one thread at a time may call begin, publish, wait and ack. Between these calls any number of threads may pack
// or read the slot; threads that pack meet at an ArrivalCounter, and the last of them publishes.
#pragma once

#include "comm/core/endpoint.hpp"
#include "comm/core/transport.hpp"

namespace parhelion {

class World;

// The place of a channel's payload slots: `depth` slots in the destination's arena, one each round_up_window(capacity) bytes.
struct Placement
{
    std::size_t offset = 0;
    std::size_t capacity = 0; // bytes of each slot
};

using HostSender = Sender<HostAtomics, Transport>;
using HostReceiver = Receiver<HostAtomics, Transport>;

class SendChannel
{
public:
    SendChannel() = default; // an empty object; assign an open channel to it before use
    SendChannel(World& world, const HostSender& core, std::size_t capacity);
    SendChannel(SendChannel&&) = default;
    SendChannel& operator=(SendChannel&&) = default;

    int peer() const { return core_.route().destination; }
    std::size_t capacity() const { return capacity_; }
    Word next_epoch() const { return core_.next_epoch(); }
    const HostSender& core() const { return core_; }

    // Returns whether begin() would return without waiting.
    bool is_ready();
    // Waits until the destination has opened its end and the next slot may be written. Returns the address at which to pack the
    // next message of up to `bytes` <= capacity bytes. Throws CommError, PeerAborted.
    std::byte* begin(std::size_t bytes);
    // Sends the packed message; `bytes` is at most that of begin(). Each message needs a begin() before it, even an empty one.
    void publish(std::size_t bytes);
    // Uses other slots, which the destination has placed, from the next message on. All earlier messages must have been received.
    void bind(Placement placement);

    // Returns the failure record of a wait that reached its deadline.
    FailureRecord record(const Watch& watch) const;

private:
    bool connect(); // returns whether the destination has opened its end
    void wait_connected();
    void place(Placement placement);

    World* world_ = nullptr;
    HostSender core_;
    bool is_connected_ = false;
    std::size_t capacity_ = 0;
    std::size_t begun_ = not_begun;
    Window staging_; // memory of the source for packing, if the transport cannot address the peer's payload
    static constexpr std::size_t not_begun = ~std::size_t{0};
};

// A message in its slot. The destination may write to the slot, too, until it acknowledges the message.
struct Message
{
    std::byte* data = nullptr;
    std::size_t bytes = 0;
};

class ReceiveChannel
{
public:
    ReceiveChannel() = default;
    ReceiveChannel(World& world, const HostReceiver& core, Window slots, std::size_t capacity);
    ReceiveChannel(ReceiveChannel&&) = default;
    ReceiveChannel& operator=(ReceiveChannel&&) = default;

    int peer() const { return core_.route().source; }
    Word next_epoch() const { return core_.next_epoch(); }
    const HostReceiver& core() const { return core_; }

    // Returns whether the next message has arrived, so that wait() returns at once.
    bool has_arrived() const;
    // Waits for the next message and returns it. Throws CommError if the message does not come before the deadline, PeerAborted
    // if another rank has stopped the run.
    Message wait();
    // Acknowledges the oldest message that is not acknowledged yet. With credits the source may then write its slot again.
    void ack();

    // Returns slots of at least `capacity` bytes in this rank's arena. If the present slots are too small, it allocates larger
    // slots with a reserve, so that fluctuating sizes soon cause no more allocations. The source must be told the result and
    // bind to it before its next message. All messages must have been acknowledged.
    Placement reserve(std::size_t capacity);
    // Uses slots in memory that the caller has allocated. All messages must have been acknowledged.
    void bind(Placement placement);

private:
    bool connect(); // returns whether the source has opened its end
    void wait_connected();

    World* world_ = nullptr;
    HostReceiver core_;
    bool is_connected_ = false;
    Placement placement_;
    Window slots_; // slots that this channel has allocated; empty if it uses the caller's memory
};

} // namespace parhelion
