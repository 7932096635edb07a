// SPDX-License-Identifier: Apache-2.0
// The ids and subjects of all warnings, for users who accept a warning by its id. The code that finds
// a problem makes the warning, by Diagnostics::warn(). A test checks that no id is missing here.
#pragma once

#include <string_view>

namespace parhelion {

struct WarningId
{
    std::string_view id;
    bool is_of_motion = false; // true if the warning concerns motion, not forces and energies of one configuration
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
    {"W175"},
    {"W190", of_motion},
};

} // namespace parhelion
