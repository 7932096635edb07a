// SPDX-License-Identifier: Apache-2.0
// Parcels: messages of any size through two small slots per pair of ranks. A parcel is a chunk that begins with its size, then as
// many more as it takes. One loop moves every stream as far as it goes without waiting, so that a rank never waits to send while
// it could receive: no order of sizes and peers can block.
#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "comm/world.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace parhelion {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;

// The parcels of one exchange to one peer, and how far they are.
struct Outgoing
{
    SendChannel* channel;
    std::vector<const Bytes*> parcels;
    std::size_t sent = 0; // bytes of the first parcel
    bool is_begun = false;

    bool is_done() const { return parcels.empty(); }
    bool advance()
    {
        if (is_done() || !channel->is_ready()) { return false; }
        const Bytes& parcel = *parcels.front();
        std::byte* const slot = channel->begin(chunk_bytes);
        std::size_t used = 0;
        if (!std::exchange(is_begun, true))
        {
            const std::uint64_t size = parcel.size();
            std::memcpy(slot, &size, sizeof size);
            used = sizeof size;
        }
        const std::size_t n = std::min(chunk_bytes - used, parcel.size() - sent);
        if (n > 0) { std::memcpy(slot + used, parcel.data() + sent, n); }
        channel->publish(used + n);
        sent += n;
        if (sent == parcel.size())
        {
            parcels.erase(parcels.begin());
            sent = 0;
            is_begun = false;
        }
        return true;
    }
};

// The parcels of one exchange from one peer.
struct Incoming
{
    ReceiveChannel* channel;
    std::vector<Bytes*> parcels;
    std::size_t missing = 0; // bytes of the first parcel
    bool is_begun = false;

    bool is_done() const { return parcels.empty(); }
    bool advance()
    {
        if (is_done() || !channel->has_arrived()) { return false; }
        const Message chunk = channel->wait();
        Bytes& parcel = *parcels.front();
        std::size_t used = 0;
        if (!std::exchange(is_begun, true))
        {
            std::uint64_t size;
            std::memcpy(&size, chunk.data, sizeof size);
            used = sizeof size;
            missing = size;
            parcel.reserve(size);
        }
        parcel.insert(parcel.end(), chunk.data + used, chunk.data + chunk.bytes);
        missing -= chunk.bytes - used;
        channel->ack();
        if (missing == 0)
        {
            parcels.erase(parcels.begin());
            is_begun = false;
        }
        return true;
    }
};

// Moves all streams until they are done.
Verdict run(std::map<int, Outgoing>& outgoing, std::map<int, Incoming>& incoming, const Watch& watch)
{
    Patience<HostAtomics> patience(watch);
    for (bool is_last_look = false;;)
    {
        bool is_done = true, has_advanced = false;
        const auto sweep = [&](auto& streams) {
            for (auto& [peer, stream] : streams)
            {
                has_advanced |= stream.advance();
                is_done = is_done && stream.is_done();
            }
        };
        sweep(outgoing);
        sweep(incoming);
        if (is_done) { return Verdict::Reached; }
        if (has_advanced)
        {
            patience.restart();
            is_last_look = false;
            continue;
        }
        if (is_last_look)
        {
            const auto late = std::find_if(incoming.begin(), incoming.end(), [](const auto& i) { return !i.second.is_done(); });
            if (late != incoming.end()) { return fail<HostAtomics>(watch, late->second.channel->core().record(watch)); }
            const auto stuck = std::find_if(outgoing.begin(), outgoing.end(), [](const auto& o) { return !o.second.is_done(); });
            return fail<HostAtomics>(watch, stuck->second.channel->record(watch));
        }
        const Verdict verdict = patience.next();
        if (verdict == Verdict::Aborted) { return verdict; }
        is_last_look = verdict == Verdict::Expired;
    }
}

} // namespace

ChannelPair& Communicator::parcel_peer(int peer)
{
    const auto found = parcel_peers_.find(peer);
    if (found != parcel_peers_.end()) { return found->second; }
    const ChannelOptions options{2, Credits::Yes, chunk_bytes};
    ChannelPair opened{open_send("parcels", peer, options), open_receive("parcels", peer, options)};
    return parcel_peers_.emplace(peer, std::move(opened)).first->second;
}

std::vector<Parcel> Communicator::exchange(std::span<const Parcel> parcels, std::span<const int> sources)
{
    std::vector<Parcel> received;
    for (const int source : sources) { received.push_back({source, {}}); }
    std::map<int, Outgoing> outgoing;
    std::map<int, Incoming> incoming;
    std::vector<const Bytes*> to_self;
    for (const Parcel& parcel : parcels)
    {
        if (parcel.peer == rank()) { to_self.push_back(&parcel.bytes); }
        else
        {
            outgoing.try_emplace(parcel.peer, Outgoing{&parcel_peer(parcel.peer).send, {}})
                .first->second.parcels.push_back(&parcel.bytes);
        }
    }
    std::size_t from_self = 0;
    for (Parcel& parcel : received)
    {
        if (parcel.peer != rank())
        {
            incoming.try_emplace(parcel.peer, Incoming{&parcel_peer(parcel.peer).receive, {}})
                .first->second.parcels.push_back(&parcel.bytes);
            continue;
        }
        PARHELION_EXPECTS(from_self < to_self.size());
        parcel.bytes = *to_self[from_self++];
    }
    PARHELION_EXPECTS(from_self == to_self.size());
    const Watch& watch = world().watch(rank());
    const Verdict verdict = run(outgoing, incoming, watch);
    if (verdict != Verdict::Reached) { world().throw_failure(rank(), verdict); }
    return received;
}

} // namespace parhelion
