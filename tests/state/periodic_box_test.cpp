// SPDX-License-Identifier: Apache-2.0
#include "base/numerics.hpp"
#include "state/periodic_box.hpp"
#include "support/boxes.hpp"

#include <gtest/gtest.h>
#include <random>

using namespace parhelion;

template <class N>
class PeriodicBoxTest : public ::testing::Test
{
protected:
    PeriodicBox<N> box{{3.11, 4.92, 7.6485}};
    // Half a unit of the fixed-point fraction, plus double rounding.
    static double tolerance(double length) { return std::ldexp(length, -PeriodicBox<N>::bits) * 0.501 + length * 2e-16; }
};
using Policies = ::testing::Types<Mixed, Double>;
TYPED_TEST_SUITE(PeriodicBoxTest, Policies);

TYPED_TEST(PeriodicBoxTest, positions_survive_the_round_trip_modulo_the_box)
{
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> anywhere(-30, 30);
    for (int i = 0; i < 10000; ++i)
    {
        const Vec3<double> x{anywhere(random), anywhere(random), anywhere(random)};
        const Vec3<double> y = this->box.to_nm(this->box.to_fixed(x));
        for (int d = 0; d < 3; ++d)
        {
            const double length = this->box.edges().diagonal()[d];
            EXPECT_GE(y[d], 0);
            EXPECT_LE(y[d], length);
            EXPECT_NEAR(std::remainder(x[d] - y[d], length), 0, this->tolerance(length) + 30 * 2.3e-16);
        }
    }
}

TYPED_TEST(PeriodicBoxTest, differences_are_minimum_images)
{
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> inside(0, 1);
    for (int i = 0; i < 10000; ++i)
    {
        Vec3<double> a, b;
        for (int d = 0; d < 3; ++d)
        {
            a[d] = inside(random) * this->box.edges().diagonal()[d], b[d] = inside(random) * this->box.edges().diagonal()[d];
        }
        const Vec3<double> r = this->box.difference(this->box.to_fixed(a), this->box.to_fixed(b));
        for (int d = 0; d < 3; ++d)
        {
            const double length = this->box.edges().diagonal()[d];
            EXPECT_LE(std::abs(r[d]), length / 2);
            EXPECT_NEAR(std::remainder(r[d] - (a[d] - b[d]), length), 0, 3 * this->tolerance(length));
        }
    }
}

TYPED_TEST(PeriodicBoxTest, displacements_add_up_across_the_border)
{
    auto x = this->box.to_fixed({3.1, 0.001, 7.6});
    const auto start = x;
    for (int i = 0; i < 1000; ++i) { x = this->box.displaced(x, {0.00311, -0.00123, 0.0321}); }
    for (int i = 0; i < 1000; ++i) { x = this->box.displaced(x, {-0.00311, 0.00123, -0.0321}); }
    EXPECT_EQ(x, start);
}

TYPED_TEST(PeriodicBoxTest, faces_and_edges_are_one_point)
{
    EXPECT_EQ(this->box.to_fixed({0, 0, 0}), this->box.to_fixed(this->box.edges().diagonal()));
    EXPECT_EQ(this->box.to_fixed({0, 0, 0}), this->box.to_fixed(-this->box.edges().diagonal()));
}

TYPED_TEST(PeriodicBoxTest, scaling_the_box_scales_positions)
{
    const Vec3<double> half = 0.5 * this->box.edges().diagonal();
    const auto x = this->box.to_fixed(half);
    this->box.set_edges(1.01 * this->box.edges().diagonal());
    const Vec3<double> scaled = this->box.to_nm(x);
    for (int d = 0; d < 3; ++d) { EXPECT_NEAR(scaled[d], 1.01 * half[d], 1e-8); }
}

// In a tilted box, too, within half its least height.
TEST(PeriodicBox, differences_are_nearest_images)
{
    for (const Box<double>& edges : tilted_boxes())
    {
        const PeriodicBox<Double> box(edges);
        for_random_fractions([&](const Vec3<double>& a, const Vec3<double>& b) {
            const auto from = box.to_fixed(edges.to_nm(a)), to = box.to_fixed(edges.to_nm(b) - 2.0 * edge_vector(edges, 1));
            EXPECT_LE(norm(edges.image(box.to_nm(from) - edges.to_nm(a))), 1e-14);
            const Vec3<double> difference = box.difference(from, to);
            EXPECT_LE(norm(box.difference(box.displaced(to, difference), from)), 1e-14);
            const double shortest = shortest_image(edges, edges.to_nm(a) - edges.to_nm(b));
            if (shortest < 0.5 * edges.least_height()) { EXPECT_NEAR(norm(difference), shortest, 1e-13); }
        });
    }
}
