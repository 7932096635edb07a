// SPDX-License-Identifier: Apache-2.0
// Computes which fraction of a GPU's multiprocessors has a block of any kernel, and of each kernel, over time.
//
// In a launch with very many blocks only some blocks leave records (device/gpu/block_trace.hpp), spread over the whole launch.
// So the computed occupancy is a lower bound. It is close to the true one if blocks follow each other on a multiprocessor.
#include "analysis/analysis.hpp"
#include "analysis/steps.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace parhelion {

namespace {

constexpr std::size_t stretches = 240; // number of intervals of the typical step

// Calls visit(kernel, begin, end) for every interval in which a multiprocessor has a block of a kernel. With `of_any` the
// intervals are those with a block of any kernel, and `kernel` is the number of the kernel of the interval's first block.
template <class Visit>
void visit_busy(std::vector<TracedBlock>& blocks, bool of_any, const Visit& visit)
{
    const auto kernel = [&](const TracedBlock& b) { return of_any ? std::uint16_t{0} : b.name; };
    std::sort(blocks.begin(), blocks.end(), [&](const TracedBlock& a, const TracedBlock& b) {
        return std::tuple(kernel(a), a.multiprocessor, a.begin) < std::tuple(kernel(b), b.multiprocessor, b.begin);
    });
    for (std::size_t i = 0; i < blocks.size();)
    {
        const TracedBlock& first = blocks[i];
        const std::uint64_t begin = first.begin;
        std::uint64_t end = begin + first.ns;
        for (++i; i < blocks.size() && kernel(blocks[i]) == kernel(first) && blocks[i].multiprocessor == first.multiprocessor &&
                  blocks[i].begin <= end;
             ++i)
        {
            end = std::max(end, blocks[i].begin + blocks[i].ns);
        }
        visit(first.name, begin, end);
    }
}

// The time of the counted steps (TracedStep::is_counted), as intervals. Steps that follow each other make one interval.
class CountedTime
{
public:
    explicit CountedTime(const std::vector<TracedStep>& steps)
    {
        for (std::size_t s = 0; s + 1 < steps.size(); ++s)
        {
            if (!steps[s].is_counted()) { continue; }
            if (!ends_.empty() && ends_.back() == steps[s].begin) { ends_.back() = steps[s + 1].begin; }
            else { begins_.push_back(steps[s].begin), ends_.push_back(steps[s + 1].begin); }
            total_ += steps[s + 1].begin - steps[s].begin;
        }
    }
    double total() const { return static_cast<double>(total_); }
    double within(std::uint64_t begin, std::uint64_t end) const
    {
        std::uint64_t sum = 0;
        const auto first = std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin();
        for (auto i = static_cast<std::size_t>(first); i < ends_.size() && begins_[i] < end; ++i)
        {
            sum += std::min(end, ends_[i]) - std::max(begin, begins_[i]);
        }
        return static_cast<double>(sum);
    }

private:
    std::vector<std::uint64_t> begins_, ends_;
    std::uint64_t total_ = 0;
};

// Divides a step into equal intervals, and adds to shares[i] for how many ns [begin, end) overlaps with interval i.
void add_to_stretches(const TracedStep& step, std::uint64_t begin, std::uint64_t end, std::vector<double>& shares)
{
    const double width = step.us * 1000 / stretches, zero = static_cast<double>(step.begin);
    const double from = std::max(0.0, static_cast<double>(begin) - zero),
                 to = std::min(step.us * 1000, static_cast<double>(end) - zero);
    for (auto i = static_cast<std::size_t>(from / width); i < stretches && static_cast<double>(i) * width < to; ++i)
    {
        const double low = static_cast<double>(i) * width;
        shares[i] += std::max(0.0, std::min(to, low + width) - std::max(from, low));
    }
}

} // namespace

std::vector<Occupancy> occupancy_of(const Trace& trace, const std::vector<TracedStep>& steps, std::size_t typical)
{
    std::vector<Occupancy> list;
    const CountedTime counted(steps);
    const TracedStep& step = steps[typical];
    for (const TracedProcess& process : trace.processes)
    {
        if (process.blocks.empty()) { continue; }
        Occupancy& occupancy = list.emplace_back();
        occupancy.process = process.name, occupancy.typical_us = step.us;
        std::set<std::uint16_t> multiprocessors;
        for (const TracedBlock& block : process.blocks) { multiprocessors.insert(block.multiprocessor); }
        occupancy.multiprocessors = multiprocessors.size();
        const auto n = static_cast<double>(multiprocessors.size()), width = step.us * 1000 / stretches;

        std::vector<TracedBlock> blocks = process.blocks;
        occupancy.share.assign(stretches, 0);
        visit_busy(blocks, true, [&](std::uint16_t, std::uint64_t begin, std::uint64_t end) {
            occupancy.busy += counted.within(begin, end) / (n * counted.total());
            add_to_stretches(step, begin, end, occupancy.share);
        });
        std::vector<std::optional<Occupancy::Kernel>> kernels(trace.names.size());
        visit_busy(blocks, false, [&](std::uint16_t name, std::uint64_t begin, std::uint64_t end) {
            if (!kernels[name]) { kernels[name] = {trace.names[name].name, 0, std::vector<double>(stretches)}; }
            kernels[name]->mean += counted.within(begin, end) / (n * counted.total());
            add_to_stretches(step, begin, end, kernels[name]->share);
        });
        for (std::optional<Occupancy::Kernel>& kernel : kernels)
        {
            if (kernel) { occupancy.kernels.push_back(std::move(*kernel)); }
        }
        const auto normalise = [&](std::vector<double>& shares) {
            for (double& share : shares) { share /= n * width; }
        };
        normalise(occupancy.share);
        for (Occupancy::Kernel& kernel : occupancy.kernels) { normalise(kernel.share); }
        std::stable_sort(occupancy.kernels.begin(), occupancy.kernels.end(),
                         [](const Occupancy::Kernel& a, const Occupancy::Kernel& b) { return a.mean > b.mean; });
    }
    return list;
}

} // namespace parhelion
