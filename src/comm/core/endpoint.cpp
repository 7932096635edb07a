// SPDX-License-Identifier: Apache-2.0
#include "comm/core/endpoint.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

void check(const SymmetricMemory& memory, const ChannelName& name, const ChannelOptions& options)
{
    PARHELION_EXPECTS(options.depth >= 1);
    PARHELION_EXPECTS(name.source != name.destination);
    PARHELION_EXPECTS(std::min(name.source, name.destination) >= 0 && std::max(name.source, name.destination) < memory.ranks());
}

} // namespace

SendEnd make_send_end(SymmetricMemory& memory, const ChannelName& name, const ChannelOptions& options)
{
    check(memory, name, options);
    const bool has_credits = options.credits == Credits::Yes;
    return {options, has_credits ? memory.reserve_signals(name.source, options.depth, options.first_epoch - 1) : 0};
}

ReceiveEnd make_receive_end(SymmetricMemory& memory, const ChannelName& name, const ChannelOptions& options)
{
    check(memory, name, options);
    const std::size_t bytes = static_cast<std::size_t>(options.depth) * round_up_window(options.capacity);
    const Window slots = memory.allocate(name.destination, bytes);
    return {options, slots, memory.reserve_signals(name.destination, options.depth, options.first_epoch - 1)};
}

SendRoute send_route(const SymmetricMemory& memory, const ChannelName& name, const SendEnd& here)
{
    SendRoute route{};
    route.source = name.source;
    route.destination = name.destination;
    route.channel = name.number;
    route.depth = here.options.depth;
    route.has_credits = here.options.credits == Credits::Yes;
    route.stride = round_up_window(here.options.capacity);
    route.credits = route.has_credits ? memory.signal(name.source, here.credits) : nullptr;
    return route;
}

ReceiveRoute receive_route(const SymmetricMemory& memory, const ChannelName& name, const ReceiveEnd& here)
{
    ReceiveRoute route{};
    route.source = name.source;
    route.destination = name.destination;
    route.channel = name.number;
    route.depth = here.options.depth;
    route.has_credits = here.options.credits == Credits::Yes;
    route.stride = round_up_window(here.options.capacity);
    route.payload = memory.payload(name.destination, here.slots.offset);
    route.signals = memory.signal(name.destination, here.signals);
    return route;
}

void connect(SendRoute& route, const ReceiveEnd& there, std::byte* payload, SignalSlot* signals)
{
    route.offset = there.slots.offset;
    route.signal = there.signals;
    route.payload = payload;
    route.signals = signals;
}

void connect(ReceiveRoute& route, const SendEnd& there, SignalSlot* credits)
{
    route.credit = there.credits;
    route.credits = credits;
}

std::string failure_text(const FailureRecord& record, const std::string& label, std::chrono::nanoseconds deadline,
                         const std::string& tag_name)
{
    const double seconds = std::chrono::duration<double>(deadline).count();
    if (record.awaited == Awaited::Opening)
    {
        return fmt::format("Rank {} timed out after {:g} s waiting for rank {} to open channel '{}', in {} {}.", record.rank,
                           seconds, record.peer, label, tag_name, record.tag);
    }
    if (record.awaited == Awaited::Ready)
    {
        return fmt::format(
            "Rank {} timed out after {:g} s waiting for partitions of its own to be marked ready: channel '{}' to rank {}, "
            "expected {}, seen {}, in {} {}.",
            record.rank, seconds, label, record.peer, record.expected, record.seen, tag_name, record.tag);
    }
    if (record.awaited == Awaited::Proxy)
    {
        return fmt::format(
            "Rank {} timed out after {:g} s waiting for the proxy of its GPU to carry partitions: channel '{}' to rank {}, "
            "epoch expected {}, seen {}, in {} {}.",
            record.rank, seconds, label, record.peer, record.expected, record.seen, tag_name, record.tag);
    }
    return fmt::format(
        "Rank {} timed out after {:g} s waiting for {} from rank {}: channel '{}', epoch expected {}, seen {}, credit {}, "
        "in {} {}.",
        record.rank, seconds, record.awaited == Awaited::Credit ? "a free slot" : "a message", record.peer, label,
        record.expected, record.seen, record.credit, tag_name, record.tag);
}

} // namespace parhelion
