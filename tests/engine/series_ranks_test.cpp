// SPDX-License-Identifier: Apache-2.0
// The 45 000-atom box of the water/ethanol series on several ranks: what one rank computes, in every policy.
#include "run_helpers.hpp"
#include "series.hpp"
#include "support/compare.hpp"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

SinglePoint evaluate(const LoadedInput& input, const std::array<int, 3>& grid, HaloMethod halo, int threads, Precision precision,
                     Summation summation)
{
    SimulationOptions options;
    options.precision = precision, options.summation = summation;
    options.threads = threads;
    options.grid = grid;
    options.halo = halo;
    return Simulation(input.system, input.parameters, options).evaluate();
}

struct Layout
{
    Grid grid;
    HaloMethod halo;
    int threads;
};
// Six that meet every number of ranks and every method; in the nightly tier every grid of 2, 3, 4, 6 and 8 ranks by every method.
std::vector<Layout> layouts()
{
    if (std::getenv("PARHELION_TEST_EVERY_GRID") == nullptr)
    {
        return {{{1, 1, 2}, HaloMethod::Direct, 2},      {{3, 1, 1}, HaloMethod::StagedHost, 1},
                {{1, 2, 2}, HaloMethod::StagedFused, 4}, {{1, 2, 3}, HaloMethod::StagedFused, 1},
                {{2, 2, 2}, HaloMethod::StagedHost, 1},  {{2, 2, 2}, HaloMethod::Direct, 3}};
    }
    std::vector<Layout> all;
    for (const Grid& grid : grids())
    {
        for (const HaloMethod method : halo_methods) { all.push_back({grid, method, 1 + static_cast<int>(all.size()) % 4}); }
    }
    return all;
}

} // namespace

TEST(SeriesRanks, compute_the_box_of_45000_atoms_as_one_rank_does)
{
    const LoadedInput input = load_series();
    const auto [one_double, one_mixed] =
        std::pair(evaluate(input, {1, 1, 1}, HaloMethod::Direct, 2, Precision::Double, Summation::Fast),
                  evaluate(input, {1, 1, 1}, HaloMethod::Direct, 2, Precision::Mixed, Summation::Fast));
    for (const Layout& l : layouts())
    {
        SCOPED_TRACE(testing::PrintToString(l.grid));
        const SinglePoint in_double = evaluate(input, l.grid, l.halo, l.threads, Precision::Double, Summation::Fast);
        EXPECT_LE(rms_relative(in_double.forces, one_double.forces), 1e-12);
        EXPECT_NEAR(in_double.observables.potential, one_double.observables.potential,
                    1e-12 * std::abs(one_double.observables.potential));
        EXPECT_LE(max_relative(in_double.observables.virial, one_double.observables.virial), 3e-11);
        const SinglePoint in_mixed = evaluate(input, l.grid, l.halo, l.threads, Precision::Mixed, Summation::Fast);
        EXPECT_LE(rms_relative(in_mixed.forces, one_mixed.forces), 3e-7);
    }
}

TEST(SeriesRanks, give_the_box_of_45000_atoms_the_bits_of_one_rank)
{
    const LoadedInput input = load_series();
    const SinglePoint one = evaluate(input, {1, 1, 1}, HaloMethod::Direct, 2, Precision::Mixed, Summation::Reproducible);
    for (const Layout& l : layouts())
    {
        SCOPED_TRACE(testing::PrintToString(l.grid));
        const SinglePoint point = evaluate(input, l.grid, l.halo, l.threads, Precision::Mixed, Summation::Reproducible);
        EXPECT_EQ(point.forces, one.forces);
        EXPECT_EQ(point.observables.forces.energy, one.observables.forces.energy);
        EXPECT_EQ(point.observables.virial, one.observables.virial);
        EXPECT_EQ(point.observables.constraint_rmsd, one.observables.constraint_rmsd);
        EXPECT_EQ(point.observables.kinetic, one.observables.kinetic);
    }
}
