// SPDX-License-Identifier: Apache-2.0
#include "base/box.hpp"

#include "support/boxes.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace parhelion;

TEST(Box, has_heights_between_its_faces_and_the_volume_of_its_edges)
{
    for (const Box<double>& box : tilted_boxes())
    {
        const Vec3<double> a = edge_vector(box, 0), b = edge_vector(box, 1), c = edge_vector(box, 2);
        const double volume = dot(a, cross(b, c));
        EXPECT_NEAR(box.volume(), volume, 1e-13 * volume);
        const Vec3<double> heights{volume / norm(cross(b, c)), volume / norm(cross(c, a)), volume / norm(cross(a, b))};
        for (int d = 0; d < 3; ++d) { EXPECT_NEAR(box.heights()[d], heights[d], 1e-13 * heights[d]); }
        EXPECT_EQ(box.least_height(), std::min({box.heights().x, box.heights().y, box.heights().z}));
    }
}

TEST(Box, without_tilt_has_the_bits_of_its_edges)
{
    const Vec3<double> lengths{3.11, 4.92, 7.6485};
    const Box<double> box(lengths);
    EXPECT_TRUE(box.is_rectangular());
    EXPECT_EQ(box.heights(), lengths);
    for_random_fractions([&](const Vec3<double>& f, const Vec3<double>& x) {
        EXPECT_EQ(box.to_nm(f), (Vec3<double>{f.x * lengths.x, f.y * lengths.y, f.z * lengths.z}));
        EXPECT_EQ(box.to_fractions(x), (Vec3<double>{x.x / lengths.x, x.y / lengths.y, x.z / lengths.z}));
    });
}

TEST(Box, turns_positions_into_fractions_and_back)
{
    for (const Box<double>& box : tilted_boxes())
    {
        for_random_fractions([&](const Vec3<double>& fractions, const Vec3<double>&) {
            EXPECT_LE(norm(box.to_fractions(box.to_nm(fractions)) - fractions), 1e-15);
        });
    }
}

TEST(Box, finds_the_nearest_image_within_its_least_height)
{
    int near = 0;
    for (const Box<double>& box : tilted_boxes())
    {
        for_random_fractions([&](const Vec3<double>& a, const Vec3<double>& b) {
            const Vec3<double> difference = box.to_nm(a) - box.to_nm(b) + 3.0 * edge_vector(box, 2) - edge_vector(box, 0);
            const double shortest = shortest_image(box, box.to_nm(a) - box.to_nm(b));
            const Vec3<double> image = box.image(difference), edges = box.to_fractions(image - difference);
            EXPECT_LE(norm(edges - Vec3<double>{std::round(edges.x), std::round(edges.y), std::round(edges.z)}), 1e-14);
            if (shortest >= box.least_height()) { return; }
            EXPECT_NEAR(norm(image), shortest, 1e-14);
            ++near;
        });
    }
    EXPECT_GT(near, 1000);
}

// By the images up to three edges away, and the rule for rectangular boxes.
TEST(Box, lets_cutoffs_be_half_the_way_to_an_atoms_own_nearest_image)
{
    EXPECT_EQ(Box<double>(2, 3, 4).largest_cutoff(), 1);
    const double root2 = std::sqrt(2.0);
    EXPECT_NEAR((Box<double>({4, 4, 2 * root2}, {0, 2, 2}).largest_cutoff()), 2, 1e-15); // a dodecahedron of this image distance
    EXPECT_EQ((Box<double>({4, 8, 0.5}, {0, 2, 4}).largest_cutoff()), 0.5);              // twice the third edge is nearly upright
    for (const Box<double>& box : tilted_boxes())
    {
        double shortest = 2 * box.least_height();
        for (int i = 0; i < 343; ++i)
        {
            if (i == 171) { continue; } // the atom itself
            const Vec3<double> edges{static_cast<double>(i % 7 - 3), static_cast<double>(i / 7 % 7 - 3),
                                     static_cast<double>(i / 49 - 3)};
            shortest = std::min(shortest, norm(box.to_nm(edges)));
        }
        EXPECT_NEAR(box.largest_cutoff(), 0.5 * shortest, 1e-14);
        EXPECT_TRUE(!box.is_low(0.499 * box.least_height()) && box.is_low(0.501 * box.least_height()) != box.is_rectangular());
    }
}
