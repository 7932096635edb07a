// SPDX-License-Identifier: Apache-2.0
// Reads a timeline that a run has written (trace/chrome_trace.hpp): the times and the step of each phase and kernel of a process.
//
// The idea: a phase of a rank on CPUs and a launch of a kernel on a GPU are both called an activity, so that one analysis serves
// both. Activities of a process are in the order of the file, which is the order of launches. Cost: the file is mapped and read
// once. An activity takes 32 bytes of memory, a block 24.
#pragma once

#include "trace/phases.hpp"
#include "trace/timeline.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace parhelion {

// A phase of a rank, or a launch of a kernel on a GPU. Times in ns since the first span of the file.
struct Activity
{
    std::uint64_t begin = 0, end = 0;
    std::int64_t step = 0;
    std::uint16_t name = 0; // index in Trace::names
    Phase phase = Phase::Output;
};

// A block of a kernel on a multiprocessor.
struct TracedBlock
{
    std::uint64_t begin = 0;
    std::uint32_t ns = 0;
    std::uint16_t name = 0, multiprocessor = 0;
};

// A GPU, or a rank on CPUs.
struct TracedProcess
{
    std::string name;
    bool is_gpu = false;
    std::int64_t atoms = 0;         // home atoms when the run ended; 0: not in the file
    std::vector<std::size_t> peers; // processes with which it exchanges halos; empty: not in the file
    std::vector<Activity> activities;
    std::vector<TracedBlock> blocks;
};

struct Trace
{
    std::string path;
    std::vector<NamedKernel> names; // names of kernels, and of the phases of ranks
    std::vector<TracedProcess> processes;

    bool is_of_gpus() const { return !processes.empty() && processes.front().is_gpu; }
};

// Returns the contents of a timeline. Throws InputError E110 if the file cannot be read, and E197 with the line if the file is
// truncated or was not written by write_chrome_trace().
Trace read_trace(const std::filesystem::path& path);

} // namespace parhelion
