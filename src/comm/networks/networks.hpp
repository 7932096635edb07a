// SPDX-License-Identifier: Apache-2.0
// The networks that exist: each combines a bootstrap with a transport. A new network needs a function here and no other change:
// worlds take any network. The network of a plugin has its own header (comm/networks/plugin_ranks.hpp).
#pragma once

#include "comm/core/network.hpp"

#include <memory>

namespace parhelion {

struct NicEmulation; // defined in comm/transports/virtual_nodes.hpp
class Rendezvous;    // defined in comm/bootstraps/rendezvous.hpp

// Returns a network for ranks of one host that reach each other's memory.
Network shared_memory_network(std::unique_ptr<Bootstrap> bootstrap, PeerAccess access = PeerAccess::Pointers);
// Returns a network for the same ranks that acts as if they were on several nodes. Every process must have whole nodes.
Network nic_emulation_network(std::unique_ptr<Bootstrap> bootstrap, const NicEmulation& emulation);
// Returns a network for ranks of processes on any hosts, by TCP.
Network tcp_network(std::shared_ptr<Rendezvous> rendezvous);
// Returns a network for ranks that are threads of this process.
Network thread_network(int ranks, PeerAccess access = PeerAccess::Pointers);

} // namespace parhelion
