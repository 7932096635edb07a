// SPDX-License-Identifier: Apache-2.0
#include "pairs/simd_target_name.hpp"

#include "pairs/simd_targets.hpp"

#include <hwy/targets.h>

namespace parhelion {

std::string simd_target_name()
{
    // The best target is the lowest bit set among the compiled targets.
    const auto usable = hwy::SupportedTargets() & HWY_TARGETS;
    return hwy::TargetName(usable & -usable);
}

} // namespace parhelion
