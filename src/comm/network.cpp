// SPDX-License-Identifier: Apache-2.0
#include "comm/network.hpp"

#include "comm/bootstraps/threads.hpp"

namespace parhelion {

Network thread_network(int ranks, PeerAccess access)
{
    return {std::make_unique<ThreadsBootstrap>(ranks),
            [access](const SymmetricMemory& memory) { return std::make_unique<SharedMemoryTransport>(memory, access); }};
}

} // namespace parhelion
