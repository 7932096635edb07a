// SPDX-License-Identifier: Apache-2.0
// Timing inside kernels: every block leaves a record of when and where it ran, in a ring in device memory.
//
// The idea: where a record goes is known before the block runs. Whoever queues a launch reserves as many places as it has blocks
// and passes the first one to the kernel (launch.cuh does both); what changes when a graph is replayed, the ring's beginning and
// the step, is in device memory. So a block needs no atomic operation, and between its begin and its end nothing is held in a
// register. A kernel takes part by a first parameter of type BlockTrace and a BlockSpan (block_trace.cuh).
//
// Of a launch with very many blocks, one in 2, 4, 8 … leaves a record. Cost: nothing when off but a test of an argument; when on,
// a load, two readings of the clock and one 32-byte store a block.
#pragma once

#include "device/gpu/block_record.hpp"
#include "device/gpu/device_buffer.hpp"

#include <cstdint>

namespace parhelion {

// In device memory.
struct alignas(16) TraceHeader
{
    std::uint64_t first; // place in the ring of the first record of what runs now; counts on, never wraps
    std::int64_t step;   // that it begins with
};

// What a launch passes to its kernel. Without a header nothing is recorded.
struct BlockTrace
{
    const TraceHeader* header = nullptr;
    BlockRecord* records = nullptr;
    std::uint32_t mask = 0;  // places in the ring, less one
    std::uint32_t first = 0; // after that of the header
    std::uint32_t launch = 0;
    std::uint16_t kernel = 0;
    std::uint16_t step = 0;   // after that of the header
    std::uint32_t one_in = 0; // log2: of how many blocks in a row of the grid one leaves a record
    std::uint32_t row = 1;    // records of a row
};

class BlockTracer
{
public:
    explicit BlockTracer(GpuQueue& queue);

    // What is launched on queues that have this tracer, from here to end(), is recorded; both are queued, and may be captured.
    // `step` is in device memory.
    void begin(GpuQueue& queue, const std::int64_t* step);
    void at_step(std::int64_t offset) { step_ = static_cast<std::uint16_t>(offset); }
    void end(GpuQueue& queue);

    // For launch().
    BlockTrace reserve(std::uint16_t kernel, int blocks, int rows);

    void clear(GpuQueue& queue) { header_.clear(queue); } // queued
    // The latest, in the order of launches, those of a launch by block; no step is there in part. Waits.
    std::vector<BlockRecord> records(GpuQueue& queue) const;

private:
    DeviceBuffer<TraceHeader> header_; // one
    DeviceBuffer<BlockRecord> ring_;
    bool is_on_ = false;
    std::uint32_t reserved_ = 0, launches_ = 0; // since begin()
    std::uint16_t step_ = 0;
};

} // namespace parhelion
