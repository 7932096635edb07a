// SPDX-License-Identifier: Apache-2.0
// A symmetric heap of GPU memory that a library makes, such as NVSHMEM, in place of arenas that processes pass to each other
// (device/gpu/arena.hpp). Kernels use both alike: by addresses. The library is opened at run time through a plugin
// (comm/plugins/heap.h), so that the program does not need it.
#pragma once

#include "comm/bootstrap.hpp"

#include <chrono>
#include <cstddef>
#include <string>

struct parhelion_heap_calls_v1;

namespace parhelion {

class GpuHeap
{
public:
    // By all processes, each with one rank, whose GPU is current. `bytes`: of all that will be allocated. Throws SystemError if
    // the plugin or its library is missing or cannot begin, CommError if rank 0 does not come within the deadline.
    GpuHeap(Bootstrap& bootstrap, std::size_t bytes, std::chrono::nanoseconds deadline);
    ~GpuHeap(); // by all processes
    // The library below and its version. Throws SystemError.
    static std::string library();
    static constexpr const char* plugin_file = "libparhelion_nvshmem.so";
    GpuHeap(const GpuHeap&) = delete;
    GpuHeap& operator=(const GpuHeap&) = delete;

    // By all processes, in one order: this rank's, not initialised. Throws CommError if it is used up.
    std::byte* allocate(std::size_t bytes);
    // The same memory of another rank, as kernels here reach it. Throws CommError if they do not.
    std::byte* of_rank(const std::byte* here, int rank) const;

private:
    const parhelion_heap_calls_v1* calls_ = nullptr;
};

} // namespace parhelion
