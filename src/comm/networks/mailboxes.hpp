// SPDX-License-Identifier: Apache-2.0
// Byte messages of any length between processes, made only of puts. A plugin carries only puts, and its ranks meet by these
// messages. A channel with credits (comm/core/protocol.hpp) leads from every process to every other process, through slots at
// known places at the begin of the plugin's memory. Data that does not fit into the slots is kept in this object, so no call
// waits. Puts between two processes keep their order: a process that has received bytes also sees what the sender had put before.
//
// Only one thread at a time may use it. Cost: 5 kB of memory per process.
#pragma once

#include "comm/core/bootstrap.hpp"
#include "comm/transports/plugin.hpp"

#include <functional>
#include <vector>

namespace parhelion {

class Mailboxes
{
public:
    // Uses the first bytes() bytes of the plugin's memory, which must be zero.
    explicit Mailboxes(Plugin& plugin);

    std::size_t bytes() const;
    void send(int destination, Bytes message);
    // Sends what fits into the slots, and calls take(source, message) for each message that has arrived completely.
    using Take = std::function<void(int source, Bytes message)>;
    void move(const Take& take);
    // Returns a process whose slots are too full for data that this process still has to send, or `nobody`.
    static constexpr int nobody = -1;
    int awaited() const;

private:
    struct Peer
    {
        Sender<HostAtomics, Plugin> sender;
        Receiver<HostAtomics, Plugin> receiver;
        Bytes staging;            // staging slots of the sender
        Bytes outgoing, incoming; // messages to send and to receive, each after its length
    };
    static void flush(Peer& peer);
    static void receive(int source, Peer& peer, const Take& take);

    std::vector<Peer> peers_; // peers by rank; the entry of this process is unused
};

} // namespace parhelion
