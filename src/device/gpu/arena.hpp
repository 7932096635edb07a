// SPDX-License-Identifier: Apache-2.0
// Memory of one GPU that other GPUs of the process address as well: the same pointer is good on all of them.
//
// The idea: pages are created on one GPU, mapped once, and opened to the named GPUs alone. Ordinary allocations are private until
// open_memory(). Cost: a few hundred microseconds and whole granules of 2 MiB; for setting up, not for the step.
//
// A GPU that shares with no other needs no such pages, and gets ordinary memory: some virtual GPUs have nothing else.
#pragma once

#include <cstddef>
#include <span>

namespace parhelion {

// What one GPU can do with the memory of another.
struct GpuLink
{
    bool has_access = false;         // load and store
    bool has_native_atomics = false; // also read-modify-write, which other GPUs then see as one: NVLink has it, PCIe has not
};
GpuLink gpu_link(int from, int to);

// Can memory be made on this GPU that others address, too? Some virtual GPUs, and some hosts, cannot. Throws DeviceError.
bool makes_shared_memory(int device);

// Lets kernels on each of these GPUs use ordinary memory of the others, whenever it was allocated. Throws DeviceError.
void open_memory(std::span<const int> devices);

class GpuArena
{
public:
    // At least `bytes` of zeros on GPU `device`, for itself and for the GPUs in `accessed_by`. Throws DeviceError.
    GpuArena(int device, std::size_t bytes, std::span<const int> accessed_by);
    ~GpuArena();
    GpuArena(const GpuArena&) = delete;
    GpuArena& operator=(const GpuArena&) = delete;

    std::byte* data() const { return data_; }

private:
    void map(int device, std::span<const int> accessed_by);
    void give_back() noexcept;

    bool is_mapped_; // of whole granules; else it is an ordinary allocation
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace parhelion
