// SPDX-License-Identifier: Apache-2.0
// Chooses the number of PME's grid points along each edge of the box, and computes the moduli of PME's splines.
#pragma once

#include "base/box.hpp"
#include "model/run_parameters.hpp"

#include <array>
#include <vector>

namespace parhelion {

// Returns the number of points along x, y, z: the user's (fourier-nx, -ny, -nz) or, if not given, the least number
// with small prime factors whose spacing is at most fourierspacing, as GROMACS 2022 chooses it. `box`: edges at the
// start of the run, nm. The numbers are constant during a run. Requires at most most_mesh_points along each edge.
std::array<int, 3> mesh_size(const RunParameters& run, const Box<double>& box);

// Returns B(m) = |sum_(j = 0)^(order - 2) M_order(j + 1) exp(2 pi i m j / points)|^2, m = 0 ... points - 1 (Essmann et al. 1995,
// eq. 4.4, inverted). For odd order and even points B(points / 2) would be 0. It is replaced by the mean of its neighbours.
std::vector<double> spline_moduli(int order, int points);

} // namespace parhelion
