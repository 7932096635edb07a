// SPDX-License-Identifier: Apache-2.0
// AMD's version of cuda/driver.cuh, which says what each function does. Compiled, not run on hardware.
//
// The idea: what GPUs poll while a kernel runs must be fine-grained memory, which no cache of a GPU keeps between two loads.
// AMD's runtime makes such memory as an ordinary allocation, and opens a GPU's whole memory to another GPU at once.
#pragma once

#include "device/gpu/arena.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "device/gpu/runtime.cuh"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace parhelion::gpu_api {

inline bool makes_shared_memory(int) { return true; }

class SharedPages
{
public:
    SharedPages() = default;
    SharedPages(const SharedPages&) = delete;
    SharedPages& operator=(const SharedPages&) = delete;

    void make(int device, std::size_t bytes, bool is_exported, int&)
    {
        if (is_exported) { refuse_other_processes(); }
        device_ = device, bytes_ = bytes;
        gpu_check(hipExtMallocWithFlags(reinterpret_cast<void**>(&at_), bytes, hipDeviceMallocFinegrained),
                  "allocating memory that GPUs share");
    }
    [[noreturn]] void map_descriptor(int, std::size_t, int) { refuse_other_processes(); }
    void open_to(std::span<const int> devices)
    {
        std::vector<int> all(devices.begin(), devices.end());
        if (std::find(all.begin(), all.end(), device_) == all.end()) { all.push_back(device_); }
        open_memory(all);
    }
    ~SharedPages() { gpu_api::free(at_); }

    std::byte* data() const { return at_; }
    std::size_t bytes() const { return bytes_; }

private:
    [[noreturn]] static void refuse_other_processes()
    {
        throw DeviceError("AMD GPUs of several processes cannot share memory yet. Use --processes 1.");
    }

    int device_ = 0;
    std::byte* at_ = nullptr;
    std::size_t bytes_ = 0;
};

inline void queue_stores(Stream stream, std::span<const gpu_memory::WordAt> words)
{
    for (const gpu_memory::WordAt& store : words)
    {
        gpu_check(hipStreamWriteValue64(stream, store.word, store.value, 0), "storing from a queue");
    }
}

} // namespace parhelion::gpu_api
