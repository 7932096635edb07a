// SPDX-License-Identifier: Apache-2.0
// What a step on a GPU consists of when several share the work: local work, nonlocal work, and how much of the second the first
// does not hide; from the records of blocks.
//
// The words and intervals are those of Doijade et al., SC Workshops '25, section 6.3, so that figures can be laid side by side:
//   local         from the begin to the end of the pair forces among home atoms
//   nonlocal      from the begin of the first kernel that sends halo positions, or of pair forces with halo atoms where there is
//                 none, to the end of the last that exchanges forces, with what runs between them, and all gaps
//   non-overlap   from the end of the first interval to the end of the second, at least 0
// Where the update sends positions and adds the forces that come back (engine/gpu/step_gpu.hpp), nonlocal work begins with the
// kernel that waits for positions and ends with the one that sends forces; the rest is in `update`. They are means over steps
// without a repartition, as there. Here a repartition is also a step with forces, so its own time is what such a step takes
// longer than the others, spread over all steps; there it is taken off the run's wall time. A step lasts from its first block to
// that of the next step, so the gaps between graphs are in it.
//   mean time of a step = step + repartition;   step = local + non-overlap + other, if local work begins first
//
// Cost: linear in the records.
#pragma once

#include "trace/timeline.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace parhelion {

// us
struct StepWork
{
    double local = 0, nonlocal = 0, nonoverlap = 0;
    double update = 0;      // the kernels that constrain
    double other = 0;       // outside of local and nonlocal work: update, observables, gaps
    double step = 0;        // without a repartition
    double repartition = 0; // a step
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

// Of one GPU. Of the launches of the kernel of pair forces in a step the first half is local if there is a halo, else all. Zeros
// if no two steps follow each other.
StepWork step_work(std::span<const NamedKernel> kernels, std::span<const BlockRecord> records);

} // namespace parhelion
