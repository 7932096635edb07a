// SPDX-License-Identifier: Apache-2.0
// Setup messages: messages of any size through two small slots per pair of ranks. A setup message is sent as a chunk that
// begins with its size, then as many more chunks as are needed. One loop advances all messages as far as possible without
// waiting. So a rank never waits to send while it could receive, and no order of sizes and peers can block.
#include "base/error.hpp"
#include "comm/world/communicator.hpp"
#include "comm/world/world.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace parhelion {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;

// The setup messages of one exchange to one peer, and their progress.
struct Outgoing
{
    SendChannel* channel;
    std::vector<const Bytes*> messages;
    std::size_t sent = 0; // bytes sent of the first message in `messages`
    bool is_begun = false;

    bool is_done() const { return messages.empty(); }
    bool advance()
    {
        if (is_done() || !channel->is_ready()) { return false; }
        const Bytes& message = *messages.front();
        std::byte* const slot = channel->begin(chunk_bytes);
        std::size_t used = 0;
        if (!std::exchange(is_begun, true))
        {
            const std::uint64_t size = message.size();
            std::memcpy(slot, &size, sizeof size);
            used = sizeof size;
        }
        const std::size_t n = std::min(chunk_bytes - used, message.size() - sent);
        if (n > 0) { std::memcpy(slot + used, message.data() + sent, n); }
        channel->publish(used + n);
        sent += n;
        if (sent == message.size())
        {
            messages.erase(messages.begin());
            sent = 0;
            is_begun = false;
        }
        return true;
    }
};

// The setup messages of one exchange from one peer, and their progress.
struct Incoming
{
    ReceiveChannel* channel;
    std::vector<Bytes*> messages;
    std::size_t missing = 0; // bytes missing of the first message in `messages`
    bool is_begun = false;

    bool is_done() const { return messages.empty(); }
    bool advance()
    {
        if (is_done() || !channel->has_arrived()) { return false; }
        const Message chunk = channel->wait();
        Bytes& message = *messages.front();
        std::size_t used = 0;
        if (!std::exchange(is_begun, true))
        {
            std::uint64_t size;
            std::memcpy(&size, chunk.data, sizeof size);
            used = sizeof size;
            missing = size;
            message.reserve(size);
        }
        message.insert(message.end(), chunk.data + used, chunk.data + chunk.bytes);
        missing -= chunk.bytes - used;
        channel->ack();
        if (missing == 0)
        {
            messages.erase(messages.begin());
            is_begun = false;
        }
        return true;
    }
};

// Advances all messages until they are done, and returns Reached. Otherwise returns why the wait for messages has ended.
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

ChannelPair& Communicator::setup_peer(int peer)
{
    const auto found = setup_peers_.find(peer);
    if (found != setup_peers_.end()) { return found->second; }
    const ChannelOptions options{2, Credits::Yes, chunk_bytes};
    ChannelPair opened{open_send("setup messages", peer, options), open_receive("setup messages", peer, options)};
    return setup_peers_.emplace(peer, std::move(opened)).first->second;
}

std::vector<SetupMessage> Communicator::exchange(std::span<const SetupMessage> messages, std::span<const int> sources)
{
    std::vector<SetupMessage> received;
    for (const int source : sources) { received.push_back({source, {}}); }
    std::map<int, Outgoing> outgoing;
    std::map<int, Incoming> incoming;
    std::vector<const Bytes*> to_self;
    for (const SetupMessage& message : messages)
    {
        if (message.peer == rank()) { to_self.push_back(&message.bytes); }
        else
        {
            outgoing.try_emplace(message.peer, Outgoing{&setup_peer(message.peer).send, {}})
                .first->second.messages.push_back(&message.bytes);
        }
    }
    std::size_t from_self = 0;
    for (SetupMessage& message : received)
    {
        if (message.peer != rank())
        {
            incoming.try_emplace(message.peer, Incoming{&setup_peer(message.peer).receive, {}})
                .first->second.messages.push_back(&message.bytes);
            continue;
        }
        PARHELION_EXPECTS(from_self < to_self.size());
        message.bytes = *to_self[from_self++];
    }
    PARHELION_EXPECTS(from_self == to_self.size());
    const Watch& watch = world().watch(rank());
    const Verdict verdict = run(outgoing, incoming, watch);
    if (verdict != Verdict::Reached) { world().throw_failure(rank(), verdict); }
    return received;
}

} // namespace parhelion
