// SPDX-License-Identifier: Apache-2.0
// A network: a bootstrap, which knows the ranks, and a transport between them. Each world is made of one network, which the maker
// of the world chooses; comm/networks/networks.hpp lists the networks that exist.
#pragma once

#include "comm/core/bootstrap.hpp"
#include "comm/core/transport.hpp"

#include <functional>
#include <memory>

namespace parhelion {

// Makes the transport of a world over the world's memory, which outlives the transport.
using MakeTransport = std::function<std::unique_ptr<Transport>(const SymmetricMemory&)>;

struct Network
{
    std::shared_ptr<Bootstrap> bootstrap; // may be used before the world is made and after it has ended
    MakeTransport make_transport;
};

// Makes a network once the number of ranks is known.
using MakeNetwork = std::function<Network(int ranks)>;

} // namespace parhelion
