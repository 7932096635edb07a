// SPDX-License-Identifier: Apache-2.0
// Bytes of any length from each process to each other one, made of puts alone, for bootstraps over a plugin. From every process
// to every other leads a channel with credits (comm/protocol.hpp) through slots at places that all know: at the begin of
// the plugin's memory. What does not fit now waits here, so no call does. Puts between two processes keep their order: who has
// received bytes finds there what the sender had put before.
//
// For one thread at a time. Cost: 5 kB of memory for each process.
#pragma once

#include "comm/bootstrap.hpp"
#include "comm/transports/plugin.hpp"

#include <functional>
#include <vector>

namespace parhelion {

class Mailboxes
{
public:
    // Uses the first bytes() of its memory, which are zero.
    explicit Mailboxes(Plugin& plugin);

    std::size_t bytes() const;
    void send(int destination, Bytes message);
    // Sends what goes, and calls take(source, message) for what has come whole.
    using Take = std::function<void(int source, Bytes message)>;
    void move(const Take& take);
    // Who has to make room for what is still to be sent, or nobody.
    static constexpr int nobody = -1;
    int awaited() const;

private:
    struct Peer
    {
        Sender<HostAtomics, Plugin> sender;
        Receiver<HostAtomics, Plugin> receiver;
        Bytes staging;            // slots of the sender
        Bytes outgoing, incoming; // of messages, each behind its length
    };
    static void flush(Peer& peer);
    static void receive(int source, Peer& peer, const Take& take);

    std::vector<Peer> peers_; // by rank; this one's is not used
};

} // namespace parhelion
