// SPDX-License-Identifier: Apache-2.0
// A configuration that leaves the engine for trajectory files. It is moved from one stage to the next, never copied.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// Arrays are in input order; arrays that were not asked for are empty. Molecules are whole: each atom is the image nearest to
// the atom before. Molecules that are tied to their own images cannot be whole, so each of their atoms is put into the box.
struct Frame
{
    std::int64_t step = 0;
    double time = 0; // ps
    Box<double> box;
    std::vector<Vec3<double>> x, v, f; // nm, nm/ps at t - dt/2, kJ/mol/nm
};

} // namespace parhelion
