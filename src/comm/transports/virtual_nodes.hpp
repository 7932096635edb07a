// SPDX-License-Identifier: Apache-2.0
// The numbers that describe an emulated cluster: virtual nodes, into which the ranks of one host are divided, and the network
// between the nodes. Options, worlds and reports use them; comm/transports/nic_emulation.hpp emulates the cluster.
#pragma once

#include "device/helper_threads.hpp"

#include <chrono>
#include <string>

namespace parhelion {

struct NicEmulation
{
    int nodes = 2;
    int ranks_per_node = 1;                                          // number of consecutive ranks that form a node
    std::chrono::nanoseconds latency = std::chrono::microseconds(3); // shortest latency of a message
    double bandwidth = 25;                                           // bandwidth of each node, GB/s

    HelperNeeds proxies = HelperNeeds::Core; // kind of the proxies' threads; with Turns they sleep until a message is due

    int ranks() const { return nodes * ranks_per_node; }
    int node_of(int rank) const { return rank / ranks_per_node; }
    bool reaches(int source, int destination) const { return node_of(source) == node_of(destination); }
    // Returns a text like "2 virtual nodes of 4 ranks, 3 us, 25 GB/s".
    std::string text() const;
};

} // namespace parhelion
