// SPDX-License-Identifier: Apache-2.0
// B-splines and grid sizes against their definitions.
#include "interactions/mesh/mesh_size.hpp"
#include "interactions/mesh/spline.hpp"

#include "base/units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

using namespace parhelion;

namespace {

template <int order_>
struct Order
{
    static constexpr int order = order_;
};
template <class O>
class Splines : public ::testing::Test
{
};
using Orders = ::testing::Types<Order<3>, Order<4>, Order<5>, Order<6>, Order<7>, Order<8>>;
TYPED_TEST_SUITE(Splines, Orders);

// M_n(u), by its closed form: sum_k (-1)^k C(n, k) max(0, u - k)^(n-1) / (n - 1)!
double cardinal_spline(int n, double u)
{
    double sum = 0, binomial = 1, factorial = 1;
    for (int k = 1; k < n; ++k) { factorial *= k; }
    for (int k = 0; k <= n; ++k)
    {
        if (u > k) { sum += (k % 2 == 0 ? 1 : -1) * binomial * std::pow(u - k, n - 1); }
        binomial *= static_cast<double>(n - k) / (k + 1);
    }
    return sum / factorial;
}

} // namespace

TYPED_TEST(Splines, weights_are_those_of_the_closed_form)
{
    constexpr int order = TypeParam::order;
    for (const double w : {0.0, 1e-9, 0.125, 0.5, 0.77, 1.0})
    {
        double weight[order], derivative[order], sum = 0, slope = 0, first = 0, second = 0;
        spline_weights<order, double>(w, weight, derivative);
        for (int j = 0; j < order; ++j)
        {
            // An atom at u spreads M(u - point) shifted by the width: point i + j has M(w + order - 1 - j).
            EXPECT_NEAR(weight[j], cardinal_spline(order, w + order - 1 - j), 2e-13) << j;
            EXPECT_NEAR(derivative[j],
                        cardinal_spline(order - 1, w + order - 1 - j) - cardinal_spline(order - 1, w + order - 2 - j), 1e-12)
                << j;
            sum += weight[j], slope += derivative[j];
            const double u = w + order - 1 - j - order / 2.0; // from the spline's middle
            first += weight[j] * u, second += weight[j] * u * u;
        }
        EXPECT_NEAR(first, 0, 1e-15);
        if (order > 3)
        {
            EXPECT_NEAR(second, order / 12.0, 4e-15);
        } // as the sum of uniform numbers; order 3 reproduces no squares
        EXPECT_NEAR(sum, 1, 4e-16);
        EXPECT_NEAR(slope, 0, 4e-16);
    }
}

TYPED_TEST(Splines, derivatives_are_slopes_of_the_weights)
{
    constexpr int order = TypeParam::order;
    constexpr double h = 1e-5;
    double weight[order], derivative[order], above[order], below[order], unused[order];
    spline_weights<order, double>(0.3, weight, derivative);
    spline_weights<order, double>(0.3 + h, above, unused);
    spline_weights<order, double>(0.3 - h, below, unused);
    for (int j = 0; j < order; ++j) { EXPECT_NEAR(derivative[j], (above[j] - below[j]) / (2 * h), 1e-9) << j; }
}

TYPED_TEST(Splines, moduli_are_those_of_their_sum)
{
    constexpr int order = TypeParam::order;
    for (const int points : {6, 7, 14, 15, 20, 21, 28, 42, 64, 100, 320})
    {
        const std::vector<double> moduli = spline_moduli(order, points);
        for (int m = 0; m < points; ++m)
        {
            std::complex<double> sum = 0;
            for (int j = 0; j <= order - 2; ++j)
            {
                sum += cardinal_spline(order, j + 1) * std::polar(1.0, 2 * units::pi * m * j / points);
            }
            if (order % 2 == 1 && 2 * m == points)
            {
                const auto i = static_cast<std::size_t>(m);
                EXPECT_EQ(moduli[i], 0.5 * (moduli[i - 1] + moduli[i + 1]));
            }
            else { EXPECT_NEAR(moduli[static_cast<std::size_t>(m)], std::norm(sum), 1e-13) << points << " " << m; }
        }
    }
}

TEST(MeshPlace, is_the_whole_part_and_the_rest_of_fraction_times_points)
{
    std::mt19937_64 random(7);
    for (const std::uint32_t points : {6u, 28u, 45u, 320u, 4096u})
    {
        for (int i = 0; i < 1000; ++i)
        {
            const std::uint64_t x = random();
            const long double place = std::ldexp(static_cast<long double>(x), -64) * points;
            const MeshPlace<double> found = mesh_place(x, points);
            EXPECT_EQ(found.point, static_cast<std::int32_t>(std::floor(place)));
            EXPECT_NEAR(found.offset, static_cast<double>(place - std::floor(place)), 1e-15);
            const auto x32 = static_cast<std::uint32_t>(x >> 32);
            const MeshPlace<float> single = mesh_place(x32, points);
            EXPECT_EQ(single.point, static_cast<std::int32_t>((std::uint64_t{x32} * points) >> 32));
            EXPECT_NEAR(single.offset, std::ldexp(static_cast<double>(std::uint32_t(x32 * points)), -32), 6e-8);
        }
    }
    EXPECT_EQ(mesh_place(~std::uint64_t{0}, 28).point, 27);
    EXPECT_EQ(mesh_place(~std::uint32_t{0}, 28).point, 27);
}

TEST(MeshSize, is_that_of_gromacs_for_the_benchmark_boxes)
{
    RunParameters run;
    const auto size = [&](double x, double y, double z) { return mesh_size(run, {x, y, z}); };
    EXPECT_EQ(size(3.105076551, 3.105076551, 3.105076551), (std::array{28, 28, 28}));
    EXPECT_EQ(size(4.919, 4.510, 3.693), (std::array{42, 40, 32}));
    EXPECT_EQ(size(7.6, 7.6, 7.6), (std::array{64, 64, 64}));
    EXPECT_EQ(size(15.3, 15.3, 7.66), (std::array{128, 128, 64}));
    run.mesh_ny = 45;
    EXPECT_EQ(size(7.6, 7.6, 7.6), (std::array{64, 45, 64}));
    run.pme_order = 8;
    EXPECT_EQ(size(0.5, 0.5, 7.6), (std::array{14, 45, 64}));
}

TEST(EwaldBeta, solves_its_equation)
{
    RunParameters run;
    for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8})
    {
        for (const double cutoff : {0.6, 0.9, 1.2, 1.6})
        {
            run.ewald_tolerance = tolerance, run.coulomb_cutoff = cutoff;
            const double beta = ewald_beta(run);
            EXPECT_NEAR(std::erfc(beta * cutoff) / tolerance, 1, 1e-13);
            EXPECT_LE(std::erfc(beta * (1 + 1e-15) * cutoff), tolerance);
            EXPECT_GE(std::erfc(beta * (1 - 1e-15) * cutoff), tolerance);
        }
    }
    run.ewald_tolerance = 1e-5, run.coulomb_cutoff = 0.9;
    EXPECT_NEAR(ewald_beta(run), 3.470459194, 1e-9);
}
