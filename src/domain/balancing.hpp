// SPDX-License-Identifier: Apache-2.0
// Names the choices of --dlb. load_balance.hpp says how borders move.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace parhelion {

enum class Balancing : std::uint8_t
{
    Auto, // borders move if ranks differ much
    On,   // borders move if ranks differ a little
    Off   // cells stay equal
};
inline constexpr std::array<std::string_view, 3> balancing_names = {"auto", "on", "off"};

} // namespace parhelion
