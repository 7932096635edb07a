// SPDX-License-Identifier: Apache-2.0
// Makes a larger system of copies of a smaller one, for benchmarks that need a large system of some kind. Cost: the memory of
// the result.
#pragma once

#include "io/input/load.hpp"

#include <array>

namespace parhelion {

// Returns the input with copies[d] copies of the box along edge d. The atoms of each copy follow those of the copy before.
// Molecules are made whole. Copies of an atom have all its properties and groups. If the input gives a grid for PME, the grid
// grows with the box. Velocities that are not generated are the same in all copies. Preconditions: each number of copies is at
// least 1, no molecule is bonded to its image, and the input starts from no other state (hand_over).
LoadedInput copies_of(const LoadedInput& one, const std::array<int, 3>& copies);

} // namespace parhelion
