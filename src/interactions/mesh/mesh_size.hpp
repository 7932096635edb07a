// SPDX-License-Identifier: Apache-2.0
// How many grid points PME takes along each edge of the box, and the moduli of its splines.
#pragma once

#include "base/box.hpp"
#include "model/run_parameters.hpp"

#include <array>
#include <vector>

namespace parhelion {

// Points along x, y, z: those that the user gave (fourier-nx, -ny, -nz), elsewhere the least size with small prime factors whose
// spacing is fourierspacing or less, as GROMACS 2022 chooses it. `box`: edges at the start of the run, nm; the sizes stay
// for the run. Requires at most most_mesh_points along each.
std::array<int, 3> mesh_size(const RunParameters& run, const Box<double>& box);

// B(m) = |sum_(j = 0)^(order - 2) M_order(j + 1) exp(2 pi i m j / points)|^2, m = 0 ... points - 1 (Essmann et al. 1995, eq.
// 4.4, inverted). For an odd order and even number of points B(points / 2) would be 0: it is the mean of its neighbours.
std::vector<double> spline_moduli(int order, int points);

} // namespace parhelion
