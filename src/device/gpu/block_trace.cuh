// SPDX-License-Identifier: Apache-2.0
// Lets a kernel take part in the timing of blocks: its first parameter is a BlockTrace, and its first statement is
//     const BlockSpan span(tracing);
// BlockSpan records when the block's first thread began and ended. Cost: see block_trace.hpp; 8 bytes of shared memory.
#pragma once

#include "device/gpu/block_trace.hpp"
#include "device/gpu/instructions.cuh"

namespace parhelion {

class BlockSpan
{
public:
    __device__ explicit BlockSpan(const BlockTrace& trace) : trace_(trace)
    {
        if (records()) { begin() = global_nanoseconds(); }
    }
    __device__ ~BlockSpan()
    {
        if (!records()) { return; }
        const TraceHeader header = *trace_.header; // loaded at the end: earlier, its latency would count as the block's time
        const std::uint64_t end = global_nanoseconds();
        const unsigned multiprocessor = multiprocessor_number();
        const std::uint64_t place = header.first + trace_.first + blockIdx.y * trace_.row + (blockIdx.x >> trace_.one_in);
        trace_.records[place & trace_.mask] = {begin(),       end,           header.step + trace_.step,
                                               trace_.launch, trace_.kernel, static_cast<std::uint16_t>(multiprocessor)};
    }
    BlockSpan(const BlockSpan&) = delete;
    BlockSpan& operator=(const BlockSpan&) = delete;

private:
    // The begin is kept in shared memory, because registers are scarce in the kernels whose time matters.
    __device__ static std::uint64_t& begin()
    {
        __shared__ std::uint64_t time;
        return time;
    }
    __device__ bool records() const
    {
        return trace_.header != nullptr && threadIdx.x == 0 && (blockIdx.x & ~(~0u << trace_.one_in)) == 0;
    }

    const BlockTrace& trace_;
};

} // namespace parhelion
