// SPDX-License-Identifier: Apache-2.0
// A kernel in which ranks of a ring send each other partitioned messages, a rank a block, which does everything; and what may go
// wrong in it.
#pragma once

#include "comm/gpu_ranks.cuh"
#include "comm/partitioned/gpu/partitioned.cuh"
#include "comm/partitioned/ring_gpu.hpp"

namespace parhelion::test {

enum class Level
{
    Block,
    Warp,
    Lane
};
enum class Fault
{
    None,
    SignalLost,    // rank 1 leaves one partition out, from fault_epoch on
    NeverStarted,  // rank 1 starts no epoch from fault_epoch on
    MarkedTooEarly // rank 1 marks a partition before it has written it
};
inline constexpr Word fault_epoch = 4;

__device__ inline void send_epoch(const Rank& r, Word epoch, Level level, Fault fault)
{
    SendPrequest& send = *r.send;
    const int thread = static_cast<int>(threadIdx.x), partitions = send.core.route().counts.send, share = r.words / partitions;
    const bool is_faulty = r.rank == 1 && epoch >= fault_epoch;
    const auto write = [&](int from, int to, int first, int step) {
        for (int i = from + first; i < to; i += step) { r.out[i] = payload_word(epoch, r.rank, r.next, i); }
    };
    if (is_faulty && fault == Fault::MarkedTooEarly)
    {
        block_pready(send, 0);
        for (int i = 0; i < 200; ++i) { __nanosleep(1000); } // a proxy takes its time
        __syncthreads();
    }
    const int skipped = is_faulty && fault == Fault::MarkedTooEarly ? 0 : -1;
    const int lost = is_faulty && fault == Fault::SignalLost ? partitions - 1 : -1;
    const Credit credit = epoch % 4 == 3 ? Credit::Seen : Credit::ToBeSeen; // by one thread, for all
    if (credit == Credit::Seen && __syncthreads_or(thread == 0 && !pbuf_prepare(send))) { return; }
    if (level == Level::Block)
    {
        for (int k = 0; k < partitions; ++k)
        {
            const int p = static_cast<int>((static_cast<Word>(k) + epoch) % static_cast<Word>(partitions));
            write(p * share, (p + 1) * share, thread, block_threads);
            if (thread == 0) { random_delay(epoch * 64 + static_cast<Word>(p)); }
            if (p != skipped && p != lost) { block_pready(send, p, credit); }
        }
        return;
    }
    const int lanes = 32, warp = thread / lanes, lane = thread % lanes;
    if (level == Level::Warp)
    {
        for (int p = warp; p < partitions; p += block_threads / lanes)
        {
            write(p * share, (p + 1) * share, lane, lanes);
            if (lane == 0) { random_delay(epoch * 64 + static_cast<Word>(p)); }
            warp_pready(send, p, credit);
        }
        return;
    }
    for (int begin = warp * lanes; begin < partitions; begin += block_threads)
    {
        const int p = partitions - 1 - (begin + lane); // neighbours, from the end
        if (p >= 0) { write(p * share, (p + 1) * share, 0, 1); }
        warp_pready_each(send, p >= 0 ? p : no_partition, credit);
    }
}

__device__ inline int wrong_words(const Rank& r, Word epoch, int partition)
{
    const int share = r.words / r.receive->core.route().counts.receive;
    int wrong = 0;
    for (int i = partition * share + static_cast<int>(threadIdx.x); i < (partition + 1) * share; i += block_threads)
    {
        wrong += r.in[i] != payload_word(epoch, r.previous, r.rank, i) ? 1 : 0;
    }
    return wrong;
}

__device__ inline void poison(Word* words, int n)
{
    for (int i = static_cast<int>(threadIdx.x); i < n; i += block_threads) { words[i] = 0xDBDBDBDBDBDBDBDB; }
}

static __global__ void ring_kernel(Rank* of_block, unsigned long long* errors, int epochs, Level level, Fault fault)
{
    const Rank& r = of_block[blockIdx.x];
    for (Word epoch = 1; epoch <= static_cast<Word>(epochs); ++epoch)
    {
        poison(r.in, r.words);
        __syncthreads();
        if (threadIdx.x == 0)
        {
            random_delay(epoch * 1024 + static_cast<Word>(r.rank));
            if (fault != Fault::NeverStarted || r.rank != 1 || epoch < fault_epoch) { start(*r.receive); }
            start(*r.send);
        }
        __syncthreads();
        send_epoch(r, epoch, level, fault);
        // In turns: each partition as it arrives, and all when they have.
        const bool waits_first = epoch % 2 == 0;
        if (waits_first && !block_wait(*r.receive)) { return; }
        for (int p = 0; p < r.receive->core.route().counts.receive; ++p)
        {
            if (!block_wait_parrived(*r.receive, p)) { return; }
            const bool has_arrived = parrived(*r.receive, p);
            const int wrong = wrong_words(r, epoch, p) + (has_arrived ? 0 : 1);
            if (wrong > 0) { atomicAdd_system(errors, static_cast<unsigned long long>(wrong)); }
        }
        __syncthreads();
        if (!block_wait(*r.receive) || !block_wait(*r.send)) { return; }
        poison(r.out, r.words);
    }
}

inline unsigned long long ring_errors(GpuWorld& world, const Ring& ring, int epochs, Level level, Fault fault = Fault::None)
{
    RankBlocks<Rank> blocks(world, ring.ranks);
    blocks.launch_all(ring_kernel, epochs, level, fault);
    return blocks.errors();
}

} // namespace parhelion::test
