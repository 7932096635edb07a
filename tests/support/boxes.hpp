// SPDX-License-Identifier: Apache-2.0
// Cells of all shapes, and images in them by trying.
#pragma once

#include "base/box.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace parhelion {

// Cells as GROMACS takes them: a rhombic dodecahedron, a truncated octahedron, a hexagonal prism, and any with |yx| <= xx / 2,
// |zx| <= xx / 2, |zy| <= yy / 2.
inline std::vector<Box<double>> tilted_boxes()
{
    const double root2 = std::sqrt(2.0), root3 = std::sqrt(3.0);
    std::vector<Box<double>> boxes{{{4, 4, 2 * root2}, {0, 2, 2}},
                                   {{4, 8 * root2 / 3, 4 * std::sqrt(6.0) / 3}, {4.0 / 3, -4.0 / 3, 4 * root2 / 3}},
                                   {{5, 2.5 * root3, 7}, {2.5, 0, 0}},
                                   {{3, 4, 5}, {0, 0, 0}}};
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> edge(2, 6), tilt(-0.5, 0.5);
    for (int i = 0; i < 20; ++i)
    {
        const double x = edge(random), y = edge(random), z = edge(random);
        boxes.push_back({{x, y, z}, {tilt(random) * x, tilt(random) * x, tilt(random) * y}});
    }
    return boxes;
}

inline Vec3<double> edge_vector(const Box<double>& box, int d)
{
    return box.to_nm({d == 0 ? 1.0 : 0.0, d == 1 ? 1.0 : 0.0, d == 2 ? 1.0 : 0.0});
}

// The shortest of the images that are up to two edges away.
inline double shortest_image(const Box<double>& box, const Vec3<double>& difference)
{
    double shortest = INFINITY;
    for (int i = 0; i < 125; ++i)
    {
        const Vec3<double> edges{static_cast<double>(i % 5 - 2), static_cast<double>(i / 5 % 5 - 2),
                                 static_cast<double>(i / 25 - 2)};
        shortest = std::min(shortest, norm(difference + box.to_nm(edges)));
    }
    return shortest;
}

template <class F>
void for_random_fractions(F&& body)
{
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> inside(0, 1);
    for (int i = 0; i < 300; ++i)
    {
        body(Vec3<double>{inside(random), inside(random), inside(random)},
             Vec3<double>{inside(random), inside(random), inside(random)});
    }
}

} // namespace parhelion
