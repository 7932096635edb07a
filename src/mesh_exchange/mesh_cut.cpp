// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/mesh_cut.hpp"

#include <algorithm>
#include <cstdint>

namespace parhelion {

mesh::PlaneRange dealt_out(int count, int parts, int part)
{
    const auto border = [&](int p) { return static_cast<int>(std::int64_t{count} * p / parts); };
    return {border(part), border(part + 1) - border(part)};
}

MeshCut gathered_cut(const std::array<int, 3>& points, int order, int ranks)
{
    MeshCut cut{.points = points, .order = order, .first_mesh_rank = 0, .planes = {}, .rows = {}, .sums = {}};
    for (int rank = 0; rank < ranks; ++rank)
    {
        cut.planes.push_back({0, points[0]});
        cut.rows.push_back({0, points[1]});
        cut.sums.push_back(dealt_out(points[1], ranks, rank));
    }
    return cut;
}

MeshCut slab_cut(const std::array<int, 3>& points, int order, int ranks, int shift)
{
    MeshCut cut = dealt_cut(points, order, ranks);
    const auto begin = [&](int rank) { return static_cast<int>((std::int64_t{points[0]} * rank + ranks - 1) / ranks); };
    for (int rank = 0; rank < ranks; ++rank)
    {
        cut.planes[static_cast<std::size_t>(rank)] = {(begin(rank) + shift) % points[0], begin(rank + 1) - begin(rank)};
    }
    return cut;
}

// With d planes for atoms that move ahead out of their cells, the shift is order - 1 + d. Atoms may then move d
// - ahead planes ahead. They may move back by the part of the halo beyond the last plane, reach + ahead - shift.
int slab_shift(int order, double reach, double ahead)
{
    const double planes = (reach + 2 * ahead - (order - 1)) / 2;
    return order - 1 + std::max(0, static_cast<int>(planes));
}

double slab_room(int order, double reach, double ahead)
{
    const int shift = slab_shift(order, reach, ahead);
    return std::min(shift - (order - 1) - ahead, reach + ahead - shift);
}

MeshCut dealt_cut(const std::array<int, 3>& points, int order, int ranks) { return dedicated_cut(points, order, ranks, ranks); }

MeshCut dedicated_cut(const std::array<int, 3>& points, int order, int ranks, int mesh_ranks)
{
    MeshCut cut{.points = points, .order = order, .first_mesh_rank = ranks - mesh_ranks, .planes = {}, .rows = {}, .sums = {}};
    cut.planes.resize(static_cast<std::size_t>(cut.first_mesh_rank));
    cut.rows.resize(static_cast<std::size_t>(cut.first_mesh_rank));
    for (int part = 0; part < mesh_ranks; ++part)
    {
        cut.planes.push_back(dealt_out(points[0], mesh_ranks, part));
        cut.rows.push_back(dealt_out(points[1], mesh_ranks, part));
    }
    cut.sums = cut.rows;
    return cut;
}

} // namespace parhelion
