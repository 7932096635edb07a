// SPDX-License-Identifier: Apache-2.0
// Finds the steps of a trace that all processes took: the activities of each process in a step, the length of the step, and its
// kind.
//
// A step lasts from its first activity on any process to that of the next step, so lengths of steps that follow each other add up
// to wall time. Two kinds of steps are not counted in means. The first step of ranks on CPUs contains the start of the run, or is
// incomplete. A step without the next one in the trace has no known end: the last step, and on a GPU the last before steps
// without records. A step that was done again counts again. Cost: linear in the activities.
#pragma once

#include "analysis/trace.hpp"

#include <cstddef>
#include <vector>

namespace parhelion {

// Returns true for the phases in which a process waits for messages of its peers.
constexpr bool is_exchange(Phase phase)
{
    return phase == Phase::Migrate || phase == Phase::SendCoordinates || phase == Phase::MeshExchange ||
           phase == Phase::ReturnForces || phase == Phase::Reduce;
}

// Activities [first, end) of a process.
struct ActivityRange
{
    std::size_t first = 0, end = 0;
};

struct TracedStep
{
    std::int64_t step = 0;
    std::uint64_t begin = 0;       // ns
    double us = 0;                 // length of the step, us; 0: unknown, so the step is not counted
    bool repartitions = false;     // the step computes a new order of atoms
    bool outputs = false;          // the step computes observables or frames
    bool follows = false;          // the previous entry of the list is step number `step` - 1
    std::vector<ActivityRange> of; // indexed by process

    bool is_counted() const { return us > 0; }
};

// Returns the steps that all processes have, in the order of time. Throws InputError E198 if is_counted() is true for none.
std::vector<TracedStep> find_steps(const Trace& trace);

} // namespace parhelion
