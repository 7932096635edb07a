// SPDX-License-Identifier: Apache-2.0
// The kernels this process has launched, in order of their first launch: what they are and what they need. launch() keeps the
// table; reading it asks the CUDA runtime. Cost: a look-up a launch, none when a graph is replayed.
#pragma once

#include "device/phase_clock.hpp"

#include <string>
#include <vector>

namespace parhelion {

struct LaunchedKernel
{
    std::string name; // without namespaces and template arguments
    PhaseTag phase;
    int blocks = 0, threads = 0;   // of the latest launch
    std::size_t shared_bytes = 0;  // of it, dynamic and static
    int registers = 0;             // a thread
    std::size_t spilled_bytes = 0; // a thread's local memory
    double occupancy = 0;          // warps that fit of those a multiprocessor can hold
};

// A kernel's number in records is its place here.
std::vector<LaunchedKernel> launched_kernels();

} // namespace parhelion
