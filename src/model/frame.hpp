// SPDX-License-Identifier: Apache-2.0
// A configuration on its way out of the engine: what trajectory files are written from. Moved, not copied, from hand to hand.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// In input order. Arrays not asked for are empty. Molecules are whole: each atom is the image nearest to the one before it. Those
// that are tied to their own images cannot be: their atoms are in the box.
struct Frame
{
    std::int64_t step = 0;
    double time = 0; // ps
    Box<double> box;
    std::vector<Vec3<double>> x, v, f; // nm, nm/ps at t - dt/2, kJ/mol/nm
};

} // namespace parhelion
