// SPDX-License-Identifier: Apache-2.0
// The ids of all warnings, for who accepts one of them. A warning is made where it is found, by Diagnostics::warn(); a test looks
// there for ids that are missing here.
#pragma once

#include <string_view>

namespace parhelion {

inline constexpr std::string_view warning_ids[] = {
    "W020", "W021", "W022", "W023", "W024", "W030", "W110", "W111", "W112",
    "W113", "W114", "W115", "W116", "W120", "W121", "W122", "W123", "W124", "W127",
};

} // namespace parhelion
