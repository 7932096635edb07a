// SPDX-License-Identifier: Apache-2.0
// The methods by which the ranks of a run share PME's mesh (--pme), by name. mesh_exchange/rank_mesh.hpp describes them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace parhelion {

enum class MeshMethod : std::uint8_t
{
    Auto, // the method that is expected to be fastest
    Gathered,
    Bricks,
    Shared,
    Dedicated // may have a number of mesh ranks: dedicated:2
};
inline constexpr std::array<std::string_view, 5> mesh_method_names = {"auto", "gathered", "bricks", "shared", "dedicated"};

} // namespace parhelion
