// SPDX-License-Identifier: Apache-2.0
// A cluster on one host: ranks are divided into virtual nodes. Inside a node they store into each other's memory; between nodes
// memory is out of reach, and every message goes through the network card of its node, which is a proxy: a thread that takes
// descriptors. So the code for networks runs, and is measured, where there is none (decision 0070).
//
// Messages leave a node one after the other, as its bandwidth allows, and arrive `latency` later, or up to half of that more, by
// a hash of the message. So a message overtakes one to another slot, as networks with several routes allow. The payload always
// comes before its signal. What the proxy cannot copy as fast as the bandwidth says comes later.
#pragma once

#include "comm/bootstrap.hpp"
#include "comm/transport.hpp"
#include "device/helper_threads.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace parhelion {

struct NicEmulation
{
    int nodes = 2;
    int ranks_per_node = 1;                                          // neighbours
    std::chrono::nanoseconds latency = std::chrono::microseconds(3); // least
    double bandwidth = 25;                                           // of a node, GB/s

    HelperNeeds proxies = HelperNeeds::Core; // Turns: they sleep until a message is due

    int ranks() const { return nodes * ranks_per_node; }
    int node_of(int rank) const { return rank / ranks_per_node; }
    bool reaches(int source, int destination) const { return node_of(source) == node_of(destination); }
    // "2 virtual nodes of 4 ranks, 3 us, 25 GB/s"
    std::string text() const;
};

// The link of a node to all others: says when what is sent now arrives. From any thread.
class EmulatedLink
{
public:
    // Throws ContractError unless the bandwidth is above zero.
    explicit EmulatedLink(const NicEmulation& emulation);
    struct Times // when its first and its last byte are due
    {
        std::chrono::steady_clock::time_point payload, signal;
    };
    Times send(const Put& put);

private:
    const NicEmulation emulation_;
    std::mutex mutex_; // of what follows
    std::chrono::steady_clock::time_point is_free_{};
};

class NicEmulationTransport : public Transport
{
public:
    // Over memory that this process has all mapped. `here`: whole nodes. Starts a proxy for each of them.
    NicEmulationTransport(const SymmetricMemory& memory, const NicEmulation& emulation, RankRange here);
    ~NicEmulationTransport() override;

    std::byte* reach_payload(int source, int destination, std::size_t offset) override;
    SignalSlot* reach_signal(int source, int destination, std::size_t index) override;
    void put_signal(const Put& put) override;

    // Puts that met another one under way to the same signal slot.
    std::int64_t overlaps() const;

private:
    class Nic;
    Nic& nic_of(int rank) const;

    const SymmetricMemory& memory_;
    const NicEmulation emulation_;
    const int first_node_;
    std::vector<std::unique_ptr<Nic>> nics_; // of the nodes here
};

} // namespace parhelion
