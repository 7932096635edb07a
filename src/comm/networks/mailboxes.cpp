// SPDX-License-Identifier: Apache-2.0
#include "comm/networks/mailboxes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace parhelion {

namespace {

constexpr int depth = 2;
constexpr std::size_t slot_bytes = 2048;

// The layout of a process's memory: signal and credit slots by the rank of the other process, then the payload slots of all.
constexpr std::size_t signal_of(int peer) { return static_cast<std::size_t>(peer) * 2 * depth; }
constexpr std::size_t credit_of(int peer) { return signal_of(peer) + depth; }
constexpr std::size_t slots_of(int peer, int ranks)
{
    return signal_of(ranks) * sizeof(SignalSlot) + static_cast<std::size_t>(peer) * depth * slot_bytes;
}

} // namespace

std::size_t Mailboxes::bytes() const
{
    const int ranks = static_cast<int>(peers_.size());
    return slots_of(ranks, ranks);
}

Mailboxes::Mailboxes(Plugin& plugin) : peers_(static_cast<std::size_t>(plugin.ranks()))
{
    const int me = plugin.rank(), ranks = plugin.ranks();
    auto* const signals = reinterpret_cast<SignalSlot*>(plugin.memory());
    for (int peer = 0; peer < ranks; ++peer)
    {
        Peer& p = peers_[static_cast<std::size_t>(peer)];
        p.staging.resize(depth * slot_bytes);
        const SendRoute to{me,         peer,
                           -1,         depth,
                           true,       slots_of(me, ranks),
                           slot_bytes, signal_of(me),
                           nullptr,    p.staging.data(),
                           nullptr,    signals + credit_of(peer)};
        const ReceiveRoute from{peer,
                                me,
                                -1,
                                depth,
                                true,
                                slot_bytes,
                                credit_of(me),
                                plugin.memory() + slots_of(peer, ranks),
                                signals + signal_of(peer),
                                nullptr};
        p.sender = {to, &plugin, 1};
        p.receiver = {from, &plugin, 1};
    }
}

void Mailboxes::send(int destination, Bytes message)
{
    Bytes& outgoing = peers_[static_cast<std::size_t>(destination)].outgoing;
    const std::uint64_t length = message.size();
    const auto* const first = reinterpret_cast<const std::byte*>(&length);
    outgoing.insert(outgoing.end(), first, first + sizeof length);
    outgoing.insert(outgoing.end(), message.begin(), message.end());
}

int Mailboxes::awaited() const
{
    const auto full = std::find_if(peers_.begin(), peers_.end(), [](const Peer& peer) { return !peer.outgoing.empty(); });
    return full != peers_.end() ? static_cast<int>(full - peers_.begin()) : nobody;
}

void Mailboxes::move(const Take& take)
{
    for (std::size_t p = 0; p < peers_.size(); ++p)
    {
        receive(static_cast<int>(p), peers_[p], take);
        flush(peers_[p]);
    }
}

void Mailboxes::flush(Peer& peer)
{
    while (!peer.outgoing.empty() && peer.sender.is_ready())
    {
        const auto bytes = static_cast<std::ptrdiff_t>(std::min(slot_bytes, peer.outgoing.size()));
        std::copy_n(peer.outgoing.begin(), bytes, peer.sender.slot());
        peer.outgoing.erase(peer.outgoing.begin(), peer.outgoing.begin() + bytes);
        peer.sender.publish(static_cast<std::size_t>(bytes));
    }
}

void Mailboxes::receive(int source, Peer& peer, const Take& take)
{
    while (peer.receiver.has_arrived())
    {
        const std::byte* const slot = peer.receiver.slot();
        peer.incoming.insert(peer.incoming.end(), slot, slot + peer.receiver.bytes());
        peer.receiver.take();
        peer.receiver.acknowledge();
    }
    std::uint64_t length = 0;
    while (peer.incoming.size() >= sizeof length)
    {
        std::memcpy(&length, peer.incoming.data(), sizeof length);
        if (peer.incoming.size() - sizeof length < length) { return; }
        const auto begin = peer.incoming.begin() + sizeof length, end = begin + static_cast<std::ptrdiff_t>(length);
        Bytes message(begin, end);
        peer.incoming.erase(peer.incoming.begin(), end);
        take(source, std::move(message));
    }
}

} // namespace parhelion
