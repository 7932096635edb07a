// SPDX-License-Identifier: Apache-2.0
// Ranks in a ring that send partitioned messages between GPUs' kernels; of several processes each has a ring of all ranks, and
// buffers and prequests of its own.
#pragma once

#include "comm/partitioned/gpu/partitioned_gpu.hpp"
#include "device/gpu/device_buffer.hpp"

#include <numeric>
#include <vector>

namespace parhelion::test {

// A rank sends to the next and receives from the one before, in as many words as both counts divide.
struct Rank
{
    int rank, next, previous;
    SendPrequest* send;
    ReceivePrequest* receive;
    Word* out; // of the source
    Word* in;  // of the destination
    int words;
};

struct Ring
{
    std::vector<Rank> ranks;
    std::vector<GpuSendRequest> sends;
    std::vector<GpuReceiveRequest> receives;
    std::vector<DeviceBuffer<Word>> buffers;
    std::vector<Window> windows;
};

struct Counts
{
    int send, receive, per_signal;
};

struct How
{
    Mechanism mechanism = Mechanism::KernelCopy;
    Word first_epoch = 1;
    bool is_direct = false; // kernels store into the place of a partition
};

inline Ring make_ring(GpuWorld& world, GpuPartitioned& partitioned, const Counts& counts, const How& how = {})
{
    const int n = world.ranks(), words = std::lcm(counts.send, counts.receive) * 3;
    const std::size_t bytes = static_cast<std::size_t>(words) * sizeof(Word);
    Ring ring;
    for (int r = 0; r < n; ++r)
    {
        const bool is_here = world.is_here(r);
        if (is_here) { world.setup_queue(r).make_current(); }
        ring.buffers.emplace_back(static_cast<std::size_t>(is_here ? words : 0));
        const int rank[] = {r};
        const Window window = world.allocate(rank, bytes);
        ring.windows.push_back(window);
        const int next = (r + 1) % n, previous = (r + n - 1) % n;
        ring.receives.push_back(
            partitioned.precv_init(r, window, {counts.receive, bytes / static_cast<std::size_t>(counts.receive)}, {previous}));
        const auto* const buffer = how.is_direct ? nullptr : reinterpret_cast<const std::byte*>(ring.buffers.back().data());
        ring.sends.push_back(partitioned.psend_init(r, buffer, {counts.send, bytes / static_cast<std::size_t>(counts.send)},
                                                    {next}, {counts.per_signal, how.first_epoch},
                                                    world.reaches(r, next) ? how.mechanism : Mechanism::ProgressionEngine));
        ring.ranks.push_back({r, next, previous, nullptr, nullptr, ring.buffers.back().data(),
                              reinterpret_cast<Word*>(world.data(r, window)), words});
    }
    for (int r = 0; r < n; ++r)
    {
        const auto i = static_cast<std::size_t>(r);
        ring.ranks[i].send = ring.sends[i].prequest();
        ring.ranks[i].receive = ring.receives[i].prequest();
    }
    return ring;
}

} // namespace parhelion::test
