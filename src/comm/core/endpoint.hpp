// SPDX-License-Identifier: Apache-2.0
// The two ends of a channel, and how they are connected into routes, the addresses that comm/core/protocol.hpp uses. Routes for
// CPUs and GPUs are built here and nowhere else.
//
// The idea: each rank makes its end in its own memory and sends the other rank a few bytes about it. So either end may be made
// first, and no rank writes to memory whose layout it does not own.
#pragma once

#include "comm/core/protocol.hpp"
#include "comm/core/symmetric_memory.hpp"

#include <chrono>
#include <string>

namespace parhelion {

enum class Credits : std::uint8_t
{
    Yes, // the source waits for the destination's acknowledgement before it writes a slot again
    No   // the order of messages makes credits unnecessary; needs an argument and a model (docs/design/communication.md)
};

// The options of a channel, which must be the same at both ends.
struct ChannelOptions
{
    int depth = 2; // number of payload slots and of signal slots, >= 1
    Credits credits = Credits::Yes;
    std::size_t capacity = 0; // bytes of a payload slot; 0: the channel has none until both ends are bound to some
    Word first_epoch = 1;
    friend bool operator==(const ChannelOptions&, const ChannelOptions&) = default;
};

// Names a channel by its two ranks and a number, which each rank counts for itself. Failure records show the number.
struct ChannelName
{
    int source;
    int destination;
    int number;
};

// The data that each end sends to the other end. The structs are plain and travel as bytes.
struct SendEnd
{
    ChannelOptions options;
    std::size_t credits; // index of the first credit slot, in the source's signal arena
};
struct ReceiveEnd
{
    ChannelOptions options;
    Window slots;        // payload slots, in the destination's arena
    std::size_t signals; // index of the first signal slot, in the destination's signal arena
};

// make_send_end() and make_receive_end() reserve the memory of an end. They throw CommError if the arenas are full. All signal
// slots show the epoch before the first: no message has arrived, and all earlier messages count as acknowledged.
SendEnd make_send_end(SymmetricMemory& memory, const ChannelName& name, const ChannelOptions& options);
ReceiveEnd make_receive_end(SymmetricMemory& memory, const ChannelName& name, const ChannelOptions& options);

// These two return the part of a route that an end knows without the other end.
SendRoute send_route(const SymmetricMemory& memory, const ChannelName& name, const SendEnd& here);
ReceiveRoute receive_route(const SymmetricMemory& memory, const ChannelName& name, const ReceiveEnd& here);
// These two add the other end's data and the addresses of its slots; null addresses mean that the transport carries messages.
void connect(SendRoute& route, const ReceiveEnd& there, std::byte* payload, SignalSlot* signals);
void connect(ReceiveRoute& route, const SendEnd& there, SignalSlot* credits);

// Returns a sentence about a wait that timed out. tag_name: the noun that the sentence uses for the number record.tag.
std::string failure_text(const FailureRecord& record, const std::string& label, std::chrono::nanoseconds deadline,
                         const std::string& tag_name);

} // namespace parhelion
