// SPDX-License-Identifier: Apache-2.0
// A one-shot all-reduce by packets: 8 bytes of elements and the epoch, stored and loaded as one. Whoever finds the epoch has the
// elements, so that there is no signal, no release that waits until the payload has arrived, and no block barrier between steps.
// Twice the bytes, for buffers that are small.
//
// Orders.   Both words of a packet are one access; nothing else is read because of it.
// Reuse.    Epochs take turns at two slots, without credits: who has all packets of epoch e + 1 knows that all members have
//           read his of e, as each sends e + 1 behind the end of its e; so e + 2 may overwrite e. It is the argument of sums over
//           ranks, model all_reduce.pml. An end is a block barrier or that of a kernel, and a load that has found its epoch has
//           been done. So a slot shows no epoch beyond the one that is waited for.
// Epochs    are the request's own, from 1, in slots that are zero at first.
// Bits.     Members' inputs in the order of their places, as the schedule says (comm/partitioned/schedule.hpp).
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "comm/partitioned/gpu/collectives_gpu.hpp"

namespace parhelion {

// Up to 8 bytes of elements; zeros where there are none.
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

// Until the packet of the epoch is there; its elements. False if the wait was in vain.
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

// The whole way of a partition whose input is there, by all threads of a block, each with packets of its own. False if a wait was
// in vain.
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
        for (int distance = 1; distance < request.members; ++distance) // so that not all send to one first
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
