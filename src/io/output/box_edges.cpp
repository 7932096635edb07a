// SPDX-License-Identifier: Apache-2.0
#include "io/output/box_edges.hpp"

#include <cmath>
#include <fmt/format.h>

namespace parhelion {

BoxEdges edges_of(const Box<double>& box)
{
    const Vec3<double>&diagonal = box.diagonal(), &tilt = box.tilt();
    return {diagonal.x, 0, 0, tilt.x, diagonal.y, 0, tilt.y, tilt.z, diagonal.z};
}

Box<double> box_of(const BoxEdges& edges, std::string& problem)
{
    const Box<double> box{{edges[0], edges[4], edges[8]}, {edges[3], edges[6], edges[7]}};
    if (edges[1] != 0 || edges[2] != 0 || edges[5] != 0)
    {
        problem =
            "the first edge of the box is not along x, or the second not in the xy plane (edges need this order). Rotate the "
            "system, for example with gmx editconf -princ or -rotate.";
        return box;
    }
    constexpr double most = 0.5 * 1.001;
    const auto leans = [&](double by, double along) { return !(std::abs(by) <= most * along); };
    const Vec3<double>&diagonal = box.diagonal(), &tilt = box.tilt();
    if (leans(tilt.x, diagonal.x) || leans(tilt.y, diagonal.x) || leans(tilt.z, diagonal.y))
    {
        problem =
            fmt::format("an edge of the box leans by more than half of another one: {:.5g} or {:.5g} along x, where the first "
                        "is {:.5g} nm long, or {:.5g} along y, where the second has {:.5g} (other images would be nearer). Give "
                        "the same lattice by shorter edges: add or subtract whole edges.",
                        tilt.x, tilt.y, diagonal.x, tilt.z, diagonal.y);
    }
    return box;
}

} // namespace parhelion
