// SPDX-License-Identifier: Apache-2.0
// The methods of halo exchange, by name; halo/halo.hpp says what they are.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace parhelion {

enum class HaloMethod : std::uint8_t
{
    StagedHost,
    StagedFused,
    Direct
};
inline constexpr std::array<std::string_view, 3> halo_method_names = {"staged-host", "staged-fused", "direct"};

} // namespace parhelion
