// SPDX-License-Identifier: Apache-2.0
#include "trace/timeline.hpp"

#include <algorithm>
#include <map>

namespace parhelion {

namespace {

bool is_of(const BlockRecord& record, const BlockRecord& other)
{
    return record.launch == other.launch && record.step == other.step && record.kernel == other.kernel;
}

std::vector<BlockRecord> in_order_of_begin(std::span<const BlockRecord> records)
{
    std::vector<BlockRecord> sorted(records.begin(), records.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const BlockRecord& a, const BlockRecord& b) { return a.begin < b.begin; });
    return sorted;
}

// Puts each block on the first track of its multiprocessor that is free when it begins.
void add_blocks(std::span<const BlockRecord> records, Timeline& timeline)
{
    struct Track
    {
        std::size_t number;
        std::uint64_t free_from;
    };
    std::map<std::uint16_t, std::vector<Track>> of_multiprocessor;
    for (const BlockRecord& r : in_order_of_begin(records))
    {
        std::vector<Track>& tracks = of_multiprocessor[r.multiprocessor];
        auto track = std::find_if(tracks.begin(), tracks.end(), [&](const Track& t) { return t.free_from <= r.begin; });
        if (track == tracks.end())
        {
            timeline.tracks.push_back("multiprocessor " + std::to_string(r.multiprocessor));
            track = tracks.insert(track, {timeline.tracks.size() - 1, 0});
        }
        track->free_from = r.end;
        timeline.spans.push_back({r.begin, r.end, r.step, track->number, r.kernel});
    }
}

// Adds a span from the end of one recorded list interval to the begin of the next, if steps between them were not recorded.
void add_gaps(std::span<const BlockRecord> records, Timeline& timeline)
{
    const std::size_t track = timeline.tracks.size(), name = timeline.names.size();
    timeline.tracks.emplace_back("not recorded"), timeline.names.emplace_back("steps not recorded");
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < records.size(); ++i)
    {
        if (i > 0 && records[i].step > records[i - 1].step + 1)
        {
            std::uint64_t begin = records[i].begin;
            for (std::size_t k = i; k < records.size() && records[k].step == records[i].step; ++k)
            {
                begin = std::min(begin, records[k].begin);
            }
            timeline.spans.push_back({end, begin, records[i - 1].step + 1, track, name});
        }
        end = std::max(end, records[i].end);
    }
}

} // namespace

std::int64_t recorded_steps(std::span<const BlockRecord> records)
{
    std::int64_t steps = 0;
    for (std::size_t i = 0; i < records.size(); ++i)
    {
        const bool begins_step = i == 0 || records[i].step != records[i - 1].step || records[i].launch < records[i - 1].launch;
        steps += begins_step ? 1 : 0;
    }
    return steps;
}

std::vector<KernelSpan> kernel_spans(std::span<const BlockRecord> records)
{
    std::vector<KernelSpan> spans;
    for (std::size_t i = 0; i < records.size(); ++i)
    {
        const BlockRecord& r = records[i];
        if (i == 0 || !is_of(r, records[i - 1])) { spans.push_back({r.begin, r.end, r.step, r.kernel}); }
        spans.back().begin = std::min(spans.back().begin, r.begin);
        spans.back().end = std::max(spans.back().end, r.end);
    }
    return spans;
}

std::uint64_t covered_time(std::vector<KernelSpan> spans)
{
    std::sort(spans.begin(), spans.end(), [](const KernelSpan& a, const KernelSpan& b) { return a.begin < b.begin; });
    std::uint64_t covered = 0, until = 0;
    for (const KernelSpan& s : spans)
    {
        const std::uint64_t from = std::max(s.begin, until);
        if (s.end > from) { covered += s.end - from; }
        until = std::max(until, s.end);
    }
    return covered;
}

Timeline timeline_of_blocks(std::string process, std::span<const NamedKernel> kernels, std::span<const BlockRecord> records)
{
    Timeline timeline;
    timeline.process = std::move(process);
    timeline.tracks.assign(phase_names.begin(), phase_names.end());
    for (const NamedKernel& kernel : kernels) { timeline.names.push_back(kernel.name); }
    for (const KernelSpan& s : kernel_spans(records))
    {
        timeline.spans.push_back({s.begin, s.end, s.step, static_cast<std::size_t>(kernels[s.kernel].phase), s.kernel});
    }
    add_gaps(records, timeline);
    add_blocks(records, timeline);
    return timeline;
}

Timeline timeline_of_phases(std::string process, const std::deque<PhaseSpan>& spans)
{
    Timeline timeline;
    timeline.process = std::move(process);
    timeline.tracks = {"phases"};
    timeline.names.assign(phase_names.begin(), phase_names.end());
    const auto ns = [](PhaseClock::Time time) {
        return static_cast<std::uint64_t>(std::chrono::nanoseconds(time.time_since_epoch()).count());
    };
    for (const PhaseSpan& s : spans) { timeline.spans.push_back({ns(s.begin), ns(s.end), s.step, 0, s.phase.index()}); }
    return timeline;
}

} // namespace parhelion
