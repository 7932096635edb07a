// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/world_gpu.hpp"

#include "base/error.hpp"
#include "comm/gpu/proxy.hpp"

#include <exception>
#include <utility>

namespace parhelion {

GpuWorld::GpuWorld(std::vector<int> devices, const GpuWorldOptions& options)
    : ranks_(std::move(devices), options.bootstrap, options.heap, options.nodes), phase_(options.phase),
      loses_(options.hooks.loses), memory_(ranks_, options),
      failures_(ranks_, memory_, options, [this] { proxies_.stop(); }), // after a failure the caller may free memory of messages
      proxies_(ranks_, memory_.symmetric(), failures_, options)
{
}

void GpuWorld::lose(const std::string& sentence) { failures_.stop(std::make_exception_ptr(PeerAborted(sentence))); }

void GpuWorld::release(std::span<const int> group, Window window)
{
    for (const int rank : group) { memory().release(rank, window); }
}

// Makes the relays of a channel. All processes lay out memory alike, but only the process of a proxy opens the proxy's relay.
GpuWorld::Seen GpuWorld::relay(const SendRoute& send, const SendEnd& send_end, const ReceiveEnd& receive_end,
                               const ChannelOptions& options, const Relayed& relayed)
{
    const int source = send.source, destination = send.destination;
    Seen seen{nullptr, nullptr, nullptr};
    Put message{.source = source,
                .destination = destination,
                .offset = relayed.offset,
                .data = relayed.from,
                .bytes = options.capacity,
                .signal = receive_end.signals,
                .epoch = options.first_epoch - 1};
    if (options.capacity > 0)
    {
        seen.stored = data(source, memory().allocate(source, receive_end.slots.bytes));
        message.data = seen.stored, message.offset = receive_end.slots.offset;
    }
    if (is_here(source)) { seen.signals = proxy(source).open({message, send.stride, options.depth}); }
    if (send.has_credits && is_here(destination))
    {
        const Put credit{.source = destination,
                         .destination = source,
                         .offset = 0,
                         .data = nullptr,
                         .bytes = 0,
                         .signal = send_end.credits,
                         .epoch = options.first_epoch - 1};
        seen.credits = proxy(destination).open({credit, 0, options.depth});
    }
    return seen;
}

GpuChannel GpuWorld::open(const std::string& label, int source, int destination, const ChannelOptions& options,
                          const Relayed& relayed)
{
    const ChannelName name{source, destination, name_channel(label)};
    const ReceiveEnd receive_end = make_receive_end(memory(), name, options);
    const SendEnd send_end = make_send_end(memory(), name, options);
    ReceiveRoute receive = receive_route(memory(), name, receive_end);
    SendRoute send = send_route(memory(), name, send_end);
    Seen seen{receive.payload, receive.signals, send.credits};
    if (!reaches(source, destination)) { seen = relay(send, send_end, receive_end, options, relayed); }
    const bool is_lost = loses_ && loses_(label, source);
    if (is_lost)
    {
        seen.signals = memory().signal(source, memory().reserve_signals(source, options.depth, options.first_epoch - 1));
    }
    connect(send, receive_end, seen.stored, seen.signals);
    connect(receive, send_end, seen.credits);
    return {GpuSender(send, nullptr, options.first_epoch), GpuReceiver(receive, nullptr, options.first_epoch)};
}

void GpuWorld::close(const GpuChannel& channel)
{
    const SendRoute& send = channel.sender.route();
    PARHELION_EXPECTS(reaches(send.source, send.destination));
    const ReceiveRoute& receive = channel.receiver.route();
    memory().release(send.destination, {send.offset, static_cast<std::size_t>(send.depth) * send.stride});
    memory().release_signals(send.destination, send.signal, send.depth);
    if (send.has_credits) { memory().release_signals(send.source, receive.credit, send.depth); }
}

} // namespace parhelion
