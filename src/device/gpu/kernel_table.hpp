// SPDX-License-Identifier: Apache-2.0
// A table of the kernels that this process has launched, in order of their first launch, with the resources they need.
// launch() fills the table; reading it queries the CUDA runtime. Cost: a look-up per launch, nothing when a graph is replayed.
#pragma once

#include "device/phase_clock.hpp"

#include <string>
#include <vector>

namespace parhelion {

struct LaunchedKernel
{
    std::string name; // the kernel's name without namespaces and template arguments
    PhaseTag phase;
    int blocks = 0, threads = 0;   // shape of the latest launch
    std::size_t shared_bytes = 0;  // shared memory of the latest launch, dynamic and static
    int registers = 0;             // registers per thread
    std::size_t spilled_bytes = 0; // local memory per thread
    double occupancy = 0;          // warps that run on a multiprocessor at once, divided by its maximum
};

// Returns the table. A kernel's number in trace records is its index in the table.
std::vector<LaunchedKernel> launched_kernels();

} // namespace parhelion
