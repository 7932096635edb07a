// SPDX-License-Identifier: Apache-2.0
// Timing inside kernels: every block writes a record of when and where it ran to a ring buffer in device memory.
//
// The idea: the place of a record is known before the block runs. The code that queues a launch reserves one place per
// block and passes the first place to the kernel (launch.cuh does both). The start of the ring and the step change when a
// graph is replayed, so they are in device memory. A block therefore needs no atomic operation and keeps nothing in a
// register while it works. A kernel takes part by a first parameter of type BlockTrace and a BlockSpan (block_trace.cuh).
//
// In a launch with very many blocks, only one block in 2, 4, 8 … writes a record. Cost when off: a test
// of an argument. Cost when on: per block a load, two readings of the clock and one 32-byte store.
#pragma once

#include "device/gpu/block_record.hpp"
#include "device/gpu/device_buffer.hpp"

#include <cstdint>

namespace parhelion {

// The part of the tracing arguments that changes from replay to replay. It is in device memory.
struct alignas(16) TraceHeader
{
    std::uint64_t first; // place in the ring of the first record of the next launches; it only grows, never wraps
    std::int64_t step;   // step number from which BlockTrace::step counts
};

// The tracing arguments that a launch passes to its kernel. Nothing is recorded if `header` is null.
struct BlockTrace
{
    const TraceHeader* header = nullptr;
    BlockRecord* records = nullptr;
    std::uint32_t mask = 0;  // number of places in the ring, minus one: a mask for places
    std::uint32_t first = 0; // place of this launch's first record, counted from TraceHeader::first
    std::uint32_t launch = 0;
    std::uint16_t kernel = 0;
    std::uint16_t step = 0;   // step number, counted from TraceHeader::step
    std::uint32_t one_in = 0; // log2 of n: one block in n of a row of the grid writes a record
    std::uint32_t row = 1;    // number of records per row of the grid
};

class BlockTracer
{
public:
    explicit BlockTracer(GpuQueue& queue);

    // Records launches between begin() and end() on queues that have this tracer. The operations
    // of begin() and end() are queued and may be captured. `step` is in device memory.
    void begin(GpuQueue& queue, const std::int64_t* step);
    void at_step(std::int64_t offset) { step_ = static_cast<std::uint16_t>(offset); }
    void end(GpuQueue& queue);

    // Reserves places for the records of a launch, and returns the arguments for its kernel. launch() calls it.
    BlockTrace reserve(std::uint16_t kernel, int blocks, int rows);

    void clear(GpuQueue& queue) { header_.clear(queue); } // removes all records; the operation is queued
    // Returns the latest records, by launch and then by block, of complete steps only. Waits for the GPU.
    std::vector<BlockRecord> records(GpuQueue& queue) const;

private:
    DeviceBuffer<TraceHeader> header_; // has one element
    DeviceBuffer<BlockRecord> ring_;
    bool is_on_ = false;
    std::uint32_t reserved_ = 0, launches_ = 0; // places reserved, and launches counted, since begin()
    std::uint16_t step_ = 0;
};

} // namespace parhelion
