// SPDX-License-Identifier: Apache-2.0
// A symmetric heap of GPU memory made by a library such as NVSHMEM. It replaces arenas that processes pass to each other
// (device/gpu/arena.hpp); kernels address both in the same way. Kernels of one *domain* of NVLink address each other's memory.
// The library sends puts to other domains. It keeps the memory until the process ends, and a process must not end while others
// use its memory. A plugin opens the library at run time (comm/plugins/heap.h), so the program does not need it.
#pragma once

#include "comm/core/bootstrap.hpp"
#include "device/gpu/queue_gpu.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

struct parhelion_heap_calls_v3;

namespace parhelion {

struct GpuHeapOptions
{
    std::size_t bytes = 0;       // size of all allocations together
    bool are_on_one_host = true; // true: all processes are on one host
    // For tests with a single domain: if not 0, NVLink is taken to join only this many neighbouring ranks, so that messages
    // between domains are tested. 0 means the real domains.
    int ranks_of_domain = 0;
    std::chrono::nanoseconds deadline = std::chrono::seconds(60);
};

class GpuHeap
{
public:
    // Makes the heap. All processes call, each with one rank, whose GPU is current. Throws SystemError if the plugin or its
    // library is missing or cannot begin, CommError if another process does not come within the deadline.
    GpuHeap(Bootstrap& bootstrap, const GpuHeapOptions& options);
    // Returns name and version of the library. Throws SystemError.
    static std::string library();
    static constexpr const char* plugin_file = "libparhelion_nvshmem.so";
    GpuHeap(const GpuHeap&) = delete;
    GpuHeap& operator=(const GpuHeap&) = delete;

    // Returns, by rank, the first rank of its domain, which names the domain. Kernels of a domain reach each other's memory.
    const std::vector<int>& domains() const { return domains_; }
    bool has_several_domains() const;

    // Allocates this rank's memory, not initialised. All processes call, in the same order. Throws CommError if the heap is full.
    std::byte* allocate(std::size_t bytes);
    // Returns the address that kernels of this rank use for the same memory of another rank; null if that is in another domain.
    std::byte* of_rank(const std::byte* here, int rank) const;
    // Queues a copy of `bytes` bytes of this rank's memory to the memory of another rank, at the address that is `to` on this
    // rank; then stores of the words, in order. One thread calls put(), which need not be the thread of the other calls.
    void put(GpuQueue& queue, int rank, std::byte* to, const std::byte* from, std::size_t bytes,
             std::span<const gpu_memory::WordAt> words) const;

private:
    void find_domains(Bootstrap& bootstrap);

    const GpuHeapOptions options_;
    const int rank_; // the rank of this process
    const parhelion_heap_calls_v3* const calls_;
    std::vector<int> domains_;
};

} // namespace parhelion
