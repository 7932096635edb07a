// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/rank_map.hpp"

#include "base/error.hpp"
#include "comm/gpu/heap.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace parhelion {

GpuRankMap::GpuRankMap(std::vector<int> devices, const Bootstrap* bootstrap, const GpuHeap* heap,
                       const std::optional<NicEmulation>& nodes)
    : devices_(std::move(devices)), here_{0, ranks()}, nodes_(nodes),
      node_of_rank_(heap != nullptr ? heap->domains() : std::vector<int>(devices_.size(), 0)), everybody_(devices_.size())
{
    if (nodes_)
    {
        PARHELION_EXPECTS(nodes_->ranks() == ranks() && heap == nullptr);
        for (int rank = 0; rank < ranks(); ++rank)
        {
            node_of_rank_[static_cast<std::size_t>(rank)] = nodes_->node_of(rank) * nodes_->ranks_per_node;
        }
    }
    if (bootstrap != nullptr)
    {
        PARHELION_EXPECTS(bootstrap->ranks() == ranks());
        here_ = bootstrap->here();
    }
    std::iota(everybody_.begin(), everybody_.end(), 0);
    for (int rank = here_.first; rank < here_.first + here_.count; ++rank)
    {
        const auto known = std::find(gpus_.begin(), gpus_.end(), device(rank));
        gpu_of_rank_.push_back(static_cast<std::size_t>(known - gpus_.begin()));
        if (known == gpus_.end()) { gpus_.push_back(device(rank)); }
    }
}

bool GpuRankMap::shares_gpu(int rank) const
{
    const auto first = devices_.begin() + here_.first;
    return std::count(first, first + here_.count, device(rank)) > 1;
}

std::size_t GpuRankMap::gpu_of(int rank) const
{
    PARHELION_EXPECTS(is_here(rank));
    return gpu_of_rank_[static_cast<std::size_t>(rank - here_.first)];
}

bool GpuRankMap::has_nodes() const
{
    return std::any_of(node_of_rank_.begin(), node_of_rank_.end(), [](int first) { return first != 0; });
}

void GpuRankMap::expect_one_node(std::span<const int> group, const std::string& what) const
{
    const auto other = std::find_if_not(group.begin(), group.end(), [&](int rank) { return reaches(group.front(), rank); });
    if (other == group.end()) { return; }
    throw CommError(fmt::format("{}: ranks {} and {} are on different nodes ({}), and kernels would store into each other's "
                                "memory.",
                                what, group.front(), *other, nodes_ ? nodes_->text() : "NVLink does not join them"));
}

} // namespace parhelion
