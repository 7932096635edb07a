// SPDX-License-Identifier: Apache-2.0
// How large a mesh of PME may be; far more than any that fits into memory.
#pragma once

namespace parhelion {

constexpr int most_mesh_points = 4096;               // along an edge
constexpr double most_points_of_mesh = 2147483648.0; // in all: 16 GB of complex floats

} // namespace parhelion
