// SPDX-License-Identifier: Apache-2.0
#include "run/methods.hpp"

#include "model/minimisers.hpp"

#include <algorithm>
#include <cstddef>

namespace parhelion {

namespace {

// Returns whether has(type) is true for a molecule type that has copies.
template <class Has>
bool any_molecule(const Topology& topology, const Has& has)
{
    return std::ranges::any_of(topology.blocks, [&](const MoleculeBlock& block) {
        return block.count > 0 && has(topology.molecule_types[static_cast<std::size_t>(block.type)]);
    });
}

bool is_used(Method method, const Topology& topology, const RunParameters& p)
{
    const bool moves = !is_minimisation(p.integrator);
    switch (method)
    {
    case Method::LeapFrog:
        return p.integrator == Integrator::LeapFrog;
    case Method::VelocityVerlet:
        return is_velocity_verlet(p.integrator);
    case Method::StochasticDynamics:
        return p.integrator == Integrator::StochasticDynamics;
    case Method::ConjugateGradients:
        return p.integrator == Integrator::ConjugateGradients;
    case Method::LBfgs:
        return p.integrator == Integrator::LBfgs;
    case Method::MultipleTimeSteps:
        return moves && mesh_interval(p) > 1;
    case Method::ClusterPairLists:
    case Method::BlockAverages:
        return true;
    case Method::ReactionField:
        return p.coulomb == CoulombKind::ReactionField;
    case Method::Pme:
        return p.coulomb == CoulombKind::Pme;
    case Method::LjPme:
        return p.has_lj_mesh;
    case Method::Cmap:
        return topology.interaction_count(InteractionKind::Cmap) > 0;
    case Method::RestrictedBending:
        return topology.interaction_count(InteractionKind::RestrictedAngle) > 0;
    case Method::Settle:
        return any_molecule(topology, [](const MoleculeType& type) { return !type.settles.empty(); });
    case Method::Lincs:
        return any_molecule(topology, [](const MoleculeType& type) { return !type.constraints.empty(); });
    case Method::VirtualSites:
        return topology.site_count() > 0;
    case Method::HeavyHydrogens:
        return moves && p.mass_repartition_factor > 1;
    case Method::VRescale:
        return moves && p.thermostat == Thermostat::VRescale;
    case Method::BerendsenThermostat:
        return moves && p.thermostat == Thermostat::Berendsen;
    case Method::NoseHoover:
        return moves && p.thermostat == Thermostat::NoseHoover;
    case Method::NoseHooverChain:
        return p.integrator == Integrator::VelocityVerlet && p.thermostat == Thermostat::NoseHoover;
    case Method::CRescale:
        return moves && p.barostat == Barostat::CRescale;
    case Method::CRescaleOfEdges:
        return moves && p.barostat == Barostat::CRescale && p.box_coupling == BoxCoupling::Anisotropic;
    case Method::BerendsenBarostat:
        return moves && p.barostat == Barostat::Berendsen;
    case Method::ParrinelloRahman:
        return moves && p.barostat == Barostat::ParrinelloRahman;
    }
    return false;
}

} // namespace

std::vector<Method> methods_used(const Topology& topology, const RunParameters& parameters)
{
    std::vector<Method> used;
    for (std::size_t i = 0; i < method_names.size(); ++i)
    {
        if (const auto method = static_cast<Method>(i); is_used(method, topology, parameters)) { used.push_back(method); }
    }
    return used;
}

std::string describe_methods(const Topology& topology, const RunParameters& parameters)
{
    std::string text;
    for (const Method method : methods_used(topology, parameters))
    {
        text += (text.empty() ? "methods   " : ", ") + std::string(method_names[static_cast<std::size_t>(method)]);
    }
    return text + "\n";
}

} // namespace parhelion
