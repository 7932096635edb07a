// SPDX-License-Identifier: Apache-2.0
// When what ran: blocks of kernels on a GPU's multiprocessors, phases on a rank's threads, and what is made of them: the spans of
// kernels, the time that some of them cover, a timeline to look at.
//
// The idea: a block leaves one record, which says all about it; everything else is derived. The order of records is that of
// launches, so the blocks of a launch lie together. Cost: linear in the records, but for sorting spans.
#pragma once

#include "device/gpu/block_record.hpp"
#include "device/phase_clock.hpp"
#include "trace/phases.hpp"

#include <span>
#include <string>
#include <vector>

namespace parhelion {

// How many steps the records are of. Between list intervals that were recorded others may not be, and a step that was done again
// counts again.
std::int64_t recorded_steps(std::span<const BlockRecord> records);

struct NamedKernel
{
    std::string name;
    Phase phase = Phase::Output;
};

// One launch of a kernel: from the begin of its first block to the end of its last.
struct KernelSpan
{
    std::uint64_t begin = 0, end = 0;
    std::int64_t step = 0;
    std::uint16_t kernel = 0;
};
std::vector<KernelSpan> kernel_spans(std::span<const BlockRecord> records);

// The time during which at least one of the spans runs, ns.
std::uint64_t covered_time(std::vector<KernelSpan> spans);

// What one GPU or one rank did, in tracks. Spans of a track do not overlap.
struct Timeline
{
    struct Span
    {
        std::uint64_t begin = 0, end = 0; // ns
        std::int64_t step = 0;
        std::size_t track = 0, name = 0;
    };
    std::string process;
    std::vector<std::string> tracks, names;
    std::vector<Span> spans;
};

// A track for each phase, with the spans of its kernels; one where steps between others left no records; and as many for each
// multiprocessor as it ran blocks at a time.
Timeline timeline_of_blocks(std::string process, std::span<const NamedKernel> kernels, std::span<const BlockRecord> records);

// One track, of the phases that the thread driving a rank's queue went through.
Timeline timeline_of_phases(std::string process, const std::deque<PhaseSpan>& spans);

} // namespace parhelion
