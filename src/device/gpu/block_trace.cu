// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/block_trace.hpp"

#include "device/gpu/launch.cuh"

#include <algorithm>
#include <bit>

namespace parhelion {

namespace {

constexpr std::size_t ring_size = std::size_t{1} << 19; // records, a power of two; 16 MiB
constexpr std::uint32_t most_records = 1 << 13;         // maximum number of records for one row of a launch's grid

// Purpose        stores the step number from which the next records count
// Work           one thread
// Reads/Writes   the step / the header
// Orders         nothing; the order of the stream suffices
// Requires       -
// Cost           a launch
__global__ void begin_trace_kernel(const std::int64_t* step, TraceHeader* header) { header->step = *step; }

// Purpose        moves the start of the ring behind the records written since begin()
// Work           one thread
// Reads/Writes   the header (both)
// Orders         nothing; the order of the stream suffices
// Requires       -
// Cost           a launch
__global__ void end_trace_kernel(TraceHeader* header, std::uint64_t records) { header->first += records; }

} // namespace

BlockTracer::BlockTracer(GpuQueue& queue) : header_(1), ring_(ring_size)
{
    header_.clear(queue), ring_.clear(queue);
    queue.synchronize();
}

void BlockTracer::begin(GpuQueue& queue, const std::int64_t* step)
{
    is_on_ = true;
    reserved_ = launches_ = 0;
    step_ = 0;
    launch(queue, PhaseTag{}, begin_trace_kernel, {1, 1, 0}, step, header_.data());
}

void BlockTracer::end(GpuQueue& queue)
{
    is_on_ = false;
    launch(queue, PhaseTag{}, end_trace_kernel, {1, 1, 0}, header_.data(), reserved_);
}

BlockTrace BlockTracer::reserve(std::uint16_t kernel, int blocks, int rows)
{
    if (!is_on_) { return {}; }
    const auto last = static_cast<std::uint32_t>(blocks) - 1;
    const std::uint32_t one_in = std::bit_width(last / most_records);
    const BlockTrace trace{.header = header_.data(),
                           .records = ring_.data(),
                           .mask = static_cast<std::uint32_t>(ring_size - 1),
                           .first = reserved_,
                           .launch = launches_++,
                           .kernel = kernel,
                           .step = step_,
                           .one_in = one_in,
                           .row = (last >> one_in) + 1};
    reserved_ += trace.row * static_cast<std::uint32_t>(rows);
    return trace;
}

std::vector<BlockRecord> BlockTracer::records(GpuQueue& queue) const
{
    const std::uint64_t end = header_.to_vector(queue)[0].first;
    const std::vector<BlockRecord> ring = ring_.to_vector(queue);
    const std::uint64_t kept = std::min<std::uint64_t>(end, ring_size);
    std::vector<BlockRecord> latest;
    for (std::uint64_t place = end - kept; place < end; ++place) { latest.push_back(ring[place % ring_size]); }
    if (kept < end) // some records of the first step may be overwritten
    {
        const std::int64_t cut = latest.front().step;
        latest.erase(latest.begin(),
                     std::find_if(latest.begin(), latest.end(), [&](const BlockRecord& r) { return r.step != cut; }));
    }
    return latest;
}

} // namespace parhelion
