// SPDX-License-Identifier: Apache-2.0
// A way to connect ranks: a bootstrap, which knows who is there, and a transport between them. Whoever makes a world chooses one.
// A new transport or bootstrap gets its function here; the world and all above it stay as they are.
#pragma once

#include "comm/bootstrap.hpp"
#include "comm/transports/nic_emulation.hpp"
#include "comm/transports/shared_memory.hpp"

#include <functional>
#include <memory>

namespace parhelion {

// The transport of a world, over the world's memory, which outlives it.
using MakeTransport = std::function<std::unique_ptr<Transport>(const SymmetricMemory&)>;

class Rendezvous;

struct Network
{
    std::shared_ptr<Bootstrap> bootstrap; // which may have served before the world and serve after it
    MakeTransport make_transport;
};

// How the ranks of a world are connected, however many there will be.
using MakeNetwork = std::function<Network(int ranks)>;

// Of ranks of one host, whose memory is all within reach.
Network shared_memory_network(std::unique_ptr<Bootstrap> bootstrap, PeerAccess access = PeerAccess::Pointers);
// The same, as if they were on several nodes. Every process has whole nodes.
Network nic_emulation_network(std::unique_ptr<Bootstrap> bootstrap, const NicEmulation& emulation);
// Of ranks of processes anywhere, by TCP.
Network tcp_network(std::shared_ptr<Rendezvous> rendezvous);
// Of ranks that are threads of this process.
Network thread_network(int ranks, PeerAccess access = PeerAccess::Pointers);

} // namespace parhelion
