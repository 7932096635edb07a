// SPDX-License-Identifier: Apache-2.0
// What is behind the requests of comm/partitioned/gpu/partitioned_gpu.hpp on the host.
#pragma once

#include "comm/gpu/object_pool.hpp"
#include "comm/partitioned/gpu/partitioned_gpu.hpp"

#include <string>

namespace parhelion {

[[noreturn]] void refuse_unmatched(const std::string& label, int peer);
[[noreturn]] void refuse_freed(const std::string& label, int peer);
[[noreturn]] void refuse_elsewhere(const std::string& label, int rank);
[[noreturn]] void refuse_misuse(const std::string& label, const DeviceMisuse& misuse);

// What the two sides share: slots in the signal arenas of the source and the destination.
struct SlotsOfPair
{
    int source, destination;
    std::size_t credit, first_signal;
    int signals;
    bool is_carried; // by proxies, which have places for them, too
    int freed_sides = 0;
};

// What each side has.
template <class Prequest>
struct Side
{
    int rank;
    int peer;
    bool is_here; // is the rank one of this process?
    Partitioning partitioning;
    std::string label;
    ObjectPool::Piece memory; // the prequest, and what it points to; empty until matched, and in other processes
    PhaseTag phase;
    std::shared_ptr<SlotsOfPair> slots; // null until matched

    std::size_t total_bytes() const { return static_cast<std::size_t>(partitioning.partitions) * partitioning.bytes; }
    Prequest* prequest() const { return reinterpret_cast<Prequest*>(memory.data()); }
    Prequest* matched() const
    {
        if (!is_here) { refuse_elsewhere(label, rank); }
        if (!slots) { refuse_unmatched(label, peer); }
        if (slots->freed_sides > 0) { refuse_freed(label, peer); }
        return prequest();
    }
    // For kernels that leave messages of so many signal slots to the proxy of this rank, which keeps places for them.
    GpuProxyTransport reserve_proxy(GpuWorld& world, int signals, std::size_t first_signal, Word* read) const
    {
        GpuProxy& proxy = world.proxy(rank);
        proxy.reserve(signals);
        return {proxy.ring(), first_signal, read};
    }
    void check(GpuQueue& queue) const
    {
        if (!slots || !is_here) { return; }
        const Prequest now = download_object(queue, prequest());
        if (now.misuse.code != 0) { refuse_misuse(label, now.misuse); }
    }
};

struct GpuSendRequest::Of : Side<SendPrequest>
{
    const std::byte* buffer;
    SendOptions options;
    Mechanism mechanism;
    DeviceBuffer<std::byte> staging; // the place of partitions that have no buffer, if a proxy takes them from there

    // Where the proxy finds what is marked.
    std::byte* place_for_proxy(GpuQueue& queue)
    {
        if (buffer != nullptr) { return const_cast<std::byte*>(buffer); } // nobody writes there
        queue.make_current();
        staging.resize(total_bytes());
        return staging.data();
    }
};
struct GpuReceiveRequest::Of : Side<ReceivePrequest>
{
    Window window;
    std::byte* buffer; // null where its memory is out of reach
};

} // namespace parhelion
