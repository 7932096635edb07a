// SPDX-License-Identifier: Apache-2.0
// Letters between the engines of partitioned requests (comm/partitioned/engine.hpp): who has made which request, where its slots
// are, and that it has been freed. Letters of one rank to another keep their order. They go by the bootstrap, so that nobody has
// to read them for others to go on.
//
// So many letters to a peer may be unread. What is beyond waits here and can be taken back: a rank that is far ahead of another
// one costs no memory.
#pragma once

#include "base/error.hpp"
#include "comm/bootstraps/inbox.hpp"
#include "comm/signal.hpp"

#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <type_traits>

namespace parhelion {

// A request, as both sides name it: the nth of an envelope, which says between whom, of which tag and group, and for which side.
struct Address
{
    std::string envelope;
    Word number = 0;

    std::string text() const { return envelope + '#' + std::to_string(number); }
};

struct Letter
{
    enum class Kind : std::uint32_t
    {
        Made,   // the request has been made; the body is what the other side must know
        Placed, // the answer of a message's destination: where its slots are
        Parted, // the request has been freed; the body is a Parting
        Read    // `to.number` letters have been read
    };
    Kind kind{};
    Address to{}; // the other side's request
    Bytes body{};
};

// What a side says when it is freed.
struct Parting
{
    Word epochs = 0; // that it has started
    Word shown = 0;  // the last epoch that it has set or may still set a slot of the other side to, if epochs > 0
};

class Post
{
public:
    Post(Bootstrap& bootstrap, int rank) : bootstrap_(bootstrap), inbox_(bootstrap.inbox(rank)), rank_(rank) {}

    void send(int peer, Letter letter);
    // Takes back a letter of this kind to that request if it has not left. True if so.
    bool take_back(int peer, Letter::Kind kind, const Address& to);
    struct Received
    {
        int from;
        Letter letter;
    };
    // The next letter, if one has come.
    std::optional<Received> receive();

private:
    struct Peer
    {
        Word sent = 0, read = 0; // letters: by this rank; of these, by the peer
        Word taken = 0;          // letters of the peer's since it was told
        std::deque<Letter> waiting{};
    };
    void post(int peer, const Letter& letter);
    void flush(int peer);

    Bootstrap& bootstrap_;
    Inbox& inbox_;
    const int rank_;
    std::map<int, Peer> peers_;
};

template <class T>
Bytes bytes_of(const T& value)
{
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    return Bytes(first, first + sizeof value);
}

// Throws ContractError if these are not its bytes.
template <class T>
T from_bytes(const Bytes& bytes)
{
    static_assert(std::is_trivially_copyable_v<T>);
    PARHELION_EXPECTS(bytes.size() == sizeof(T));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

} // namespace parhelion
