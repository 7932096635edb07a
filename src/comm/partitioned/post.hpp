// SPDX-License-Identifier: Apache-2.0
// Letters between the engines of partitioned requests (comm/partitioned/engine.hpp). They announce that a request has been made,
// where its slots are, and that it has been freed. Letters from one rank to another keep their order. The bootstrap carries them,
// so that a rank can go on although nobody has read its letters.
//
// Only a bounded number of letters to a peer may be unread. Any more wait in this process and can be taken back, so that a rank
// that is far ahead of another rank costs no memory.
#pragma once

#include "base/error.hpp"
#include "comm/core/inbox.hpp"
#include "comm/core/signal.hpp"

#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <type_traits>

namespace parhelion {

// The name of a request on both sides: an envelope (a text with ranks, tag, group and side), and its number within the envelope.
struct RequestAddress
{
    std::string envelope;
    Word number = 0;

    std::string text() const { return envelope + '#' + std::to_string(number); }
};

struct Letter
{
    enum class Kind : std::uint32_t
    {
        Made,   // the request has been made; the body is what the other side must know of it
        Placed, // answer of a message's destination; the body tells where its slots are
        Parted, // the request has been freed; the body is a Parting
        Read    // the peer has read `to.number` letters
    };
    Kind kind{};
    RequestAddress to{}; // the request on the other side, which gets the letter
    Bytes body{};
};

// The last letter of a request, which says that it is freed.
struct Parting
{
    Word epochs = 0; // number of epochs that the request has started
    Word shown = 0;  // last epoch that it has stored, or may still store, in a slot of the other side; valid if epochs > 0
};

class Post
{
public:
    Post(Bootstrap& bootstrap, int rank) : bootstrap_(bootstrap), inbox_(bootstrap.inbox(rank)), rank_(rank) {}

    void send(int peer, Letter letter);
    // Takes back a letter of this kind to that request, if it has not been sent yet. Returns whether it did.
    bool take_back(int peer, Letter::Kind kind, const RequestAddress& to);
    struct Received
    {
        int from;
        Letter letter;
    };
    // Returns the next letter that has come, or nothing if there is none.
    std::optional<Received> receive();

private:
    struct Peer
    {
        Word sent = 0, read = 0; // numbers of letters that this rank has sent, and that the peer has read of them
        Word taken = 0;          // number of the peer's letters read here since the last letter of kind Read to it
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

// Returns the object that these bytes represent. Throws ContractError if their number is not the size of T.
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
