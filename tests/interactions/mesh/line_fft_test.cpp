// SPDX-License-Identifier: Apache-2.0
// Transforms of whole grids against the defining sum, in wide arithmetic: every radix, odd and even lengths.
#include "interactions/mesh/mesh_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <utility>

using namespace parhelion;
using namespace parhelion::mesh;

namespace {

template <class Real>
struct Grid
{
    Layout layout;
    std::vector<LineFft<Real>> fft;
    AlignedVector<Real> grid, spectrum, work;
    std::vector<Real*> rows, planes; // of the spectrum, which lies backwards: [x][y], and the first row of each plane

    explicit Grid(const std::array<int, 3>& points)
    {
        layout.points = points;
        layout.row = (static_cast<std::size_t>(points[2]) + 14) / 8 * 8;
        layout.kz_row = (static_cast<std::size_t>(layout.kz()) + 7) / 8 * 8;
        for (const int n : points) { fft.emplace_back(n); }
        grid.resize(static_cast<std::size_t>(points[0]) * layout.plane());
        const auto of_plane = static_cast<std::size_t>(points[1]), all = static_cast<std::size_t>(points[0]);
        spectrum.resize(all * of_plane * layout.spectrum_row());
        for (std::size_t x = 0; x < all; ++x)
        {
            planes.push_back(spectrum.data() + (all - 1 - x) * of_plane * layout.spectrum_row());
            for (std::size_t y = 0; y < of_plane; ++y) { rows.push_back(planes.back() + y * layout.spectrum_row()); }
        }
        work.resize(work_size(layout));
    }
    Transforms<Real> transforms(const Influence<Real>* influence) { return {&layout, {&fft[0], &fft[1], &fft[2]}, influence}; }
    Real* plane(int x) { return grid.data() + static_cast<std::size_t>(x) * layout.plane(); }
    Real** rows_of(int x) { return rows.data() + static_cast<std::size_t>(x * layout.points[1]); }
    Real& at(int x, int y, int z)
    {
        return grid[static_cast<std::size_t>(x) * layout.plane() + static_cast<std::size_t>(y) * layout.row +
                    static_cast<std::size_t>(z)];
    }
};

using Wide = std::complex<long double>;

// exp(-2 pi i k / n), k = 0 ... n - 1.
std::vector<Wide> roots(int n)
{
    std::vector<Wide> result;
    for (int k = 0; k < n; ++k) { result.push_back(std::polar(1.0L, -2 * std::acos(-1.0L) * k / n)); }
    return result;
}

// The transform of a plane [y][z] by its definition.
std::vector<Wide> transform(const std::vector<long double>& plane, int ny, int nz)
{
    const std::vector<Wide> root_y = roots(ny), root_z = roots(nz);
    const auto at = [nz](int y, int z) { return static_cast<std::size_t>(y * nz + z); };
    std::vector<Wide> along_z(plane.size()), result(plane.size());
    for (int y = 0; y < ny; ++y)
    {
        for (int k = 0; k < nz; ++k)
        {
            for (int z = 0; z < nz; ++z) { along_z[at(y, k)] += plane[at(y, z)] * root_z[static_cast<std::size_t>(k * z % nz)]; }
        }
    }
    for (int k = 0; k < nz; ++k)
    {
        for (int l = 0; l < ny; ++l)
        {
            for (int y = 0; y < ny; ++y) { result[at(l, k)] += along_z[at(y, k)] * root_y[static_cast<std::size_t>(l * y % ny)]; }
        }
    }
    return result;
}

// Every length up to beyond the largest that GROMACS chooses for boxes of 38 nm, and some of those that only users ask for: large
// ones, powers of each radix, primes.
std::vector<int> lengths()
{
    std::vector<int> all;
    for (int n = 6; n <= 322; ++n) { all.push_back(n); }
    for (const int n : {343, 512, 625, 729, 1001, 1021, 1331}) { all.push_back(n); }
    return all;
}

template <class Real>
class LineFfts : public ::testing::Test
{
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LineFfts, Reals);

} // namespace

