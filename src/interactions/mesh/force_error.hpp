// SPDX-License-Identifier: Apache-2.0
// Estimates the errors of PME's forces for uncorrelated charges, from cut-off, Ewald splitting and grid alone.
#pragma once

#include "base/box.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <array>

namespace parhelion {

// The two parts of the root-mean-square error of the force on an atom, kJ/mol/nm.
struct EwaldForceError
{
    double cutoff = 0; // error of the truncated real-space sum: Kolafa and Perram, Mol. Simul. 9, 351 (1992), eq. 18
    double mesh = 0;   // error of interpolation by splines on the grid

    double total() const;
};

// Returns the errors. The mesh error averages the squared error of the force between two atoms over their positions. w_a(k) is
// the weight of alias a of wave k, a product over axes of its share of all aliases. Wave k exerts a force of amplitude 2 pi G (k
// + a) w_a w_b. The exact amplitude is 2 pi G k for a = b = 0, else 0 (Hockney and Eastwood, Computer Simulation Using Particles,
// chapter 8).
EwaldForceError ewald_force_error(const Topology& topology, const RunParameters& run, const std::array<int, 3>& points,
                                  const Box<double>& box);

} // namespace parhelion
