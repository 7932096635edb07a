// SPDX-License-Identifier: Apache-2.0
// The external forces of a simulation, with the data that every rank needs to ask for them.
#pragma once

#include "engine/external_force.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace parhelion {

// An external force, with the atoms that are needed to place its own atoms. A molecule is made whole from
// its first atom on, so all atoms of a molecule up to the last one on which the force acts are needed.
struct PlacedForce
{
    std::shared_ptr<ExternalForce> force;
    std::vector<std::int32_t> needed;    // global atoms, ascending
    std::vector<std::uint8_t> is_in_box; // for each needed atom: 1 if it is put into the box, 0 if next to the atom before
    std::vector<std::size_t> place;      // for each atom of the force: its index in `needed`
};

// The external forces, with their energy, virial and failure in the last step, which are the same on all ranks.
struct ExternalForces
{
    std::vector<PlacedForce> list;
    double energy = 0;       // energy of all external forces, kJ/mol
    Mat3<double> virial{};   // virial of all external forces, kJ/mol
    bool has_failed = false; // true if the step was abandoned, because a force had no answer
};

// Returns `force` with the atoms that it needs. Precondition: the atoms of the force exist.
PlacedForce place(std::shared_ptr<ExternalForce> force, const Topology& topology);

} // namespace parhelion
