// SPDX-License-Identifier: Apache-2.0
// How exact PME's forces are, estimated for charges without correlation, from cut-off, splitting and grid alone.
#pragma once

#include "base/box.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <array>

namespace parhelion {

// Root mean square errors of the force on an atom, kJ/mol/nm.
struct EwaldForceError
{
    double cutoff = 0; // what real space leaves out: Kolafa and Perram, Mol. Simul. 9, 351 (1992), eq. 18
    double mesh = 0;   // of splines and grid

    double total() const;
};

// The mesh's part is the mean over all positions of two atoms of the square of their force's error. With w_a(k) the weight of
// alias a of wave k, of each axis relative to the sum of all, the force of wave k has amplitude 2 pi G (k + a) w_a w_b where it
// should have 2 pi G k for a = b = 0 and none else (as in Hockney and Eastwood, Computer Simulation Using Particles, chapter 8).
EwaldForceError ewald_force_error(const Topology& topology, const RunParameters& run, const std::array<int, 3>& points,
                                  const Box<double>& box);

} // namespace parhelion
