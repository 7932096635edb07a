// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/peer_messages.hpp"

namespace parhelion {

PeerMessages::PeerMessages(Communicator& comm, const std::string& label, int depth, const Capacity& capacity, int first)
    : rank_(comm.rank()), first_(first), channels_(static_cast<std::size_t>(comm.ranks())), out_(channels_.size()),
      in_(channels_.size())
{
    for (int peer = 0; peer < comm.ranks(); ++peer) { capacity_.push_back(peer == rank_ ? 0 : capacity(rank_, peer)); }
    for_peers([&](int peer, ChannelPair& channels) {
        // The capacity is never zero, because an address marks an existing slot.
        const auto options = [&](std::size_t bytes) {
            return ChannelOptions{.depth = depth, .credits = Credits::No, .capacity = bytes + 1};
        };
        channels.send = comm.open_send(label, peer, options(capacity(rank_, peer)));
        channels.receive = comm.open_receive(label, peer, options(capacity(peer, rank_)));
    });
}

void PeerMessages::begin()
{
    for_peers([&](int peer, ChannelPair& channels) {
        const auto p = static_cast<std::size_t>(peer);
        out_[p] = channels.send.begin(capacity_[p]);
    });
}

void PeerMessages::await()
{
    for_peers([&](int peer, ChannelPair& channels) {
        if (channels.receive.core().owes_acknowledgement()) { channels.receive.ack(); }
        in_[static_cast<std::size_t>(peer)] = channels.receive.wait().data;
    });
}

} // namespace parhelion
