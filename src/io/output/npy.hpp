// SPDX-License-Identifier: Apache-2.0
// Writes an array in NumPy's format .npy, version 1.0: float64 of shape (N, 3).
#pragma once

#include "base/vec3.hpp"

#include <string>
#include <vector>

namespace parhelion {

// Writes the rows as an array. Throws SystemError if the file cannot be written.
void write_npy(const std::string& path, const std::vector<Vec3<double>>& rows);

} // namespace parhelion
