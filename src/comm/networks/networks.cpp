// SPDX-License-Identifier: Apache-2.0
#include "comm/networks/networks.hpp"

#include "comm/bootstraps/threads.hpp"
#include "comm/transports/nic_emulation.hpp"
#include "comm/transports/shared_memory.hpp"
#include "comm/transports/tcp.hpp"

namespace parhelion {

Network thread_network(int ranks, PeerAccess access)
{
    return shared_memory_network(std::make_unique<ThreadsBootstrap>(ranks), access);
}

Network shared_memory_network(std::unique_ptr<Bootstrap> bootstrap, PeerAccess access)
{
    return {std::move(bootstrap),
            [access](const SymmetricMemory& memory) { return std::make_unique<SharedMemoryTransport>(memory, access); }};
}

Network nic_emulation_network(std::unique_ptr<Bootstrap> bootstrap, const NicEmulation& emulation)
{
    const RankRange here = bootstrap->here();
    return {std::move(bootstrap), [emulation, here](const SymmetricMemory& memory) {
                return std::make_unique<NicEmulationTransport>(memory, emulation, here);
            }};
}

Network tcp_network(std::shared_ptr<Rendezvous> rendezvous)
{
    Rendezvous& met = *rendezvous;
    return {std::move(rendezvous), [&met](const SymmetricMemory& memory) { return std::make_unique<TcpTransport>(memory, met); }};
}

} // namespace parhelion
