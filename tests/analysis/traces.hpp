// SPDX-License-Identifier: Apache-2.0
// Timelines whose steps are known, written and read back as those of a run are.
#pragma once

#include "analysis/trace.hpp"
#include "trace/chrome_trace.hpp"
#include "trace/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace parhelion::test {

inline std::uint64_t ns(double us) { return static_cast<std::uint64_t>(us * 1000 + 0.5); }

// A file of the test's own.
inline std::string trace_file()
{
    const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
    return testing::TempDir() + "parhelion_" + test->name() + ".trace.json";
}

inline Trace read_back(const std::vector<Timeline>& timelines)
{
    write_chrome_trace(trace_file(), timelines);
    return read_trace(trace_file());
}

// Ranks on CPUs, whose phases follow each other.
class TracedRanks
{
public:
    explicit TracedRanks(int ranks)
    {
        for (int r = 0; r < ranks; ++r)
        {
            Timeline& t = timelines_.emplace_back();
            t.process = "rank " + std::to_string(r);
            t.tracks = {"phases"};
            t.names.assign(phase_names.begin(), phase_names.end());
        }
    }
    // Steps that follow begin at this time.
    void begin(std::int64_t step, double at_us) { step_ = step, zero_us_ = at_us; }
    void add(int rank, Phase phase, double from_us, double to_us)
    {
        timelines_[static_cast<std::size_t>(rank)].spans.push_back(
            {ns(zero_us_ + from_us), ns(zero_us_ + to_us), step_, 0, static_cast<std::size_t>(phase)});
    }
    std::vector<Timeline>& timelines() { return timelines_; }
    Trace trace() const { return read_back(timelines_); }

private:
    std::vector<Timeline> timelines_;
    std::int64_t step_ = 0;
    double zero_us_ = 0;
};

// A GPU, whose kernels leave a block on each of some multiprocessors.
class TracedGpu
{
public:
    TracedGpu(std::string name, std::vector<NamedKernel> kernels) : name_(std::move(name)), kernels_(std::move(kernels)) {}

    void begin(std::int64_t step, double at_us) { step_ = step, zero_us_ = at_us, launch_ = 0; }
    void run(const std::string& kernel, double from_us, double to_us, int multiprocessors = 1)
    {
        const auto at = std::find_if(kernels_.begin(), kernels_.end(), [&](const NamedKernel& k) { return k.name == kernel; });
        for (int m = 0; m < multiprocessors; ++m)
        {
            records_.push_back({ns(zero_us_ + from_us), ns(zero_us_ + to_us), step_, launch_,
                                static_cast<std::uint16_t>(at - kernels_.begin()), static_cast<std::uint16_t>(m)});
        }
        ++launch_;
    }
    const std::vector<BlockRecord>& records() const { return records_; }
    const std::vector<NamedKernel>& kernels() const { return kernels_; }
    Timeline timeline() const { return timeline_of_blocks(name_, kernels_, records_); }

private:
    std::string name_;
    std::vector<NamedKernel> kernels_;
    std::vector<BlockRecord> records_;
    std::int64_t step_ = 0;
    double zero_us_ = 0;
    std::uint32_t launch_ = 0;
};

} // namespace parhelion::test
