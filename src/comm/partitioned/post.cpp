// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/post.hpp"

#include <algorithm>
#include <utility>

namespace parhelion {

namespace {

// The most letters to a peer that may be unread, and the number of letters after which a rank reports that it has read them.
constexpr Word most_unread = 1024, read_at_once = 256;

// The header at the begin of a letter's bytes. The envelope and the body follow it and fill the rest.
struct Header
{
    Letter::Kind kind;
    std::int32_t from;
    Word number;
    std::uint64_t envelope_bytes;
};

} // namespace

void Post::send(int peer, Letter letter)
{
    peers_[peer].waiting.push_back(std::move(letter));
    flush(peer);
}

void Post::flush(int peer)
{
    Peer& to = peers_[peer];
    while (!to.waiting.empty() && to.sent - to.read < most_unread)
    {
        post(peer, to.waiting.front());
        to.waiting.pop_front();
        ++to.sent;
    }
}

void Post::post(int peer, const Letter& letter)
{
    const Header header{letter.kind, rank_, letter.to.number, letter.to.envelope.size()};
    Bytes bytes(sizeof header + letter.to.envelope.size() + letter.body.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    std::byte* const envelope = bytes.data() + sizeof header;
    std::copy_n(reinterpret_cast<const std::byte*>(letter.to.envelope.data()), letter.to.envelope.size(), envelope);
    std::copy(letter.body.begin(), letter.body.end(), envelope + letter.to.envelope.size());
    bootstrap_.post(peer, std::move(bytes));
}

bool Post::take_back(int peer, Letter::Kind kind, const RequestAddress& to)
{
    std::deque<Letter>& waiting = peers_[peer].waiting;
    const auto found = std::find_if(waiting.rbegin(), waiting.rend(), [&](const Letter& letter) {
        return letter.kind == kind && letter.to.number == to.number && letter.to.envelope == to.envelope;
    });
    if (found == waiting.rend()) { return false; }
    waiting.erase(std::next(found).base());
    return true;
}

std::optional<Post::Received> Post::receive()
{
    while (const std::optional<Bytes> bytes = inbox_.take())
    {
        Header header;
        PARHELION_EXPECTS(bytes->size() >= sizeof header);
        std::memcpy(&header, bytes->data(), sizeof header);
        PARHELION_EXPECTS(header.envelope_bytes <= bytes->size() - sizeof header);
        const std::byte* const envelope = bytes->data() + sizeof header;
        const std::byte* const body = envelope + header.envelope_bytes;
        Peer& from = peers_[header.from];
        if (header.kind == Letter::Kind::Read)
        {
            from.read += header.number;
            flush(header.from);
            continue;
        }
        if (++from.taken == read_at_once) { post(header.from, {Letter::Kind::Read, {"", std::exchange(from.taken, 0)}, {}}); }
        Letter letter{header.kind,
                      {{reinterpret_cast<const char*>(envelope), header.envelope_bytes}, header.number},
                      Bytes(body, bytes->data() + bytes->size())};
        return Received{header.from, std::move(letter)};
    }
    return std::nullopt;
}

} // namespace parhelion
