// SPDX-License-Identifier: Apache-2.0
// The parameters of a run's mesh, for CPUs and GPUs alike. They are constant during a run, even if the box changes.
#pragma once

#include "base/box.hpp"
#include "base/units.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace parhelion {

struct MeshParameters
{
    int order = 0;                             // order of the splines; 0: the run has no PME
    double beta = 0;                           // 1/nm
    double coulomb_factor = 0;                 // kJ nm/(mol e^2)
    double net_charge = 0;                     // e
    double largest_charge = 0;                 // largest absolute charge of an atom, e
    std::array<int, 3> points{};               // number of points along x, y, z
    std::array<std::vector<double>, 3> moduli; // spline_moduli() along each axis

    std::int64_t all_points() const { return std::int64_t{points[0]} * points[1] * points[2]; } // 0: the run has no PME
    // Returns pi^2 / beta^2, nm^2. A wave m (1/nm) has the factor exp(-slope() m^2) in the influence function.
    double slope() const { return units::pi * units::pi / (beta * beta); }
    // Returns the energy of the uniform background of a net charge Q times the volume: -pi f Q^2 / (2 beta^2), kJ nm^3/mol.
    double background() const { return -units::pi * coulomb_factor * net_charge * net_charge / (2 * beta * beta); }
};

// Returns the parameters. `box`: edges at the start of the run, nm. Requires a spline order from
// least_spline_order to largest_spline_order, and at least 2 (order - 1) points along each edge.
MeshParameters mesh_parameters(const Topology& topology, const RunParameters& run, const Box<double>& box);

} // namespace parhelion
