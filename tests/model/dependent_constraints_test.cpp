// SPDX-License-Identifier: Apache-2.0
// Which sets of distances are independent: figures of which the theory of rigid frameworks knows the answer.
#include "model/dependent_constraints.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace parhelion;

namespace {

struct Figure
{
    std::vector<Vec3<double>> x;
    std::vector<Constraint> constraints;

    void hold(int a, int b)
    {
        constraints.push_back({a, b, norm(x[static_cast<std::size_t>(a)] - x[static_cast<std::size_t>(b)])});
    }
    std::vector<std::size_t> dependent() const
    {
        std::vector<Vec3<double>> direction;
        for (const Constraint& c : constraints)
        {
            direction.push_back(x[static_cast<std::size_t>(c.a)] - x[static_cast<std::size_t>(c.b)]);
        }
        return dependent_constraints(constraints, direction);
    }
    void remove(const std::vector<std::size_t>& which)
    {
        for (auto i = which.rbegin(); i != which.rend(); ++i)
        {
            constraints.erase(constraints.begin() + static_cast<std::ptrdiff_t>(*i));
        }
    }
};

// Every distance of so many atoms at random places.
Figure cluster(int atoms, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> place(0, 0.3);
    Figure f;
    for (int a = 0; a < atoms; ++a)
    {
        f.x.push_back({place(random), place(random), place(random)});
        for (int b = 0; b < a; ++b) { f.hold(b, a); }
    }
    return f;
}

// As three decimals of a .gro leave it, after a rotation.
Figure rounded(Figure f, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    Vec3<double> e1{normal(random), normal(random), normal(random)}, e2{normal(random), normal(random), normal(random)};
    e1 *= 1 / norm(e1);
    e2 -= dot(e1, e2) * e1;
    e2 *= 1 / norm(e2);
    const Vec3<double> e3 = cross(e1, e2);
    for (Vec3<double>& x : f.x)
    {
        x = x.x * e1 + x.y * e2 + x.z * e3;
        for (int d = 0; d < 3; ++d) { x[d] = std::round(1000 * x[d]) / 1000; }
    }
    return f;
}

Figure carbon_dioxide()
{
    Figure f{{{-0.116, 0, 0}, {0, 0, 0}, {0.116, 0, 0}}, {}};
    f.hold(0, 1), f.hold(1, 2), f.hold(0, 2);
    return f;
}

Figure square(bool second_diagonal)
{
    Figure f{{{0, 0, 0}, {0.15, 0, 0}, {0.15, 0.15, 0}, {0, 0.15, 0}}, {}};
    f.hold(0, 1), f.hold(1, 2), f.hold(2, 3), f.hold(3, 0), f.hold(0, 2);
    if (second_diagonal) { f.hold(1, 3); }
    return f;
}

} // namespace

TEST(DependentConstraints, are_none_without_a_ring_even_on_a_line)
{
    Figure f;
    for (int a = 0; a < 20; ++a)
    {
        f.x.push_back({0.1 * a, 0, 0});
        if (a > 0) { f.hold(a - 1, a); }
    }
    EXPECT_TRUE(f.dependent().empty());
    EXPECT_TRUE(have_no_ring(f.constraints));
    f.hold(0, 2);
    EXPECT_FALSE(have_no_ring(f.constraints));
    EXPECT_EQ(f.dependent(), std::vector<std::size_t>{19});
}

TEST(DependentConstraints, of_three_atoms_on_a_line_are_found_however_a_gro_rounds_them)
{
    EXPECT_EQ(carbon_dioxide().dependent(), std::vector<std::size_t>{2});
    for (unsigned seed = 0; seed < 2000; ++seed)
    {
        EXPECT_EQ(rounded(carbon_dioxide(), seed).dependent(), std::vector<std::size_t>{2}) << seed;
    }
    EXPECT_EQ(flat_triangles(carbon_dioxide().constraints), std::vector<std::size_t>{2});
    Figure bent = carbon_dioxide(); // as far as a linear molecule never is
    bent.x[1].y = 0.01;
    bent.constraints.clear();
    bent.hold(0, 1), bent.hold(1, 2), bent.hold(0, 2);
    EXPECT_TRUE(bent.dependent().empty());
    EXPECT_TRUE(flat_triangles(bent.constraints).empty());
}

TEST(DependentConstraints, of_four_atoms_in_a_plane_are_all_six_and_no_five)
{
    EXPECT_TRUE(square(false).dependent().empty()); // two triangles, which may fold
    for (unsigned seed = 0; seed < 500; ++seed)
    {
        EXPECT_EQ(rounded(square(true), seed).dependent(), std::vector<std::size_t>{5}) << seed;
        EXPECT_TRUE(rounded(square(false), seed).dependent().empty()) << seed;
    }
}

// n atoms have 3 n - 6 independent distances, and no more.
TEST(DependentConstraints, of_a_cluster_are_those_beyond_its_rank_and_without_them_there_are_none)
{
    for (const int atoms : {3, 4, 5, 6, 8})
    {
        for (unsigned seed = 1; seed <= 20; ++seed)
        {
            Figure f = cluster(atoms, seed);
            const std::vector<std::size_t> dependent = f.dependent();
            const auto expected = static_cast<std::size_t>(atoms * (atoms - 1) / 2 - (3 * atoms - 6));
            EXPECT_GE(dependent.size(), expected) << atoms << " atoms, seed " << seed;
            if (atoms > 4) { EXPECT_LE(dependent.size(), expected + 1) << atoms << " atoms, seed " << seed; } // nearly flat ones
            f.remove(dependent);
            EXPECT_TRUE(f.dependent().empty());
        }
    }
}

TEST(DependentConstraints, are_none_in_an_octahedron_nor_in_sheets_of_rings)
{
    Figure octahedron{{{0.1, 0, 0}, {-0.1, 0, 0}, {0, 0.1, 0}, {0, -0.1, 0}, {0, 0, 0.1}, {0, 0, -0.1}}, {}};
    for (int a = 0; a < 6; ++a)
    {
        for (int b = a + 1; b < 6; ++b)
        {
            if (a / 2 != b / 2) { octahedron.hold(a, b); } // four at each atom: laid aside are none
        }
    }
    EXPECT_TRUE(octahedron.dependent().empty());
    octahedron.hold(0, 1);
    EXPECT_EQ(octahedron.dependent(), std::vector<std::size_t>{12});

    Figure sheet; // hexagons in a plane, as of graphene: bricks whose every second joint is missing
    const int rows = 5, columns = 9;
    for (int r = 0; r < rows; ++r)
    {
        for (int c = 0; c < columns; ++c)
        {
            sheet.x.push_back({0.123 * c, 0.213 * r + ((r + c) % 2 == 0 ? 0.071 : 0), 0});
            const int atom = r * columns + c;
            if (c > 0) { sheet.hold(atom - 1, atom); }
            if (r > 0 && (r + c) % 2 == 1) { sheet.hold(atom - columns, atom); }
        }
    }
    EXPECT_TRUE(sheet.dependent().empty());
}
