// SPDX-License-Identifier: Apache-2.0
// Memory of one GPU that other GPUs of the process can address as well, by the same pointer on
// all of them. Other processes of the host may map this memory, too, at addresses of their own.
//
// The idea: pages are created on one GPU, mapped once, and made accessible to the named GPUs alone. Another process
// maps the same pages by a file descriptor. Ordinary allocations stay private until open_memory() is called. Cost: a
// few hundred microseconds and whole granules of 2 MiB. It is meant for setup, not for the step.
//
// A GPU that shares with no other gets ordinary memory instead of such pages: some virtual GPUs support nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace parhelion {

namespace gpu_api {
class SharedPages;
}

// The access that one GPU has to the memory of another.
struct GpuLink
{
    bool has_access = false;         // true if the GPU can load from and store to this memory
    bool has_native_atomics = false; // true if its read-modify-write is atomic for all GPUs; true for NVLink, false for PCIe
};
GpuLink gpu_link(int from, int to);

// Returns true if memory that other GPUs address can be made on this GPU. Some virtual GPUs and hosts cannot. Throws DeviceError.
bool makes_shared_memory(int device);

// Lets kernels on each of these GPUs access ordinary memory of all these GPUs, whenever it was allocated. Throws DeviceError.
void open_memory(std::span<const int> devices);

class GpuArena
{
public:
    enum class Reach : std::uint8_t
    {
        Process,
        Host // the GPUs of this process, and other processes of this host
    };
    // Allocates at least `bytes` of zeros on GPU `device`, accessible to it and to the GPUs in `accessed_by`. Throws DeviceError.
    GpuArena(int device, std::size_t bytes, std::span<const int> accessed_by, Reach reach = Reach::Process);
    // Maps the arena of `bytes` that another process has made with Reach::Host. `pages` is its file descriptor, which
    // the caller keeps and closes. The GPUs in `accessed_by`, at least one, get access. Throws DeviceError.
    static std::unique_ptr<GpuArena> of_process(int pages, std::size_t bytes, std::span<const int> accessed_by);
    ~GpuArena();
    GpuArena(const GpuArena&) = delete;
    GpuArena& operator=(const GpuArena&) = delete;

    std::byte* data() const { return data_; }
    // Returns the file descriptor by which other processes map the pages, -1 without Reach::Host. Open while the arena exists.
    int pages() const { return pages_; }

private:
    GpuArena();
    void give_back() noexcept;

    std::unique_ptr<gpu_api::SharedPages> shared_; // null: data_ is an ordinary allocation
    bool is_counted_ = false;
    int pages_ = -1;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace parhelion
