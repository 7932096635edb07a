// SPDX-License-Identifier: Apache-2.0
#include "io/input/periodic_molecules.hpp"

#include "io/input/mdp_value.hpp"
#include "model/ties.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace parhelion {

namespace {

// Throws if a bond is as long as half an edge: it could then join another image than intended.
void stop_if_too_long(const System& system, const SourceLocation& where, std::int64_t a, std::int64_t b, double length)
{
    const double most = 0.5 * system.box.least_height();
    if (length < most) { return; }
    throw InputError("E570", where,
                     "the bond of " + system.topology.describe(a) + " and " + system.topology.describe(b) + " is " +
                         number_text(std::round(length * 1e4) / 1e4) + " nm long, and half the shortest box edge is " +
                         number_text(most) +
                         " nm (it could lead to another image than it is meant for). Use a larger box, of a periodic molecule "
                         "with more cells.");
}

void check_start(const System& system, const SourceLocation& where, const MoleculeBlock& block, const std::vector<Tie>& ties)
{
    const std::size_t atoms = system.topology.molecule_types[static_cast<std::size_t>(block.type)].atoms.size();
    for (std::int64_t copy = 0; copy < block.count; ++copy)
    {
        const std::int64_t first = block.first_atom + copy * static_cast<std::int64_t>(atoms);
        for (const Tie& tie : ties)
        {
            const std::int64_t a = first + tie.a, b = first + tie.b;
            const Vec3<double> apart = system.x[static_cast<std::size_t>(a)] - system.x[static_cast<std::size_t>(b)];
            stop_if_too_long(system, where, a, b, norm(system.box.image(apart)));
        }
    }
}

} // namespace

void find_periodic_molecules(const SourceLocation& option, const SourceLocation& structure, System& system,
                             Diagnostics& diagnostics)
{
    Topology& topology = system.topology;
    std::string names;
    for (const MoleculeBlock& block : topology.blocks)
    {
        if (block.count == 0) { continue; }
        MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        const std::vector<Tie> ties = ties_of(topology, type);
        for (const Tie& tie : ties)
        {
            stop_if_too_long(system, structure, block.first_atom + tie.a, block.first_atom + tie.b, tie.length);
        }
        if (!is_tied_to_image(topology, block, system.x, system.box)) { continue; }
        check_start(system, structure, block, ties);
        if (!type.is_tied_to_image) { names += (names.empty() ? "" : ", ") + type.name; }
        type.is_tied_to_image = true;
    }
    if (names.empty()) { return; }
    diagnostics.note("N191", option,
                     "bonded to their own images across the box: " + names +
                         ". They are taken as they are, and their atoms written where they are in the box.");
}

} // namespace parhelion
