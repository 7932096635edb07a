// SPDX-License-Identifier: Apache-2.0
// Computes the local work, the nonlocal work and their non-overlap in a step on one of several GPUs, from the records
// of blocks. The non-overlap is the nonlocal work that the local work does not hide.
//
// The terms and intervals are those of Doijade et al., SC Workshops '25, section 6.3, so that figures can be compared:
//   local         from the begin to the end of the pair forces among home atoms
//   nonlocal      from the begin of the first kernel that sends halo positions (or, without one, of pair forces with halo atoms)
//                 to the end of the last kernel that exchanges forces, with all kernels and gaps between them
//   non-overlap   from the end of the local interval to the end of the nonlocal interval, at least 0.
// If the update sends positions and adds returned forces (engine/gpu/step_gpu.hpp), nonlocal work begins with the
// kernel that waits for positions and ends with the kernel that sends forces; the rest is in `update`. The values are
// means over steps without a repartition, as in that paper. Here a repartition is in a step with forces. Its own time
// is the excess of such a step over other steps, divided by all steps; the paper subtracts it from the run's wall
// time. A step lasts from its first block to the first block of the next step, so it includes the gaps between graphs.
//   mean time of a step = step + repartition;   step = local + non-overlap + other, if local work begins first
//
// Cost: linear in the records.
#pragma once

#include "trace/timeline.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace parhelion {

// Times in us.
struct StepWork
{
    double local = 0, nonlocal = 0, nonoverlap = 0;
    double update = 0;      // time of the kernels that apply constraints
    double other = 0;       // time that is neither local nor nonlocal: update, observables, gaps
    double step = 0;        // time of a step without a repartition
    double repartition = 0; // excess time of repartitions, divided by all steps
};
inline constexpr std::array<std::pair<std::string_view, double StepWork::*>, 7> step_work_parts = {{
    {"local", &StepWork::local},
    {"nonlocal", &StepWork::nonlocal},
    {"non-overlap", &StepWork::nonoverlap},
    {"update", &StepWork::update},
    {"other", &StepWork::other},
    {"step", &StepWork::step},
    {"repartition", &StepWork::repartition},
}};

// Returns the work of one GPU. If there is a halo, the second half of a step's launches of the pair kernel is
// local work, otherwise all these launches are. All values are zero if the records have no two consecutive steps.
StepWork step_work(std::span<const NamedKernel> kernels, std::span<const BlockRecord> records);
// Does the same for launches, in their order.
StepWork step_work_of_launches(std::span<const NamedKernel> kernels, std::span<const KernelSpan> launches);

} // namespace parhelion
