// SPDX-License-Identifier: Apache-2.0
// Memory of one GPU that other GPUs of the process address as well: the same pointer is good on all of them. Other processes of
// the host may address it, too, at pointers of their own.
//
// The idea: pages are created on one GPU, mapped once, and opened to the named GPUs alone. Another process maps the same pages by
// a file descriptor. Ordinary allocations are private until open_memory(). Cost: a few hundred microseconds and whole granules of
// 2 MiB; for setting up, not for the step.
//
// A GPU that shares with no other needs no such pages, and gets ordinary memory: some virtual GPUs have nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
    enum class Reach : std::uint8_t
    {
        Process,
        Host // other processes, too
    };
    // At least `bytes` of zeros on GPU `device`, for itself and for the GPUs in `accessed_by`. Throws DeviceError.
    GpuArena(int device, std::size_t bytes, std::span<const int> accessed_by, Reach reach = Reach::Process);
    // The arena of `bytes` that another process has made with Reach::Host, by the descriptor of its pages, which stays the
    // caller's. For the GPUs in `accessed_by`, of which there is one at least. Throws DeviceError.
    static std::unique_ptr<GpuArena> of_process(int pages, std::size_t bytes, std::span<const int> accessed_by);
    ~GpuArena();
    GpuArena(const GpuArena&) = delete;
    GpuArena& operator=(const GpuArena&) = delete;

    std::byte* data() const { return data_; }
    // Of the pages, for other processes: open until the arena goes; -1 unless they may reach it.
    int pages() const { return pages_; }

private:
    GpuArena() = default;
    void give_back() noexcept;

    bool is_mapped_ = true; // of whole granules; else it is an ordinary allocation
    bool is_counted_ = false;
    int pages_ = -1;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace parhelion
