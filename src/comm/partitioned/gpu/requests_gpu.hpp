// SPDX-License-Identifier: Apache-2.0
// The host's side of the requests of comm/partitioned/gpu/partitioned_gpu.hpp.
#pragma once

#include "comm/gpu/object_pool.hpp"
#include "comm/partitioned/gpu/partitioned_gpu.hpp"

#include <string>

namespace parhelion {

[[noreturn]] void refuse_unmatched(const std::string& label, int peer);
[[noreturn]] void refuse_freed(const std::string& label, int peer);
[[noreturn]] void refuse_elsewhere(const std::string& label, int rank);
[[noreturn]] void refuse_misuse(const std::string& label, const DeviceMisuse& misuse);

// The slots in the signal arenas of source and destination that the two sides of a message share.
struct SlotsOfPair
{
    int source, destination;
    std::size_t credit, first_signal;
    int signals;
    bool is_carried; // true: proxies carry the signals and have reserved places for them
    int freed_sides = 0;
};

// The data of one side of a message.
template <class Prequest>
struct Side
{
    int rank;
    int peer;
    bool is_here; // the rank is in this process
    Partitioning partitioning;
    std::string label;
    ObjectPool::Piece memory; // the prequest and its arrays; empty until matched, and in other processes
    PhaseTag phase;
    std::shared_ptr<SlotsOfPair> slots; // the signal slots of both sides; null until matched

    std::size_t total_bytes() const { return static_cast<std::size_t>(partitioning.partitions) * partitioning.bytes; }
    Prequest* prequest() const { return reinterpret_cast<Prequest*>(memory.data()); }
    Prequest* matched() const
    {
        if (!is_here) { refuse_elsewhere(label, rank); }
        if (!slots) { refuse_unmatched(label, peer); }
        if (slots->freed_sides > 0) { refuse_freed(label, peer); }
        return prequest();
    }
    // Returns a transport by which kernels leave messages to this rank's proxy, with places in its ring for `signals` slots.
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
    DeviceBuffer<std::byte> staging; // memory from which a proxy takes partitions, if the request has no buffer

    // Returns the memory from which the proxy takes marked partitions.
    std::byte* place_for_proxy(GpuQueue& queue)
    {
        if (buffer != nullptr) { return const_cast<std::byte*>(buffer); } // the proxy only reads it
        queue.make_current();
        staging.resize(total_bytes());
        return staging.data();
    }
};
struct GpuReceiveRequest::Of : Side<ReceivePrequest>
{
    Window window;
    std::byte* buffer; // address of the window; null if the rank's memory is out of reach
};

} // namespace parhelion
