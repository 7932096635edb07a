// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/mesh_parameters.hpp"

#include "base/error.hpp"
#include "interactions/mesh/mesh_dispersion.hpp"
#include "interactions/mesh/mesh_size.hpp"
#include "interactions/mesh/spline.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parhelion {

namespace {

double largest_charge(const Topology& topology)
{
    double largest = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        for (const Atom& atom : topology.molecule_types[static_cast<std::size_t>(block.type)].atoms)
        {
            largest = std::max(largest, std::abs(atom.charge));
        }
    }
    return largest;
}

double net_charge(const Topology& topology)
{
    double sum = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        double of_molecule = 0;
        for (const Atom& atom : topology.molecule_types[static_cast<std::size_t>(block.type)].atoms)
        {
            of_molecule += atom.charge;
        }
        sum += static_cast<double>(block.count) * of_molecule;
    }
    return sum;
}

} // namespace

MeshParameters mesh_parameters(const Topology& topology, const RunParameters& run, const Box<double>& box)
{
    if (run.coulomb != CoulombKind::Pme) { return {}; }
    PARHELION_EXPECTS(run.pme_order >= least_spline_order && run.pme_order <= largest_spline_order);
    MeshParameters mesh{.order = run.pme_order,
                        .beta = ewald_beta(run),
                        .factor = coulomb_factor(run),
                        .net_charge = net_charge(topology),
                        .largest_charge = largest_charge(topology),
                        .points = mesh_size(run, box),
                        .moduli = {}};
    for (std::size_t d = 0; d < 3; ++d)
    {
        PARHELION_EXPECTS(mesh.points[d] >= 2 * (mesh.order - 1));
        mesh.moduli[d] = spline_moduli(mesh.order, mesh.points[d]);
    }
    return mesh;
}

std::vector<MeshParameters> dispersion_mesh_parameters(const Topology& topology, const RunParameters& run, const Box<double>& box)
{
    std::vector<MeshParameters> meshes;
    if (!run.has_lj_mesh) { return meshes; }
    MeshParameters mesh = mesh_parameters(topology, run, box);
    mesh.beta = lj_ewald_beta(run), mesh.net_charge = 0, mesh.largest_charge = 1;
    for (DispersionPart& part : dispersion_parts(topology, run))
    {
        mesh.factor = part.factor, mesh.strength_of_type = std::move(part.strength_of_type);
        meshes.push_back(mesh);
    }
    return meshes;
}

} // namespace parhelion
