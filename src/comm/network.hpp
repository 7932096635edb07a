// SPDX-License-Identifier: Apache-2.0
// A way to connect ranks: a bootstrap, which knows who is there, and a transport between them. Whoever makes a world chooses one.
// A new transport or bootstrap gets its function here; the world and all above it stay as they are.
#pragma once

#include "comm/bootstrap.hpp"
#include "comm/transports/shared_memory.hpp"

#include <functional>
#include <memory>

namespace parhelion {

// The transport of a world, over the world's memory, which outlives it.
using MakeTransport = std::function<std::unique_ptr<Transport>(const SymmetricMemory&)>;

struct Network
{
    std::unique_ptr<Bootstrap> bootstrap;
    MakeTransport make_transport;
};

// Of ranks that are threads of this process.
Network thread_network(int ranks, PeerAccess access = PeerAccess::Pointers);

} // namespace parhelion
