// SPDX-License-Identifier: Apache-2.0
// What is behind the requests of comm/partitioned/gpu/partitioned_gpu.hpp on the host.
#pragma once

#include "comm/partitioned/gpu/partitioned_gpu.hpp"
#include "device/gpu/device_buffer.hpp"

#include <string>

namespace parhelion {

[[noreturn]] void refuse_unmatched(const std::string& label, int peer);
[[noreturn]] void refuse_freed(const std::string& label, int peer);
[[noreturn]] void refuse_misuse(const std::string& label, const DeviceMisuse& misuse);

// What the two sides share: slots in the signal arenas of the source and the destination.
struct SlotsOfPair
{
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
    Partitioning partitioning;
    std::string label;
    DeviceBuffer<Prequest> prequest;           // empty until matched
    DeviceBuffer<GpuProxyTransport> transport; // of the progression engine, else empty
    PhaseTag phase;
    std::shared_ptr<SlotsOfPair> slots; // null until matched

    std::size_t total_bytes() const { return static_cast<std::size_t>(partitioning.partitions) * partitioning.bytes; }
    Prequest* matched()
    {
        if (!slots) { refuse_unmatched(label, peer); }
        if (slots->freed_sides > 0) { refuse_freed(label, peer); }
        return prequest.data();
    }
    // With the proxy of this rank, for messages of so many signal slots.
    void connect(GpuWorld& world, int signals, std::size_t first_signal, Word* read)
    {
        GpuProxy& proxy = world.proxy(rank);
        proxy.reserve(signals);
        const GpuProxyTransport to_proxy{proxy.ring(), first_signal, read};
        GpuQueue& queue = world.setup_queue(rank);
        queue.make_current();
        transport.upload(queue, {&to_proxy, 1});
        queue.synchronize();
    }
    void upload(GpuWorld& world, const Prequest& from)
    {
        GpuQueue& queue = world.setup_queue(rank);
        queue.make_current();
        prequest.upload(queue, {&from, 1});
        queue.synchronize();
    }
    void check(GpuQueue& queue) const
    {
        const std::vector<Prequest> now = prequest.to_vector(queue);
        if (now.empty() || now[0].misuse.code == 0) { return; }
        refuse_misuse(label, now[0].misuse);
    }
};

struct GpuSendRequest::Of : Side<SendPrequest>
{
    const std::byte* buffer;
    SendOptions options;
    Mechanism mechanism;
    DeviceBuffer<ArrivalCounter<CudaAtomics>> arrivals;
    DeviceBuffer<std::byte> staging; // the place of partitions that have no buffer, if a proxy takes them from there
    DeviceBuffer<Word> read;         // likewise of the progression engine

    // Where the proxy finds what is marked.
    std::byte* prepare_for_proxy(GpuQueue& queue, int signals)
    {
        const std::vector<Word> none(static_cast<std::size_t>(signals), options.first_epoch - 1);
        read.upload(queue, none);
        queue.synchronize();
        if (buffer != nullptr) { return const_cast<std::byte*>(buffer); } // nobody writes there
        staging.resize(total_bytes());
        return staging.data();
    }
};
struct GpuReceiveRequest::Of : Side<ReceivePrequest>
{
    std::byte* buffer;
};

} // namespace parhelion
