// SPDX-License-Identifier: Apache-2.0
// The largest size of a PME mesh that is accepted. It is far more than fits into memory.
#pragma once

namespace parhelion {

constexpr int most_mesh_points = 4096;               // number along one edge
constexpr double most_points_of_mesh = 2147483648.0; // number in total, 16 GB of complex floats

} // namespace parhelion
