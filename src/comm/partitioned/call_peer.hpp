// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/world/rank_group.hpp"

#include <cstddef>
#include <optional>

namespace parhelion {

// The channels to and from another rank for collectives of one call, and the progress of the present round of a call.
struct CallPeer
{
    static constexpr int depth = 4;                               // number of slots of a channel
    static constexpr std::size_t capacity = std::size_t{1} << 16; // bytes of a slot
    static constexpr std::size_t slot_bytes = depth * capacity;   // bytes of all slots of a channel

    ChannelPair channels;
    std::optional<Message> held{};   // a message that has arrived and is not completely read yet
    std::size_t sent = 0, taken = 0; // bytes of the present round (call_plan.hpp) that are sent and taken so far
    std::size_t header = 0;          // number of bytes of `held` before its data
    bool is_told = false;            // true once the first message of the call is sent

    void begin_call()
    {
        end_round();
        is_told = false;
    }
    void end_round() { sent = taken = 0; }

    // Returns true if a message is there, and keeps it in `held`.
    bool look()
    {
        if (!held && channels.receive.has_arrived()) { held = channels.receive.wait(); }
        return held.has_value();
    }
    const std::byte* data() const { return held->data + header; }
    std::size_t bytes() const { return held->bytes - header; }
    void release()
    {
        channels.receive.ack();
        held.reset();
        header = 0;
    }
};

} // namespace parhelion
