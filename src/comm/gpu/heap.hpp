// SPDX-License-Identifier: Apache-2.0
// A symmetric heap of GPU memory that a library makes, such as NVSHMEM, in place of arenas that processes pass to each other
// (device/gpu/arena.hpp). Kernels use both alike: by addresses. Where they have none, in another *domain* of NVLink, the library
// puts. The library keeps it until the process ends. A process must not end before all are done with its memory. It is opened at
// run time through a plugin (comm/plugins/heap.h), so that the program does not need it.
#pragma once

#include "comm/bootstrap.hpp"
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
    std::size_t bytes = 0;       // of all that will be allocated
    bool are_on_one_host = true; // all processes
    // As if NVLink joined so many neighbouring ranks and no others, so that what networks carry runs where there is none; 0: as
    // it does.
    int ranks_of_domain = 0;
    std::chrono::nanoseconds deadline = std::chrono::seconds(60);
};

class GpuHeap
{
public:
    // By all processes, each with one rank, whose GPU is current. Throws SystemError if the plugin or its library is missing or
    // cannot begin, CommError if another process does not come within the deadline.
    GpuHeap(Bootstrap& bootstrap, const GpuHeapOptions& options);
    // The library below and its version. Throws SystemError.
    static std::string library();
    static constexpr const char* plugin_file = "libparhelion_nvshmem.so";
    GpuHeap(const GpuHeap&) = delete;
    GpuHeap& operator=(const GpuHeap&) = delete;

    // By rank: the first one whose memory its kernels reach, which names its domain. Kernels within one reach each other's.
    const std::vector<int>& domains() const { return domains_; }
    bool has_several_domains() const;

    // By all processes, in one order: this rank's, not initialised. Throws CommError if it is used up.
    std::byte* allocate(std::size_t bytes);
    // The same memory of another rank, as kernels here reach it; null if it is in another domain.
    std::byte* of_rank(const std::byte* here, int rank) const;
    // Queues: so many bytes of this memory go to where another rank has what `to` is here, and then, one after the other, words.
    // From one thread, which may be another than that of the other calls.
    void put(GpuQueue& queue, int rank, std::byte* to, const std::byte* from, std::size_t bytes,
             std::span<const gpu_memory::WordAt> words) const;

private:
    void find_domains(Bootstrap& bootstrap);

    const GpuHeapOptions options_;
    const int rank_; // this process
    const parhelion_heap_calls_v3* const calls_;
    std::vector<int> domains_;
};

} // namespace parhelion
