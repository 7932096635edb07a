// SPDX-License-Identifier: Apache-2.0
// The ids of all warnings, for who accepts one of them, and what each is about. A warning is made where it is found, by
// Diagnostics::warn(); a test looks there for ids that are missing here.
#pragma once

#include <string_view>

namespace parhelion {

struct WarningId
{
    std::string_view id;
    bool is_of_motion = false; // says nothing of the forces and energies of one configuration
};

inline constexpr bool of_motion = true;
inline constexpr WarningId warning_ids[] = {
    {"W020"},
    {"W022"},
    {"W023"},
    {"W024"},
    {"W030"},
    {"W111"},
    {"W112", of_motion},
    {"W113", of_motion},
    {"W114", of_motion},
    {"W115", of_motion},
    {"W116", of_motion},
    {"W117", of_motion},
    {"W118", of_motion},
    {"W119", of_motion},
    {"W120", of_motion},
    {"W121"},
    {"W122", of_motion},
    {"W124"},
    {"W125", of_motion},
    {"W126", of_motion},
    {"W127"},
    {"W128"},
    {"W160"},
    {"W170", of_motion},
    {"W171"},
    {"W172", of_motion},
    {"W190", of_motion},
};

} // namespace parhelion
