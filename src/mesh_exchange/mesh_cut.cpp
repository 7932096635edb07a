// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/mesh_cut.hpp"

#include <cstdint>

namespace parhelion {

mesh::PlaneRange dealt_out(int count, int parts, int part)
{
    const auto border = [&](int p) { return static_cast<int>(std::int64_t{count} * p / parts); };
    return {border(part), border(part + 1) - border(part)};
}

MeshCut gathered_cut(const std::array<int, 3>& points, int order, int ranks)
{
    MeshCut cut{.points = points, .order = order, .planes = {}, .rows = {}, .sums = {}};
    for (int rank = 0; rank < ranks; ++rank)
    {
        cut.planes.push_back({0, points[0]});
        cut.rows.push_back({0, points[1]});
        cut.sums.push_back(dealt_out(points[1], ranks, rank));
    }
    return cut;
}

MeshCut dealt_cut(const std::array<int, 3>& points, int order, int ranks)
{
    MeshCut cut{.points = points, .order = order, .planes = {}, .rows = {}, .sums = {}};
    for (int rank = 0; rank < ranks; ++rank)
    {
        cut.planes.push_back(dealt_out(points[0], ranks, rank));
        cut.rows.push_back(dealt_out(points[1], ranks, rank));
    }
    cut.sums = cut.rows;
    return cut;
}

} // namespace parhelion
