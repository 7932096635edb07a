// SPDX-License-Identifier: Apache-2.0
// Molecules that do not go around the box, so that it may become longer, or that fewer remain.
#pragma once

#include "engine/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace parhelion::test {

inline void make_molecules_whole(System& system)
{
    for (std::size_t a = 0; a < system.x.size(); ++a)
    {
        const auto first = static_cast<std::size_t>(system.topology.locate(static_cast<std::int64_t>(a)).molecule_first_atom);
        for (int d = 0; d < 3; ++d)
        {
            system.x[a][d] -=
                system.box.diagonal()[d] * std::round((system.x[a][d] - system.x[first][d]) / system.box.diagonal()[d]);
        }
    }
}

// Leaves a column along x, `width` nm wide and high, with the molecules that lie in it whole; its images are as far apart as
// neighbours. For tests of many runs: a quarter of the atoms of a box of 3.1 nm are left in 2 nm.
inline void keep_column(System& system, double width)
{
    make_molecules_whole(system);
    const double within = width - 0.3; // nm
    const System all = system;
    Topology& topology = system.topology;
    topology.blocks.clear(), system.x.clear(), system.v.clear();
    std::size_t first = 0;
    for (const MoleculeBlock& block : all.topology.blocks)
    {
        const std::size_t atoms = all.topology.molecule_types[static_cast<std::size_t>(block.type)].atoms.size();
        std::int64_t kept = 0;
        for (std::int64_t copy = 0; copy < block.count; ++copy, first += atoms)
        {
            const auto begin = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(first + atoms);
            const bool is_inside = std::all_of(all.x.begin() + begin, all.x.begin() + end, [&](const Vec3<double>& x) {
                return std::min(x.y, x.z) >= 0 && std::max(x.y, x.z) <= within;
            });
            if (!is_inside) { continue; }
            ++kept;
            system.x.insert(system.x.end(), all.x.begin() + begin, all.x.begin() + end);
            if (!all.v.empty()) { system.v.insert(system.v.end(), all.v.begin() + begin, all.v.begin() + end); }
        }
        if (kept > 0) { topology.blocks.push_back({block.type, kept, 0}); }
    }
    topology.finish();
    system.box.diagonal().y = system.box.diagonal().z = width;
}

} // namespace parhelion::test
