// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy, version 1.0: a float64 array of shape (N, 3).
#pragma once

#include "base/vec3.hpp"

#include <string>
#include <vector>

namespace parhelion {

// Throws SystemError.
void write_npy(const std::string& path, const std::vector<Vec3<double>>& rows);

} // namespace parhelion
