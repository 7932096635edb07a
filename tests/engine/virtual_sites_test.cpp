// SPDX-License-Identifier: Apache-2.0
// Runs with virtual sites of every kind (tests/data/sites): against gmx_d, derivatives, and themselves on ranks.
#include "site_runs.hpp"

#include <algorithm>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

template <class F>
double derivative(F&& of, double h)
{
    return (8 * (of(h) - of(-h)) - (of(2 * h) - of(-2 * h))) / (12 * h);
}

double potential(const Refdata& data) { return simulate(data, Precision::Double).evaluate().observables.potential; }

class VirtualSitesOfRuns : public ::testing::TestWithParam<std::string>
{
};

} // namespace

// Of gmx_d, to rounding; with a mesh its correction for pairs that exclude each other, a few hundredths of nm apart, is good to
// 1e-8. Forces on atoms are those with what their sites get; sites have none.
TEST_P(VirtualSitesOfRuns, have_the_energies_and_forces_of_the_reference)
{
    const Refdata data = load_sites(GetParam());
    const SinglePoint point = simulate(data, Precision::Double).evaluate();
    const auto expected = reference_energies(GetParam());
    const bool has_mesh = GetParam() == "pme";
    for (const auto& row : energy_term_table)
    {
        std::string name(row.name);
        std::replace(name.begin(), name.end(), '-', ' ');
        if (!expected.contains(name)) { continue; }
        EXPECT_NEAR(point.observables.forces[row.term], expected.at(name),
                    (has_mesh ? 5e-8 : 1e-12) * std::abs(expected.at(name)))
            << name;
    }
    EXPECT_LE(rms_relative(point.forces, reference_forces(GetParam())), has_mesh ? 1e-8 : 1e-12);
    EXPECT_LE(max_relative(point.observables.virial, reference_virial(GetParam())), has_mesh ? 1e-7 : 1e-12);
}

TEST_P(VirtualSitesOfRuns, in_mixed_precision_have_the_forces_of_double)
{
    const Refdata data = load_sites(GetParam());
    EXPECT_LE(
        rms_relative(simulate(data, Precision::Mixed).evaluate().forces, simulate(data, Precision::Double).evaluate().forces),
        2e-6);
}

TEST_P(VirtualSitesOfRuns, have_forces_that_are_the_gradient)
{
    const Refdata data = load_smooth(GetParam());
    const std::vector<Vec3<double>> forces = simulate(data, Precision::Double).evaluate().forces;
    double sum2 = 0;
    for (const Vec3<double>& f : forces) { sum2 += norm2(f); }
    const double rms = std::sqrt(sum2 / static_cast<double>(forces.size()));
    for (std::size_t atom = 3; atom < forces.size(); atom += forces.size() / 17)
    {
        for (int d = 0; d < 3; ++d)
        {
            const double slope = derivative(
                [&](double by) {
                    Refdata moved = data;
                    moved.system.x[atom][d] += by;
                    return potential(moved);
                },
                1e-5);
            EXPECT_NEAR(-slope, forces[atom][d], 1e-7 * rms) << data.system.topology.describe(static_cast<std::int64_t>(atom));
        }
    }
}

