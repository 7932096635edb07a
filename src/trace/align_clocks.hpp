// SPDX-License-Identifier: Apache-2.0
// Sets the clocks of timelines to each other. GPUs of one host may have clocks that differ: 0.54 ms were seen between two.
//
// The idea: processes that exchange data in every step cannot be more than a step apart. If the clocks say otherwise, they
// differ. A kernel that waits for its peers ends on all of them when the last message has arrived, so launches of it end at about
// the same time. The median difference of these ends is the difference of the clocks, to within the imbalance of such a wait,
// some microseconds. Clocks that agree are left alone, because that error is larger than theirs. Cost: linear in the spans of
// phases.
#pragma once

#include "trace/timeline.hpp"

#include <vector>

namespace parhelion {

// Shifts all timelines but the first so that their clocks agree with the first's. Timelines without common steps stay.
void align_clocks(std::vector<Timeline>& timelines);

} // namespace parhelion
