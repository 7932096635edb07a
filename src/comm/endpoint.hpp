// SPDX-License-Identifier: Apache-2.0
// The two ends of a channel before they know of each other, and the routes of comm/protocol.hpp. Routes are built here and
// nowhere else, for CPU and GPU alike.
//
// The idea: each rank makes its end in its own memory and tells the other end a few bytes about it. So either end may be made
// first, and no rank writes to memory whose layout it does not own.
#pragma once

#include "comm/protocol.hpp"
#include "comm/symmetric_memory.hpp"

#include <chrono>
#include <string>

namespace parhelion {

enum class Credits : std::uint8_t
{
    Yes, // a slot is written again only after the destination's ack
    No   // the pattern of messages implies as much; needs an argument and a model (docs/design/communication.md)
};

// The same at both ends.
struct ChannelOptions
{
    int depth = 2; // slots, >= 1
    Credits credits = Credits::Yes;
    std::size_t capacity = 0; // bytes of a slot; 0: no slots until both ends are bound to some
    Word first_epoch = 1;
    friend bool operator==(const ChannelOptions&, const ChannelOptions&) = default;
};

// A channel, as one of its ranks knows it: `number` for the failure record.
struct ChannelName
{
    int source;
    int destination;
    int number;
};

// What the destination must know of the source's end, and the source of the destination's. Plain data, which travels as bytes.
struct SendEnd
{
    ChannelOptions options;
    std::size_t credits; // index of the first credit slot, in the source's signal arena
};
struct ReceiveEnd
{
    ChannelOptions options;
    Window slots;        // payload slots, in the destination's arena
    std::size_t signals; // index of the first signal slot, there
};

// Throw CommError if the arenas are full. All slots show the epoch before the first: nothing has arrived, and everything before
// has been acknowledged.
SendEnd make_send_end(SymmetricMemory& memory, const ChannelName& name, const ChannelOptions& options);
ReceiveEnd make_receive_end(SymmetricMemory& memory, const ChannelName& name, const ChannelOptions& options);

// What an end knows by itself.
SendRoute send_route(const SymmetricMemory& memory, const ChannelName& name, const SendEnd& here);
ReceiveRoute receive_route(const SymmetricMemory& memory, const ChannelName& name, const ReceiveEnd& here);
// What it learns of the other end, and where it reaches that; null: the transport carries.
void connect(SendRoute& route, const ReceiveEnd& there, std::byte* payload, SignalSlot* signals);
void connect(ReceiveRoute& route, const SendEnd& there, SignalSlot* credits);

// What a wait that timed out says to people. tag_name: what the record's tag is of.
std::string failure_text(const FailureRecord& record, const std::string& label, std::chrono::nanoseconds deadline,
                         const std::string& tag_name);

} // namespace parhelion