// The axes, and shears of the second and third axis along the first, and of the third along the second; the virial is symmetric.
TEST_P(VirtualSitesOfRuns, have_the_virial_of_the_strain_derivative)
{
    const Refdata data = load_smooth(GetParam());
    const Mat3<double> virial = simulate(data, Precision::Double).evaluate().observables.forces.virial;
    const double scale = norm(diagonal(virial));
    constexpr int strains[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (const auto& [a, b] : strains)
    {
        const double slope = derivative(
            [&, a = a, b = b](double strain) {
                Refdata strained = data;
                Vec3<double> edges = data.system.box.diagonal(), tilt;
                if (a == b) { edges[a] *= 1 + strain; }
                else { tilt[a + b - 1] = strain * edges[b]; }
                strained.system.box = {edges, tilt};
                for (Vec3<double>& x : strained.system.x) { x[a] += strain * x[b]; }
                return potential(strained);
            },
            2e-5);
        EXPECT_NEAR(slope, 2 * virial[a][b], 1e-6 * scale) << a << b;
        EXPECT_NEAR(virial[a][b], virial[b][a], 1e-9 * scale);
    }
}

TEST_P(VirtualSitesOfRuns, have_the_bits_of_one_rank_on_every_grid)
{
    for (const Integrator integrator : {Integrator::LeapFrog, Integrator::StochasticDynamics})
    {
        const Refdata data = moved_by_everything(GetParam(), integrator);
        const auto frames_on = [&](const Grid& grid) {
            SimulationOptions options;
            options.precision = Precision::Mixed, options.summation = Summation::Reproducible;
            options.grid = grid, options.threads = 1;
            Recorder recorder;
            Simulation simulation(data.system, data.parameters, options);
            simulation.run(12, recorder, never);
            recorder.frames.push_back(simulation.frame());
            return recorder.frames;
        };
        const std::vector<Frame> one = frames_on({1, 1, 1});
        ASSERT_GE(one.size(), 4u);
        EXPECT_LE(off_place(data, one.back()), 1e-8);
        for (const Grid& grid : {Grid{2, 1, 1}, Grid{1, 2, 2}, Grid{2, 2, 2}})
        {
            SCOPED_TRACE(testing::Message() << grid[0] << "x" << grid[1] << "x" << grid[2]);
            const std::vector<Frame> more = frames_on(grid);
            ASSERT_EQ(more.size(), one.size());
            for (std::size_t i = 0; i < one.size(); ++i)
            {
                EXPECT_EQ(more[i].x, one[i].x);
                EXPECT_EQ(more[i].v, one[i].v);
                EXPECT_EQ(more[i].f, one[i].f);
            }
        }
    }
}

TEST_P(VirtualSitesOfRuns, conserve_energy_and_momentum)
{
    Refdata data = load_smooth(GetParam());
    RunParameters& p = data.parameters;
    p.pme_order = 6, p.mesh_spacing = 0.08, p.dt = 0.00025, p.energy_calc = 1, p.generate_velocities = true,
    p.generation_seed = 3, p.generation_temperature = 150, p.list_interval = 5, p.list_cutoff = 0.7, p.continuation = false;
    const auto spread_of = [&](double dt) {
        p.dt = dt;
        Recorder recorder;
        Simulation simulation = simulate(data, Precision::Double);
        simulation.run(std::lround(0.02 / dt), recorder, never);
        const auto [least, most] =
            std::ranges::minmax(recorder.observables, {}, [](const Observables& o) { return o.conserved; });
        return most.conserved - least.conserved;
    };
    const double coarse = spread_of(0.00025), fine = spread_of(0.000125);
    EXPECT_NEAR(coarse / fine, 4, 0.6); // of a leap-frog, the square of the step
}

TEST_P(VirtualSitesOfRuns, are_minimised_with_their_atoms)
{
    Refdata data = load_smooth(GetParam());
    data.parameters.integrator = Integrator::SteepestDescent;
    data.parameters.em_step = 0.002, data.parameters.em_tolerance = 1;
    Simulation simulation = simulate(data, Precision::Double);
    Recorder recorder;
    simulation.run(30, recorder, never);
    EXPECT_LT(recorder.observables.back().potential, recorder.observables.front().potential - 1000);
    EXPECT_LE(off_place(data, simulation.frame()), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Sites, VirtualSitesOfRuns, ::testing::Values("rf", "pme"), [](const auto& test) { return test.param; });

TEST(RunsWithVirtualSites, leave_sites_no_degree_of_freedom)
{
    const Refdata data = load_sites("rf");
    const SinglePoint point = simulate(data, Precision::Double).evaluate();
    constexpr double atoms = 386, settled = 70, boltzmann = 8.31446261815324e-3;
    const double expected = 2 * point.observables.kinetic_energy / ((3 * atoms - 3 * settled) * boltzmann);
    EXPECT_NEAR(point.observables.temperature, expected, 1e-12 * expected);
    EXPECT_EQ(data.system.topology.site_count(), 70 + 22 + 33 + 22 + 33 + 33);
}
