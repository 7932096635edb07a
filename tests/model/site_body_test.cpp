// SPDX-License-Identifier: Apache-2.0
// Every kind of virtual site against its formula as the GROMACS manual writes it, and its forces against derivatives.
#include "model/site_body.hpp"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace parhelion {
namespace {

using Points = std::vector<Vec3<double>>;

struct Kind
{
    std::string name;
    SiteKind kind;
    int atoms;
    std::vector<double> parameters;
    std::function<Vec3<double>(const Points&)> place; // by positions
    friend std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }
};

Vec3<double> unit(const Vec3<double>& v) { return (1 / norm(v)) * v; }

constexpr double angle = 2.0594885173533086; // 118 degrees

const std::vector<Kind> kinds = {
    {"one", SiteKind::Linear, 1, {}, [](const Points& r) { return r[0]; }},
    {"two", SiteKind::Linear, 2, {0.3}, [](const Points& r) { return 0.7 * r[0] + 0.3 * r[1]; }},
    {"three",
     SiteKind::Linear,
     3,
     {0.128, 0.4},
     [](const Points& r) { return (1 - 0.128 - 0.4) * r[0] + 0.128 * r[1] + 0.4 * r[2]; }},
    {"mean",
     SiteKind::Mean,
     5,
     {0.1, 0.3, 0.15, 0.05},
     [](const Points& r) { return 0.4 * r[0] + 0.1 * r[1] + 0.3 * r[2] + 0.15 * r[3] + 0.05 * r[4]; }},
    {"fixed_distance_2", SiteKind::FixedDistance2, 2, {0.1}, [](const Points& r) { return r[0] + 0.1 * unit(r[1] - r[0]); }},
    {"fixed_distance_3",
     SiteKind::FixedDistance3,
     3,
     {0.4, -0.105},
     [](const Points& r) { return r[0] - 0.105 * unit(r[1] - r[0] + 0.4 * (r[2] - r[1])); }},
    {"fixed_angle_3",
     SiteKind::FixedAngle3,
     3,
     {0.11 * std::cos(angle), 0.11 * std::sin(angle)},
     [](const Points& r) {
         const Vec3<double> ij = r[1] - r[0], jk = r[2] - r[1], across = jk - (dot(ij, jk) / dot(ij, ij)) * ij;
         return r[0] + 0.11 * std::cos(angle) * unit(ij) + 0.11 * std::sin(angle) * unit(across);
     }},
    {"out_of_plane_3",
     SiteKind::OutOfPlane3,
     3,
     {-0.34, -0.36, -6.4},
     [](const Points& r) { return r[0] - 0.34 * (r[1] - r[0]) - 0.36 * (r[2] - r[0]) - 6.4 * cross(r[1] - r[0], r[2] - r[0]); }},
    {"fixed_distance_4",
     SiteKind::FixedDistance4,
     4,
     {0.9, 1.1, -0.108},
     [](const Points& r) {
         const Vec3<double> ja = 0.9 * (r[2] - r[0]) - (r[1] - r[0]), jb = 1.1 * (r[3] - r[0]) - (r[1] - r[0]);
         return r[0] - 0.108 * unit(cross(ja, jb));
     }},
};

Points away_from_first(const Points& r)
{
    Points d;
    for (std::size_t k = 1; k < r.size(); ++k) { d.push_back(r[k] - r[0]); }
    return d;
}

class Sites : public ::testing::TestWithParam<Kind>
{
protected:
    Points draw()
    {
        Points r;
        for (int k = 0; k < GetParam().atoms; ++k) { r.push_back(0.15 * vector()); }
        return r;
    }
    Vec3<double> vector() { return {normal_(random_), normal_(random_), normal_(random_)}; }
    Points forces(const Points& r, const Vec3<double>& f) const
    {
        const Points d = away_from_first(r);
        Points on(d.size());
        spread_force(GetParam().kind, GetParam().parameters.data(), d.data(), static_cast<int>(d.size()), f, on.data());
        Vec3<double> first = f;
        for (const Vec3<double>& other : on) { first -= other; }
        on.insert(on.begin(), first);
        return on;
    }

private:
    std::mt19937_64 random_{5};
    std::normal_distribution<double> normal_;
};

} // namespace

TEST_P(Sites, are_where_the_formula_says)
{
    for (int i = 0; i < 100; ++i)
    {
        const Points r = draw(), d = away_from_first(r);
        const Vec3<double> place =
            r[0] + site_offset(GetParam().kind, GetParam().parameters.data(), d.data(), static_cast<int>(d.size()));
        EXPECT_LE(norm(place - GetParam().place(r)), 1e-15 * (1 + norm(place))); // some roundings of numbers below 10
    }
}

// Two-sided differences of fourth order leave 1e-10 of rounding and 1e-12 of the fifth derivative where atoms are apart.
TEST_P(Sites, hand_over_a_force_as_the_derivative_of_its_work)
{
    for (int i = 0; i < 100; ++i)
    {
        const Points r = draw();
        const Vec3<double> f = vector();
        const Points on = forces(r, f);
        double largest = 0;
        for (const Vec3<double>& force : on) { largest = std::max(largest, norm(force)); }
        if (largest > 20 * norm(f)) { continue; } // nearly on a line: the difference quotient is no measure there
        for (std::size_t k = 0; k < r.size(); ++k)
        {
            for (int a = 0; a < 3; ++a)
            {
                const auto work = [&](double by) {
                    Points moved = r;
                    moved[k][a] += by;
                    return dot(f, GetParam().place(moved));
                };
                constexpr double h = 1e-4;
                const double derivative = (8 * (work(h) - work(-h)) - (work(2 * h) - work(-2 * h))) / (12 * h);
                EXPECT_NEAR(on[k][a], derivative, 1e-6 * largest) << k << a;
            }
        }
    }
}

// A turn of all atoms turns the site: torques agree, to rounding.
TEST_P(Sites, hand_over_the_torque)
{
    for (int i = 0; i < 100; ++i)
    {
        const Points r = draw();
        const Vec3<double> f = vector();
        const Points on = forces(r, f);
        Vec3<double> torque = -cross(GetParam().place(r), f);
        double scale = norm(torque);
        for (std::size_t k = 0; k < r.size(); ++k)
        {
            torque += cross(r[k], on[k]);
            scale += norm(on[k]);
        }
        EXPECT_LE(norm(torque), 1e-13 * scale);
    }
}

// All in one place, or on one line: numbers are finite, and no more is asked.
TEST_P(Sites, are_finite_where_directions_do_not_exist)
{
    for (const double apart : {0.0, 0.1})
    {
        Points r(static_cast<std::size_t>(GetParam().atoms));
        for (std::size_t k = 0; k < r.size(); ++k) { r[k] = {apart * static_cast<double>(k), 0, 0}; }
        const Points d = away_from_first(r);
        Points numbers = forces(r, {1, 2, 3});
        numbers.push_back(site_offset(GetParam().kind, GetParam().parameters.data(), d.data(), static_cast<int>(d.size())));
        for (const Vec3<double>& number : numbers) { EXPECT_TRUE(std::isfinite(norm(number))); }
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Sites, ::testing::ValuesIn(kinds), [](const auto& test) { return test.param.name; });

} // namespace parhelion
