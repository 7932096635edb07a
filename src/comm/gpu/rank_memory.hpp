// SPDX-License-Identifier: Apache-2.0
// The memory of ranks that are GPUs: their symmetric arenas, pools of small objects, and the queues that set them up.
//
// Arenas are pages that the processes of a host pass to each other (device/gpu/arena.hpp), or parts of a heap that a library
// makes (comm/gpu/heap.hpp). Kernels within a node address arenas of both kinds in the same way.
#pragma once

#include "comm/core/symmetric_memory.hpp"
#include "comm/gpu/rank_map.hpp"
#include "device/gpu/arena.hpp"
#include "device/gpu/queue_gpu.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

class ObjectPool;
struct GpuWorldOptions;

class GpuRankMemory
{
public:
    // Allocates the arenas. Throws DeviceError, or CommError if another process does not come before the deadline.
    GpuRankMemory(const GpuRankMap& ranks, const GpuWorldOptions& options);

    SymmetricMemory& symmetric() { return *symmetric_; }
    const SymmetricMemory& symmetric() const { return *symmetric_; }
    // Returns the queue for setting up a rank of this process. Ranks on one GPU share a queue.
    GpuQueue& setup_queue(int rank) { return *setup_queues_[ranks_.gpu_of(rank)]; }
    const std::shared_ptr<ObjectPool>& pool(int rank) const { return pools_[ranks_.gpu_of(rank)]; }

private:
    std::vector<SymmetricMemory::Arenas> make_arenas(const GpuWorldOptions& options);
    std::vector<SymmetricMemory::Arenas> arenas_in(GpuHeap& heap, const GpuWorldOptions& options);
    std::unique_ptr<GpuArena> arena(const std::string& name, int rank, std::size_t bytes, const GpuWorldOptions& options);

    const GpuRankMap& ranks_;
    std::vector<std::unique_ptr<GpuArena>> payload_, signals_; // the arenas of each rank
    std::optional<SymmetricMemory> symmetric_;                 // the layout of payload_ and signals_
    std::vector<std::shared_ptr<ObjectPool>> pools_;           // one pool per GPU of this process
    std::vector<std::unique_ptr<GpuQueue>> setup_queues_;
};

} // namespace parhelion
