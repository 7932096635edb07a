// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/rank_memory.hpp"

#include "base/error.hpp"
#include "comm/gpu/heap.hpp"
#include "comm/gpu/object_pool.hpp"
#include "comm/gpu/world_options.hpp"

#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace parhelion {

GpuRankMemory::GpuRankMemory(const GpuRankMap& ranks, const GpuWorldOptions& options) : ranks_(ranks)
{
    for (const int gpu : ranks_.gpus())
    {
        setup_queues_.push_back(std::make_unique<GpuQueue>(gpu));
        pools_.push_back(std::make_shared<ObjectPool>());
    }
    const auto show = [this](int rank, SignalSlot* first, int count, Word shown) {
        if (!ranks_.is_here(rank)) { return; } // the process that holds the rank sets its slots
        const std::vector<SignalSlot> slots(static_cast<std::size_t>(count), {shown, 0});
        gpu_memory::to_device(setup_queue(rank), first, slots.data(), slots.size() * sizeof(SignalSlot));
        setup_queue(rank).synchronize(GpuQueue::Wait::Spins);
    };
    symmetric_.emplace(options.heap != nullptr ? arenas_in(*options.heap, options) : make_arenas(options), options.payload_bytes,
                       options.signal_slots, show);
    open_memory(ranks_.gpus());
}

std::vector<SymmetricMemory::Arenas> GpuRankMemory::make_arenas(const GpuWorldOptions& options)
{
    std::vector<SymmetricMemory::Arenas> arenas;
    for (int rank = 0; rank < ranks_.ranks(); ++rank)
    {
        payload_.push_back(arena("payload", rank, options.payload_bytes, options));
        signals_.push_back(arena("signals", rank, options.signal_slots * sizeof(SignalSlot), options));
        arenas.push_back({payload_.back()->data(), reinterpret_cast<SignalSlot*>(signals_.back()->data())});
    }
    return arenas;
}

std::vector<SymmetricMemory::Arenas> GpuRankMemory::arenas_in(GpuHeap& heap, const GpuWorldOptions& options)
{
    GpuQueue& queue = setup_queue(ranks_.here().first);
    queue.make_current();
    const auto zeros = [&](std::size_t bytes) {
        std::byte* const memory = heap.allocate(bytes);
        gpu_memory::set_bytes(queue, memory, 0, bytes);
        return memory;
    };
    const std::byte* const payload = zeros(options.payload_bytes);
    const std::byte* const signals = zeros(options.signal_slots * sizeof(SignalSlot));
    queue.synchronize();
    std::vector<SymmetricMemory::Arenas> arenas;
    for (int rank = 0; rank < ranks_.ranks(); ++rank)
    {
        arenas.push_back({heap.of_rank(payload, rank), reinterpret_cast<SignalSlot*>(heap.of_rank(signals, rank))});
    }
    return arenas;
}

// Returns the arena of a rank. Makes it if the rank is in this process; otherwise waits for the arena of its process and maps it.
std::unique_ptr<GpuArena> GpuRankMemory::arena(const std::string& name, int rank, std::size_t bytes,
                                               const GpuWorldOptions& options)
{
    Bootstrap* const bootstrap = options.bootstrap;
    if (bootstrap == nullptr) { return std::make_unique<GpuArena>(ranks_.device(rank), bytes, ranks_.gpus()); }
    const std::string key = fmt::format("{} of rank {}'s GPU", name, rank);
    if (ranks_.is_here(rank))
    {
        auto made = std::make_unique<GpuArena>(ranks_.device(rank), bytes, ranks_.gpus(), GpuArena::Reach::Host);
        bootstrap->pass(key, made->pages());
        return made;
    }
    const std::int64_t begin = HostAtomics::nanoseconds();
    for (;;)
    {
        const bool is_last_look = HostAtomics::nanoseconds() - begin > options.deadline.count();
        const FileDescriptor pages = bootstrap->passed(key);
        if (pages.get() >= 0) { return GpuArena::of_process(pages.get(), bytes, ranks_.gpus()); }
        if (is_last_look)
        {
            throw CommError(fmt::format("Timed out after {:g} s waiting for the {}.",
                                        std::chrono::duration<double>(options.deadline).count(), key));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace parhelion
