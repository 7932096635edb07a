// SPDX-License-Identifier: Apache-2.0
// A cluster emulated on one host (comm/transports/virtual_nodes.hpp). Inside a virtual node ranks store into each other's
// memory. Between nodes they do not: every message goes through the network card of its node, which is a proxy thread that
// takes descriptors. So the code for networks runs, and can be measured, without a network (decision 0070).
//
// Messages leave a node one after another, as its bandwidth allows. A message arrives `latency` later, plus up to half of that
// by a hash of the message. So it may overtake a message to another slot, as in networks with several routes. The payload
// always arrives before its signal. If the proxy cannot copy as fast as the bandwidth demands, messages arrive later.
#pragma once

#include "comm/core/bootstrap.hpp"
#include "comm/core/transport.hpp"
#include "comm/transports/virtual_nodes.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace parhelion {

// The link of a node to all other nodes. It tells when a message that is sent now arrives. Any thread may use it.
class EmulatedLink
{
public:
    // Makes the link of one node. Throws ContractError unless the bandwidth is above zero.
    explicit EmulatedLink(const NicEmulation& emulation);
    struct Times // times at which the first and the last byte are due
    {
        std::chrono::steady_clock::time_point payload, signal;
    };
    Times send(const Put& put);

private:
    const NicEmulation emulation_;
    std::mutex mutex_; // guards the member below
    std::chrono::steady_clock::time_point is_free_{};
};

class NicEmulationTransport : public Transport
{
public:
    // The memory of all ranks must be mapped in this process. `here` must be whole nodes, for each of which a proxy is started.
    NicEmulationTransport(const SymmetricMemory& memory, const NicEmulation& emulation, RankRange here);
    ~NicEmulationTransport() override;

    std::byte* reach_payload(int source, int destination, std::size_t offset) override;
    SignalSlot* reach_signal(int source, int destination, std::size_t index) override;
    void put_signal(const Put& put) override;

    // Returns the number of puts to a signal slot that had another put in flight.
    std::int64_t overlaps() const;

private:
    class Nic;
    Nic& nic_of(int rank) const;

    const SymmetricMemory& memory_;
    const NicEmulation emulation_;
    const int first_node_;
    std::vector<std::unique_ptr<Nic>> nics_; // network cards of the nodes of this process
};

} // namespace parhelion
