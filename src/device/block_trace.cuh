// SPDX-License-Identifier: Apache-2.0
// How a kernel takes part in the timing of blocks: its first parameter is a BlockTrace, its first statement
//     const BlockSpan span(tracing);
// What is recorded is when the block's first thread came and went. Cost: see block_trace.hpp; 32 bytes of shared memory.
#pragma once

#include "device/block_trace.hpp"

namespace parhelion {

class BlockSpan
{
public:
    __device__ explicit BlockSpan(const BlockTrace& trace) : trace_(trace)
    {
        if (!records()) { return; }
        Begin& begin = at_begin();
        begin.header = *trace_.header;
        begin.time = now();
    }
    __device__ ~BlockSpan()
    {
        if (!records()) { return; }
        const Begin& begin = at_begin();
        unsigned multiprocessor;
        asm("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
        const std::uint64_t place = begin.header.first + trace_.first + (block() >> trace_.one_in);
        trace_.records[place & trace_.mask] = {begin.time,    now(),         begin.header.step + trace_.step,
                                               trace_.launch, trace_.kernel, static_cast<std::uint16_t>(multiprocessor)};
    }
    BlockSpan(const BlockSpan&) = delete;
    BlockSpan& operator=(const BlockSpan&) = delete;

private:
    struct Begin
    {
        TraceHeader header;
        std::uint64_t time;
    };
    // In shared memory: registers are dear in the kernels that count.
    __device__ static Begin& at_begin()
    {
        __shared__ Begin begin;
        return begin;
    }
    __device__ static unsigned block() { return blockIdx.y * gridDim.x + blockIdx.x; }
    __device__ bool records() const
    {
        return trace_.header != nullptr && threadIdx.x == 0 && (block() & ((1u << trace_.one_in) - 1)) == 0;
    }
    __device__ static std::uint64_t now()
    {
        std::uint64_t ns;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
        return ns;
    }

    const BlockTrace& trace_;
};

} // namespace parhelion
