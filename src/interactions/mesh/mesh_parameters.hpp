// SPDX-License-Identifier: Apache-2.0
// What the mesh of a run is made from, on CPUs and GPUs alike: numbers that stay for the run, whatever the box does.
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
    int order = 0;                             // of the splines; 0: the run has no PME
    double beta = 0;                           // 1/nm
    double coulomb_factor = 0;                 // kJ nm/(mol e^2)
    double net_charge = 0;                     // e
    double largest_charge = 0;                 // e, of an atom, without its sign
    std::array<int, 3> points{};               // along x, y, z
    std::array<std::vector<double>, 3> moduli; // spline_moduli()

    std::int64_t all_points() const { return std::int64_t{points[0]} * points[1] * points[2]; } // 0 without PME
    // pi^2 / beta^2, nm^2: of a wave m (1/nm) the influence function has the factor exp(-slope() m^2).
    double slope() const { return units::pi * units::pi / (beta * beta); }
    // Energy of the uniform background of a net charge Q, times the volume: -pi f Q^2 / (2 beta^2), kJ nm^3/mol.
    double background() const { return -units::pi * coulomb_factor * net_charge * net_charge / (2 * beta * beta); }
};

// `box`: edges at the start of the run, nm. Requires a spline order from least_ to largest_spline_order and at least
// 2 (order - 1) points along each edge.
MeshParameters mesh_parameters(const Topology& topology, const RunParameters& run, const Box<double>& box);

} // namespace parhelion
