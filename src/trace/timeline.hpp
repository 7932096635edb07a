// SPDX-License-Identifier: Apache-2.0
// Turns records of blocks on a GPU's multiprocessors, or phases on a rank's threads, into
// spans of kernels. Computes the time that spans cover, and makes timelines for viewing.
//
// The idea: a block writes one record with all its data, from which all results are computed. Records are in the
// order of launches, so the blocks of a launch are contiguous. Cost: linear in the records, except for sorting spans.
#pragma once

#include "device/gpu/block_record.hpp"
#include "device/phase_clock.hpp"
#include "trace/phases.hpp"

#include <span>
#include <string>
#include <vector>

namespace parhelion {

// Returns the number of steps that have records. List intervals between
// recorded ones may be missing. A step that was repeated counts again.
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

// Returns the time during which at least one of the spans runs, ns.
std::uint64_t covered_time(std::vector<KernelSpan> spans);

// The activity of one GPU or one rank, in tracks. Spans of a track do not overlap.
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
    std::int64_t atoms = 0;              // home atoms when the run ended; 0: unknown
    std::vector<std::size_t> peers = {}; // timelines of the ranks with which it exchanges halos; empty: unknown
};

// Returns a timeline with a track for each phase, which has the spans of its kernels. One more track
// shows where steps were not recorded. Each multiprocessor has as many tracks as it ran blocks at a time.
Timeline timeline_of_blocks(std::string process, std::span<const NamedKernel> kernels, std::span<const BlockRecord> records);

// Returns a timeline with one track: the phases of the thread that drives a rank's queue.
Timeline timeline_of_phases(std::string process, const std::deque<PhaseSpan>& spans);

} // namespace parhelion
