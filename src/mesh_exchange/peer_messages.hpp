// SPDX-License-Identifier: Apache-2.0
// A message to every other rank and one from each of them, all at once: what every exchange of the mesh consists of. Messages of
// no bytes signal like any other.
//
// Slots have the size of the largest message and stay for the run. They are used again without credits. An exchange that follows
// another needs one slot: who sends in the second has read what came in the first. One that follows itself needs two, as a peer
// may be an exchange ahead. docs/design/communication.md has the argument; the model is mesh_exchange.pml.
#pragma once

#include "comm/communicator.hpp"

#include <functional>
#include <string>
#include <vector>

namespace parhelion {

class PeerMessages
{
public:
    // capacity(source, destination): bytes of the largest message from one rank to another; depth: slots of each. Every rank
    // makes its own with the same arguments.
    using Capacity = std::function<std::size_t(int source, int destination)>;
    // Ranks before `first` take no part and make none.
    PeerMessages(Communicator& comm, const std::string& label, int depth, const Capacity& capacity, int first = 0);

    // Of its arena, for a slot of messages of up to so many bytes.
    static std::size_t slot_bytes(std::size_t capacity) { return round_up_window(capacity + 1); }

    // Slots for the next messages, to be packed at out(peer); then all are signalled, bytes(peer) long.
    void begin();
    std::byte* out(int peer) const { return out_[static_cast<std::size_t>(peer)]; }
    template <class Bytes>
    void publish(Bytes&& bytes)
    {
        for_peers([&](int peer, ChannelPair& channels) { channels.send.publish(bytes(peer)); });
    }

    // The messages of all peers, at in(peer) until the next call. Throws CommError, PeerAborted.
    void await();
    std::byte* in(int peer) const { return in_[static_cast<std::size_t>(peer)]; }

private:
    template <class Body>
    void for_peers(Body&& body)
    {
        for (int peer = first_; peer < static_cast<int>(channels_.size()); ++peer)
        {
            if (peer != rank_) { body(peer, channels_[static_cast<std::size_t>(peer)]); }
        }
    }

    int rank_, first_;
    std::vector<ChannelPair> channels_; // by rank; none to itself
    std::vector<std::size_t> capacity_; // of messages sent
    std::vector<std::byte*> out_, in_;
};

} // namespace parhelion