TYPED_TEST(LineFfts, of_a_plane_are_those_of_the_definition_and_back)
{
    const Influence<TypeParam> rectangular;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const int n : lengths()) // along y and along z
    {
        const int other = n % 2 == 0 ? 7 : 8;
        for (const auto& [ny, nz] : {std::pair(n, other), {other, n}})
        {
            Grid<TypeParam> g({6, ny, nz});
            std::vector<long double> plane(static_cast<std::size_t>(ny * nz));
            for (int y = 0; y < ny; ++y)
            {
                for (int z = 0; z < nz; ++z)
                {
                    g.at(2, y, z) = static_cast<TypeParam>(uniform(random));
                    plane[static_cast<std::size_t>(y * nz + z)] = g.at(2, y, z);
                }
            }
            forward_plane(g.transforms(&rectangular), g.plane(2), g.rows_of(2), g.work.data());
            const std::vector<Wide> expected = transform(plane, ny, nz);
            const double epsilon = std::numeric_limits<TypeParam>::epsilon(),
                         bound = 2 * epsilon * std::log2(ny * nz) * std::sqrt(ny * nz);
            for (int l = 0; l < ny; ++l)
            {
                for (int k = 0; k <= nz / 2; ++k)
                {
                    const TypeParam* const at = g.rows_of(2)[l] + k;
                    const Wide& e = expected[static_cast<std::size_t>(l * nz + k)];
                    ASSERT_NEAR(at[0], static_cast<double>(e.real()), bound) << ny << "x" << nz << " " << l << " " << k;
                    ASSERT_NEAR(at[g.layout.kz_row], static_cast<double>(e.imag()), bound)
                        << ny << "x" << nz << " " << l << " " << k;
                }
            }
            backward_plane(g.transforms(&rectangular), g.rows_of(2), g.plane(2), g.work.data());
            for (int y = 0; y < ny; ++y)
            {
                for (int z = 0; z < static_cast<int>(g.layout.row); ++z) // the copies behind the row, too
                {
                    const auto value = static_cast<double>(plane[static_cast<std::size_t>(y * nz + z % nz)]) * ny * nz;
                    ASSERT_NEAR(g.at(2, y, z), value, 4 * epsilon * std::log2(ny * nz) * ny * nz) << ny << "x" << nz;
                }
            }
        }
    }
}

// A grid with one wave, exp(2 pi i (a x / nx + b y / ny + c z / nz)) and its conjugate: the solver multiplies it by G.
TYPED_TEST(LineFfts, and_the_solver_multiply_a_wave_by_the_influence_function)
{
    const std::array<int, 3> points = {20, 14, 21};
    Grid<TypeParam> g(points);
    Influence<TypeParam> influence;
    influence.scale = static_cast<TypeParam>(3);
    influence.inverse_beta2_pi2 = static_cast<TypeParam>(0.25);
    const std::array<std::size_t, 3> sizes = {20, 14, g.layout.kz_row};
    for (std::size_t d = 0; d < 3; ++d)
    {
        influence.m[d].assign(sizes[d], 1), influence.factor[d].assign(sizes[d], 0);
        const int used = d == 2 ? g.layout.kz() : points[d];
        for (int k = 0; k < used; ++k)
        {
            influence.m[d][static_cast<std::size_t>(k)] = static_cast<TypeParam>((2 * k < points[d] ? k : k - points[d]) * 0.5);
            influence.factor[d][static_cast<std::size_t>(k)] = static_cast<TypeParam>(1.0 + 0.1 * k);
        }
    }
    influence.kz_weight.assign(g.layout.kz_row, 1);
    influence.kz_weight[0] = static_cast<TypeParam>(0.5);
    const int a = 17, b = 3, c = 5; // a is wave -3
    const auto wave = [&](int x, int y, int z) {
        return std::cos(2 * std::acos(-1.0) * (a * x / 20.0 + b * y / 14.0 + c * z / 21.0));
    };
    for (int x = 0; x < 20; ++x)
    {
        for (int y = 0; y < 14; ++y)
        {
            for (int z = 0; z < 21; ++z) { g.at(x, y, z) = static_cast<TypeParam>(wave(x, y, z)); }
        }
    }
    const Transforms<TypeParam> t = g.transforms(&influence);
    for (int x = 0; x < 20; ++x) { forward_plane(t, g.plane(x), g.rows_of(x), g.work.data()); }
    LineSums sums;
    for (int y = 0; y < 14; ++y)
    {
        const std::size_t offset = static_cast<std::size_t>(y) * g.layout.spectrum_row();
        solve(t, SpectrumRow<TypeParam>{y, g.planes.data(), g.planes.data(), offset}, g.work.data(), &sums);
    }
    for (int x = 0; x < 20; ++x) { backward_plane(t, g.rows_of(x), g.plane(x), g.work.data()); }
    const double n = 20 * 14 * 21, mx = -1.5, my = 1.5, mz = 2.5, m2 = mx * mx + my * my + mz * mz;
    // The factor of the conjugate wave (-a, -b, c) is that of indices 3 and 11.
    const double of_wave = 3 * (1 + 1.7) * (1 + 0.3) * (1 + 0.5) / m2;
    const double energy = of_wave * (n / 2) * (n / 2);
    const double epsilon = std::numeric_limits<TypeParam>::epsilon();
    EXPECT_NEAR(sums.energy / energy, 1, 20 * epsilon);
    const double h = energy * (1 / m2 + 0.25);
    const double expected[6] = {h * mx * mx, h * mx * my, h * mx * mz, h * my * my, h * my * mz, h * mz * mz};
    for (std::size_t e = 0; e < 6; ++e) { EXPECT_NEAR(sums.virial[e] / expected[e], 1, 40 * epsilon) << e; }
    for (const auto& [x, y, z] : {std::array{0, 0, 0}, {3, 4, 5}, {19, 13, 20}})
    {
        EXPECT_NEAR(g.at(x, y, z) / (of_wave * n), wave(x, y, z), 100 * epsilon);
    }
}
