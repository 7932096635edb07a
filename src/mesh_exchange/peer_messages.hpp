// SPDX-License-Identifier: Apache-2.0
// An exchange in which every rank sends a message to every other rank, all at once. Every
// exchange of the mesh consists of these. Messages of no bytes signal like any other message.
//
// Payload slots have the size of the largest message, stay for the run and are reused without credits. If two exchanges
// alternate, one slot is enough: a rank that sends in the second has read the messages of the first. An exchange that
// follows itself needs two, as a peer may be one exchange ahead. See docs/design/communication.md; model mesh_exchange.pml.
#pragma once

#include "comm/world/communicator.hpp"

#include <functional>
#include <string>
#include <vector>

namespace parhelion {

class PeerMessages
{
public:
    // capacity(source, destination): bytes of the largest message from one rank to another. depth: slots of each
    // channel. Every rank constructs its own object with the same arguments.
    using Capacity = std::function<std::size_t(int source, int destination)>;
    // Ranks before `first` take no part in the exchange and construct no object.
    PeerMessages(Communicator& comm, const std::string& label, int depth, const Capacity& capacity, int first = 0);

    // Returns the bytes that a slot takes in the arena, for messages of at most `capacity` bytes.
    static std::size_t slot_bytes(std::size_t capacity) { return round_up_window(capacity + 1); }

    // Acquires slots for the next messages, which the caller packs at out(peer). publish() signals all; bytes(peer) is its
    // length.
    void begin();
    std::byte* out(int peer) const { return out_[static_cast<std::size_t>(peer)]; }
    template <class Bytes>
    void publish(Bytes&& bytes)
    {
        for_peers([&](int peer, ChannelPair& channels) { channels.send.publish(bytes(peer)); });
    }

    // Waits for the messages of all peers, which are at in(peer) until the next call. Throws CommError, PeerAborted.
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
    std::vector<ChannelPair> channels_; // channels with each rank; unused for this rank
    std::vector<std::size_t> capacity_; // capacity of the messages to each rank
    std::vector<std::byte*> out_, in_;
};

} // namespace parhelion
