// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/mesh_setup.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

namespace parhelion {

namespace {

constexpr double least_room = 0.02; // nm that atoms may move out of their cells on GPUs; water does so in a dozen steps

} // namespace

bool slabs_can_share(const MeshParameters& parameters, const MeshCells& ranks)
{
    const double planes_per_nm = parameters.points[0] / ranks.box.heights().x;
    const double room = slab_room(parameters.order, ranks.reach * planes_per_nm, ranks.ahead * planes_per_nm);
    return ranks.may_fall_back || (room >= least_room * planes_per_nm && !ranks.forces_have_rest);
}

MeshSetup make_mesh_setup(const MeshParameters& parameters, MeshMethod asked, const MeshCells& ranks)
{
    const std::array<int, 3>& cells = ranks.cells;
    const int count = cells[0] * cells[1] * cells[2];
    const bool are_slabs = cells[0] == count;
    const double planes_per_nm = parameters.points[0] / ranks.box.heights().x;
    const double reach = ranks.reach * planes_per_nm, ahead = ranks.ahead * planes_per_nm;
    const bool suits = are_slabs && (count == 1 || slabs_can_share(parameters, ranks));
    MeshSetup setup{.parameters = parameters, .method = asked, .cut = {}, .reach = ranks.reach};
    if (asked == MeshMethod::Auto) { setup.method = suits ? MeshMethod::Shared : MeshMethod::Bricks; }
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
        if (!suits)
        {
            throw InputError(
                "E635", {},
                ranks.forces_have_rest
                    ? "--pme shared does not work with multiple time stepping (mts) on GPUs. Use --pme bricks."
                    : fmt::format(
                          "--pme shared leaves atoms too little room on GPUs: splines of order {} span {} spacings of the "
                          "grid, and halos reach over {:.1f} along x. Use --pme bricks, a finer grid or a longer rlist.",
                          parameters.order, parameters.order - 1, reach));
        }
        setup.cut = slab_cut(parameters.points, parameters.order, count, slab_shift(parameters.order, reach, ahead));
        break;
    }
    case MeshMethod::Dedicated:
        setup.cut = ranks.mesh_ranks > 0
                        ? dedicated_cut(parameters.points, parameters.order, count + ranks.mesh_ranks, ranks.mesh_ranks)
                        : dealt_cut(parameters.points, parameters.order, count);
        break;
    case MeshMethod::Auto:
        break;
    }
    return setup;
}

} // namespace parhelion
