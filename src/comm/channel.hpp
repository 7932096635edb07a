// SPDX-License-Identifier: Apache-2.0
// The two ends of a directed channel as the host uses them: the protocol of comm/protocol.hpp, with waits that throw and slots
// that can be moved. Ends come from Communicator::open_send and open_receive; each belongs to one rank and does not outlive its
// World, which keeps the memory of the slots. Both ends are matched by source, destination and label, which is any text of the
// caller's; failures are told by it.
//
//   source        std::byte* slot = send.begin(bytes); pack into slot; send.publish(bytes);
//   destination   const Message m = receive.wait(); read m.data; receive.ack();
//
// Threads: begin, publish, wait and ack are for one thread at a time. Any number may pack or read the slot between them; packing
// threads meet at an ArrivalCounter, whose last arriver publishes.
#pragma once

#include "comm/endpoint.hpp"
#include "comm/transport.hpp"

namespace parhelion {

class World;

// The payload slots of a channel: `depth` of them in the destination's arena, round_up_window(capacity) apart.
struct Placement
{
    std::size_t offset = 0;
    std::size_t capacity = 0; // bytes of a slot
};

using HostSender = Sender<HostAtomics, Transport>;
using HostReceiver = Receiver<HostAtomics, Transport>;

class SendChannel
{
public:
    SendChannel() = default; // to be assigned to
    SendChannel(World& world, const HostSender& core, std::size_t capacity);
    SendChannel(SendChannel&&) = default;
    SendChannel& operator=(SendChannel&&) = default;

    int peer() const { return core_.route().destination; }
    std::size_t capacity() const { return capacity_; }
    Word next_epoch() const { return core_.next_epoch(); }
    const HostSender& core() const { return core_; }

    // Would begin() return without waiting?
    bool is_ready();
    // Where to pack the next message of up to `bytes` <= capacity, once the destination has opened its end and the slot may be
    // written. Throws CommError, PeerAborted.
    std::byte* begin(std::size_t bytes);
    // Sends the packed message, 0 <= bytes <= those of begin(). Needs begin() before it, also for an empty message.
    void publish(std::size_t bytes);
    // Other slots from the next message on: those the destination has placed. Every earlier message has been received.
    void bind(Placement placement);

    // Of a wait in vain.
    FailureRecord record(const Watch& watch) const;

private:
    bool connect(); // true once the destination has opened its end
    void wait_connected();
    void place(Placement placement);

    World* world_ = nullptr;
    HostSender core_;
    bool is_connected_ = false;
    std::size_t capacity_ = 0;
    std::size_t begun_ = not_begun;
    Window staging_; // here, if the transport does not reach the peer's payload
    static constexpr std::size_t not_begun = ~std::size_t{0};
};

// A message in its slot. The destination may write to it as well, until it acknowledges.
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

    // Has the next message arrived? Then wait() returns at once.
    bool has_arrived() const;
    // The next message. Throws CommError if it does not come before the deadline, PeerAborted if another rank has stopped the
    // run.
    Message wait();
    // Done with the oldest message not yet acknowledged. On a channel with credits its slot may then be written again.
    void ack();

    // Slots of at least `capacity` bytes in this rank's arena, new ones if the present ones are too small: with room to spare, so
    // that sizes that fluctuate settle. The source must learn the result and bind to it before its next message. All messages
    // have been acknowledged.
    Placement reserve(std::size_t capacity);
    // Slots within memory that the caller has allocated. All messages have been acknowledged.
    void bind(Placement placement);

private:
    bool connect(); // true once the source has opened its end
    void wait_connected();

    World* world_ = nullptr;
    HostReceiver core_;
    bool is_connected_ = false;
    Placement placement_;
    Window slots_; // allocated by this channel; empty if bound to the caller's
};

} // namespace parhelion
