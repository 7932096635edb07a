// SPDX-License-Identifier: Apache-2.0
// The map of a world of GPUs: it tells on which GPU, in which process and on which node each rank is. All processes have the
// same map, and each knows which ranks are its own.
#pragma once

#include "comm/core/bootstrap.hpp"
#include "comm/transports/virtual_nodes.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace parhelion {

class GpuHeap;

class GpuRankMap
{
public:
    // `devices`: the GPU of each rank. The bootstrap tells which ranks are in this process; null means all ranks. Nodes are the
    // domains of the heap or the virtual nodes; without heap and virtual nodes all ranks are on one node.
    GpuRankMap(std::vector<int> devices, const Bootstrap* bootstrap, const GpuHeap* heap,
               const std::optional<NicEmulation>& nodes);

    int ranks() const { return static_cast<int>(devices_.size()); }
    const std::vector<int>& all_ranks() const { return everybody_; }
    RankRange here() const { return here_; } // ranks of this process
    bool is_here(int rank) const { return rank >= here_.first && rank < here_.first + here_.count; }
    int device(int rank) const { return devices_[static_cast<std::size_t>(rank)]; }
    bool shares_gpu(int rank) const;                                                               // true if its GPU is shared
    bool ranks_share_gpus() const { return gpus_.size() < static_cast<std::size_t>(here_.count); } // true if ranks share a GPU

    // The GPUs of this process, each once, in the order of their first ranks.
    const std::vector<int>& gpus() const { return gpus_; }
    std::size_t gpu_of(int rank) const; // index in gpus() of the GPU of a rank in this process

    const std::optional<NicEmulation>& virtual_nodes() const { return nodes_; }
    bool has_nodes() const; // true if there are several nodes
    bool reaches(int source, int destination) const { return node_of(source) == node_of(destination); }
    // Throws CommError unless all ranks of a group reach each other's memory. The error says that `what` needs that.
    void expect_one_node(std::span<const int> group, const std::string& what) const;

private:
    int node_of(int rank) const { return node_of_rank_[static_cast<std::size_t>(rank)]; } // a node is named by its first rank

    std::vector<int> devices_; // GPU of each rank
    RankRange here_;
    std::optional<NicEmulation> nodes_;
    std::vector<int> node_of_rank_;
    std::vector<int> everybody_;
    std::vector<int> gpus_;
    std::vector<std::size_t> gpu_of_rank_; // index in gpus_ of the GPU of each rank in this process
};

} // namespace parhelion
