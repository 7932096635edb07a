// SPDX-License-Identifier: Apache-2.0
// A one-shot all-reduce by packets. A packet is 8 bytes of elements and the epoch, stored and loaded in one access. A thread
// that finds the awaited epoch in a packet has its elements, too. So there are no signals, no releases that wait for the
// payload, and no block barriers between steps. Packets double the number of bytes, so they are for small buffers.
//
// Orders.   The two words of a packet are loaded and stored in one access. No other load depends on this access.
// Reuse.    Epochs alternate between two slots, without credits. A member that has all packets of epoch e + 1 knows that all
//           members have read its packets of e, as each sends e + 1 after the end of its e. So e + 2 may overwrite e, as in
//           sums over ranks (model all_reduce.pml). An epoch ends with a block barrier or a kernel, after the loads that found
//           its packets. So a slot shows no epoch beyond the one that is waited for.
// Epochs    The request counts its own epochs, from 1, and the slots are zero at first.
// Bits.     Members' inputs are combined in the order of their places, as in the schedule (comm/partitioned/schedule.hpp).
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "comm/partitioned/gpu/collectives_gpu.hpp"

namespace parhelion {

// Returns up to 8 bytes of elements, with zeros in place of elements beyond `count`.
template <class T>
__device__ Word load_elements(const T* from, std::size_t count)
{
    constexpr std::size_t n = sizeof(Word) / sizeof(T);
    if (count >= n && reinterpret_cast<std::uintptr_t>(from) % sizeof(Word) == 0) { return *reinterpret_cast<const Word*>(from); }
    Pack<T, n> pack{};
    for (std::size_t k = 0; k < n && k < count; ++k) { pack.of[k] = from[k]; }
    return std::bit_cast<Word>(pack);
}
template <class T, int n>
__device__ void store_elements(T* to, std::size_t count, const Pack<T, n>& pack)
{
    if (count >= n && reinterpret_cast<std::uintptr_t>(to) % sizeof(Word) == 0) { *reinterpret_cast<Pack<T, n>*>(to) = pack; }
    else
    {
        for (std::size_t k = 0; k < n && k < count; ++k) { to[k] = pack.of[k]; }
    }
}

// Waits for the epoch's packet and loads its elements into `elements`. Returns false if the wait failed.
__device__ inline bool wait_packet(const CollectivePrequest& request, int from, Packet* slot, Word epoch, Word& elements)
{
    Packet seen = load_packet(slot);
    Patience<CudaAtomics> patience(*request.watch);
    for (bool is_last_look = false; seen.epoch != epoch; seen = load_packet(slot))
    {
        if (is_last_look)
        {
            fail<CudaAtomics>(*request.watch, {request.watch->rank, request.packets.ranks[from], request.channel, Awaited::Signal,
                                               epoch, seen.epoch, 0, *request.watch->tag});
            return false;
        }
        const Verdict verdict = patience.next();
        if (verdict == Verdict::Aborted) { return false; }
        is_last_look = verdict == Verdict::Expired;
    }
    elements = seen.elements;
    return true;
}

// Does all the work of a partition whose input is complete. All threads of a block call it, and each handles packets of its own.
// Returns false if a wait failed.
template <class T, Reduction reduction>
__device__ bool block_packets(const CollectivePrequest& request, int partition, Word epoch)
{
    constexpr int n = sizeof(Word) / sizeof(T);
    const std::size_t count = request.layouts.input.count, packets = (count + n - 1) / n;
    const std::size_t begin = static_cast<std::size_t>(partition) * count, step = blockDim.x;
    const T* const input = reinterpret_cast<const T*>(request.input) + begin;
    T* const result = reinterpret_cast<T*>(request.result) + begin;
    const auto slots = [&](int at, int from) {
        const Word part =
            (epoch % 2 * static_cast<Word>(request.members) + static_cast<Word>(from)) * static_cast<Word>(request.partitions) +
            static_cast<Word>(partition);
        return request.packets.slots[at] + part * packets;
    };
    for (std::size_t i = threadIdx.x; i < packets; i += step)
    {
        const Word elements = load_elements(input + i * n, count - i * n);
        for (int distance = 1; distance < request.members; ++distance) // begins at a different member on each member
        {
            const int to = (request.place + distance) % request.members;
            store_packet(slots(to, request.place) + i, {elements, epoch});
        }
    }
    bool has_failed = false;
    for (std::size_t i = threadIdx.x; i < packets && !has_failed; i += step)
    {
        decltype(widened(T{})) sums[n] = {};
        for (int m = 0; m < request.members && !has_failed; ++m)
        {
            Word elements = 0;
            if (m == request.place) { elements = load_elements(input + i * n, count - i * n); }
            else { has_failed = !wait_packet(request, m, slots(request.place, m) + i, epoch, elements); }
            const auto pack = std::bit_cast<Pack<T, n>>(elements);
            for (int k = 0; k < n; ++k)
            {
                sums[k] = m == 0 ? widened(pack.of[k]) : combined<reduction>(sums[k], widened(pack.of[k]));
            }
        }
        Pack<T, n> pack;
        for (int k = 0; k < n; ++k) { narrow(pack.of[k], sums[k]); }
        if (!has_failed) { store_elements(result + i * n, count - i * n, pack); }
    }
    return !__syncthreads_or(has_failed);
}

} // namespace parhelion
