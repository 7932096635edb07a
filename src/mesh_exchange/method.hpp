// SPDX-License-Identifier: Apache-2.0
// How the ranks of a run share PME's mesh, by name (--pme); mesh_exchange/rank_mesh.hpp says what they are.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace parhelion {

enum class MeshMethod : std::uint8_t
{
    Auto, // what is expected to be the fastest
    Gathered,
    Bricks,
    Shared,
    Dedicated // with a number of ranks: dedicated:2
};
inline constexpr std::array<std::string_view, 5> mesh_method_names = {"auto", "gathered", "bricks", "shared", "dedicated"};

} // namespace parhelion
