// SPDX-License-Identifier: Apache-2.0
// Molecules that do not go around the box, so that it may become longer.
#pragma once

#include "engine/simulation.hpp"

#include <cmath>

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

} // namespace parhelion::test
