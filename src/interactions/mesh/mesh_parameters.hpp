// SPDX-License-Identifier: Apache-2.0
// The parameters of a run's meshes, for CPUs and GPUs alike. They are constant during a run, even if the box changes.
//
// A run with PME has a mesh of charges. With LJ-PME it also has meshes of dispersion, -c6/r^6, where an atom has a strength
// instead of a charge. The c6 of a pair is the sum of factor s_i s_j over these meshes. One mesh is enough for the geometric
// rule. With the rule of Lorentz and Berthelot c6 is a matrix over types, and there is a mesh for each of its eigenvalues.
// Strengths are numbers between -1 and 1, so that integer sums of them (mesh::ChargeSum) are as precise as those of charges.
#pragma once

#include "base/box.hpp"
#include "base/units.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace parhelion {

struct MeshParameters
{
    int order = 0;                             // order of the splines; 0: the run has no PME
    double beta = 0;                           // 1/nm
    double factor = 0;                         // f, kJ nm/(mol e^2); for dispersion that of its DispersionPart, kJ nm^6/mol
    double net_charge = 0;                     // e
    double largest_charge = 0;                 // largest absolute charge of an atom, e
    std::array<int, 3> points{};               // number of points along x, y, z
    std::array<std::vector<double>, 3> moduli; // spline_moduli() along each axis
    std::vector<double> strength_of_type{};    // strengths, for a mesh of dispersion; empty: a mesh of charges

    bool is_of_dispersion() const { return !strength_of_type.empty(); }

    std::int64_t all_points() const { return std::int64_t{points[0]} * points[1] * points[2]; } // 0: the run has no PME
    // Returns pi^2 / beta^2, nm^2. A wave m (1/nm) has the factor exp(-slope() m^2) in the influence function.
    double slope() const { return units::pi * units::pi / (beta * beta); }
    // Returns the scale of the influence function of dispersion times the volume, -pi^(3/2) beta^3 factor / 3, kJ nm^3/mol.
    double dispersion_scale() const { return -std::pow(units::pi, 1.5) * beta * beta * beta * factor / 3; }
    // Returns the energy of the uniform background of a net charge Q times the volume: -pi f Q^2 / (2 beta^2), kJ nm^3/mol.
    double background() const { return -units::pi * factor * net_charge * net_charge / (2 * beta * beta); }
};

// Returns the parameters. `box`: edges at the start of the run, nm. Requires a spline order from
// least_spline_order to largest_spline_order, and at least 2 (order - 1) points along each edge.
MeshParameters mesh_parameters(const Topology& topology, const RunParameters& run, const Box<double>& box);

// Returns the parameters of the meshes of dispersion, none without LJ-PME. All have the grid of the mesh of charges.
// Throws InputError E262 (interactions/mesh/mesh_dispersion.hpp).
std::vector<MeshParameters> dispersion_mesh_parameters(const Topology& topology, const RunParameters& run,
                                                       const Box<double>& box);

} // namespace parhelion
