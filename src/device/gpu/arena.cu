// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/arena.hpp"

#include "device/gpu/driver.cuh"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

// Throws DeviceError if a GPU cannot address the memory of `device`.
std::vector<int> all_of(int device, std::span<const int> accessed_by)
{
    std::vector<int> devices(accessed_by.begin(), accessed_by.end());
    devices.push_back(device);
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    for (const int d : devices)
    {
        if (!gpu_link(d, device).has_access)
        {
            throw DeviceError("GPU " + std::to_string(d) + " cannot address the memory of GPU " + std::to_string(device) +
                              ". Use --gpus 1, or let CUDA_VISIBLE_DEVICES name GPUs that can.");
        }
    }
    return devices;
}

} // namespace

GpuLink gpu_link(int from, int to)
{
    if (from == to) { return {true, true}; }
    int access = 0, atomics = 0;
    gpu_check(gpu_api::get_link(access, atomics, from, to), "access among GPUs");
    return {access != 0, atomics != 0};
}

bool makes_shared_memory(int device) { return gpu_api::makes_shared_memory(device); }

void open_memory(std::span<const int> devices)
{
    static std::mutex mutex;
    static std::set<std::pair<int, int>> open; // pairs of GPUs enabled in this process; enabling a pair twice is an error
    const std::lock_guard lock(mutex);
    for (const int from : devices)
    {
        gpu_check(gpu_api::make_current(from), "choosing a GPU");
        for (const int to : devices)
        {
            if (from == to || open.contains({from, to})) { continue; }
            const gpu_api::Status status = gpu_api::open_access(to);
            if (status == gpu_api::is_open_already) { gpu_api::forget_error(); } // another library has enabled it
            else { gpu_check(status, "opening memory of a GPU"); }
            open.emplace(from, to);
        }
    }
}

GpuArena::GpuArena(int device, std::size_t bytes, std::span<const int> accessed_by, Reach reach) : bytes_(bytes)
{
    const bool is_shared =
        reach == Reach::Host || std::any_of(accessed_by.begin(), accessed_by.end(), [&](int other) { return other != device; });
    gpu_check(gpu_api::make_current(device), "choosing a GPU");
    try
    {
        if (is_shared)
        {
            shared_ = std::make_unique<gpu_api::SharedPages>();
            shared_->make(device, bytes, reach == Reach::Host, pages_);
            data_ = shared_->data(), bytes_ = shared_->bytes();
            gpu_memory::count(static_cast<std::ptrdiff_t>(bytes_));
            is_counted_ = true;
            shared_->open_to(all_of(device, accessed_by));
        }
        else { data_ = static_cast<std::byte*>(gpu_memory::allocate(bytes)); }
        gpu_check(gpu_api::set_bytes(data_, 0, bytes_), "setting memory of the GPU");
        gpu_check(gpu_api::synchronize_stream(nullptr), "setting memory of the GPU");
    }
    catch (...)
    {
        give_back();
        throw;
    }
}

GpuArena::GpuArena() = default;

std::unique_ptr<GpuArena> GpuArena::of_process(int pages, std::size_t bytes, std::span<const int> accessed_by)
{
    gpu_check(gpu_api::make_current(accessed_by.front()), "choosing a GPU");
    std::unique_ptr<GpuArena> arena(new GpuArena);
    arena->shared_ = std::make_unique<gpu_api::SharedPages>();
    arena->shared_->map_descriptor(accessed_by.front(), bytes, pages);
    arena->data_ = arena->shared_->data(), arena->bytes_ = arena->shared_->bytes();
    arena->shared_->open_to(accessed_by);
    return arena;
}

void GpuArena::give_back() noexcept
{
    if (pages_ >= 0) { ::close(pages_); }
    if (is_counted_) { gpu_memory::count(-static_cast<std::ptrdiff_t>(bytes_)); }
    if (shared_ == nullptr && data_ != nullptr) { gpu_memory::free(data_, bytes_); }
}

GpuArena::~GpuArena() { give_back(); }

} // namespace parhelion
