// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/mesh_setup.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

namespace parhelion {

MeshSetup make_mesh_setup(const MeshParameters& parameters, MeshMethod asked, const MeshCells& ranks)
{
    const std::array<int, 3>& cells = ranks.cells;
    const int count = cells[0] * cells[1] * cells[2];
    const bool are_slabs = cells[0] == count;
    MeshSetup setup{.parameters = parameters, .method = asked, .cut = {}, .reach = ranks.reach};
    if (asked == MeshMethod::Auto) { setup.method = are_slabs ? MeshMethod::Shared : MeshMethod::Bricks; }
    if (parameters.order == 0) { return setup; }
    switch (setup.method)
    {
    case MeshMethod::Gathered:
        setup.cut = gathered_cut(parameters.points, parameters.order, count);
        break;
    case MeshMethod::Bricks:
        setup.cut = dealt_cut(parameters.points, parameters.order, count);
        break;
    case MeshMethod::Shared: {
        if (!are_slabs)
        {
            throw InputError(
                "E635", {},
                fmt::format("--pme shared is for a box cut into slabs along x (each rank's part of the mesh lies where "
                            "its atoms are), and the grid of ranks is {}x{}x{}. Use --pme bricks, or --grid {}x1x1.",
                            cells[0], cells[1], cells[2], count));
        }
        const double planes_per_nm = parameters.points[0] / ranks.box.x;
        const int shift = slab_shift(parameters.order, ranks.reach * planes_per_nm, ranks.ahead * planes_per_nm);
        setup.cut = slab_cut(parameters.points, parameters.order, count, shift);
        break;
    }
    case MeshMethod::Auto:
        break;
    }
    return setup;
}

} // namespace parhelion
