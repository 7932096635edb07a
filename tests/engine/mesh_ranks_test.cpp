// SPDX-License-Identifier: Apache-2.0
// Runs with PME on several ranks are the run of one, whichever way the ranks share the mesh.
#include "base/error.hpp"
#include "coupled_runs.hpp"
#include "support/compare.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// Of 2 to 8 ranks; slabs of the box, columns, and cells.
const std::vector<Grid> few_grids = {{2, 1, 1}, {1, 2, 1}, {1, 1, 3}, {4, 1, 1}, {2, 1, 2}, {1, 3, 2}, {8, 1, 1}, {2, 2, 2}};
const std::vector<Grid> slabs = {{2, 1, 1}, {3, 1, 1}, {4, 1, 1}, {5, 1, 1}, {7, 1, 1}, {8, 1, 1}};

class MeshOnRanks : public ::testing::TestWithParam<MeshMethod>
{
protected:
    static SimulationOptions options_for(const Grid& grid, int threads, Precision precision, Summation summation)
    {
        SimulationOptions options;
        options.precision = precision, options.summation = summation;
        options.threads = threads, options.grid = grid;
        options.pme = GetParam();
        options.mesh_ranks = mesh_ranks_for(grid);
        return options;
    }
    // Beside those with a cell: none, or one to three.
    static int mesh_ranks_for(const Grid& grid)
    {
        return GetParam() == MeshMethod::Dedicated && grid != Grid{1, 1, 1} ? 1 + grid[0] % 3 : 0;
    }
    // Those of `grids` that the method takes.
    static std::vector<Grid> suitable(const std::vector<Grid>& all) { return GetParam() == MeshMethod::Shared ? slabs : all; }
    // Its grid of 27 x 25 x 28 points is even along z alone, and no number of ranks but 3 and 5 divides the others.
    static Refdata odd_grid(const std::string& name)
    {
        Refdata data = load_nve(name);
        data.parameters.mesh_nx = 27, data.parameters.mesh_ny = 25, data.parameters.mesh_nz = 28;
        return data;
    }
};

void expect_same_bits(const SinglePoint& point, const SinglePoint& one)
{
    EXPECT_EQ(point.forces, one.forces);
    EXPECT_EQ(point.observables.forces.energy, one.observables.forces.energy);
    EXPECT_EQ(point.observables.virial, one.observables.virial);
    EXPECT_EQ(point.observables.constraint_rmsd, one.observables.constraint_rmsd);
}

} // namespace

TEST_P(MeshOnRanks, computes_what_one_rank_computes)
{
    for (const std::string& name : mesh_refdata)
    {
        const Refdata data = load_nve(name);
        for (const auto& [precision, bound] : {std::pair(Precision::Double, 1e-12), {Precision::Mixed, 3e-7}})
        {
            const SinglePoint one =
                Simulation(data.system, data.parameters, options_for({1, 1, 1}, 2, precision, Summation::Fast)).evaluate();
            int k = 0;
            for (const Grid& grid : suitable(few_grids))
            {
                SCOPED_TRACE(name + " " + testing::PrintToString(grid));
                Simulation several(data.system, data.parameters, options_for(grid, 1 + k++ % 3, precision, Summation::Fast));
                EXPECT_EQ(several.plan().ranks, grid[0] * grid[1] * grid[2] + mesh_ranks_for(grid));
                const SinglePoint point = several.evaluate();
                EXPECT_LE(rms_relative(point.forces, one.forces), bound);
                const auto reciprocal = [](const SinglePoint& p) {
                    return p.observables.forces.energy[static_cast<std::size_t>(EnergyTerm::CoulombReciprocal)];
                };
                EXPECT_NEAR(reciprocal(point), reciprocal(one), bound * std::abs(reciprocal(one)));
                EXPECT_LE(max_relative(point.observables.virial, one.observables.virial), 30 * bound);
            }
        }
    }
}

TEST_P(MeshOnRanks, computes_the_bits_of_one_rank_in_reproducible_mode)
{
    const Refdata data = odd_grid("etoh/pme");
    for (const Precision precision : {Precision::Mixed, Precision::Double})
    {
        const SinglePoint one =
            Simulation(data.system, data.parameters, options_for({1, 1, 1}, 1, precision, Summation::Reproducible)).evaluate();
        int k = 0;
        for (const Grid& grid : suitable(grids()))
        {
            SCOPED_TRACE(testing::PrintToString(grid));
            const SimulationOptions options = options_for(grid, 1 + k++ % 4, precision, Summation::Reproducible);
            expect_same_bits(Simulation(data.system, data.parameters, options).evaluate(), one);
        }
    }
}

// The coarsest splines and the finest, an order for each grid.
TEST_P(MeshOnRanks, computes_the_bits_of_one_rank_with_splines_of_every_order)
{
    Refdata data = odd_grid("etoh/pme");
    for (int order = 3; order <= 8; ++order)
    {
        SCOPED_TRACE(order);
        data.parameters.pme_order = order;
        const auto evaluate = [&](const Grid& grid) {
            const SimulationOptions options = options_for(grid, 2, Precision::Mixed, Summation::Reproducible);
            return Simulation(data.system, data.parameters, options).evaluate();
        };
        const std::vector<Grid> all = suitable(few_grids);
        expect_same_bits(evaluate(all[static_cast<std::size_t>(order) % all.size()]), evaluate({1, 1, 1}));
    }
}

// Thermostat and barostat act every second step, lists serve four; with a break, and other ranks behind it.
TEST_P(MeshOnRanks, takes_the_steps_of_one_rank_under_pressure_coupling_and_goes_on_from_a_checkpoint)
{
    for (const std::size_t c : {4, 5, 8, 10}) // C-rescale, Parrinello-Rahman; with pressures by axis
    {
        const Refdata data = coupled(coupled_cases[c], "etoh/pme");
        constexpr std::int64_t steps = 14;
        const auto options = [](const Grid& grid, int threads) {
            return options_for(grid, threads, Precision::Mixed, Summation::Reproducible);
        };
        Observer nobody;
        Simulation one(data.system, data.parameters, options({1, 1, 1}, 2));
        Recorder of_one;
        one.run(steps, of_one, never);
        const Frame expected = one.frame();
        EXPECT_NE(expected.box, data.system.box);
        for (const std::size_t n : {0, 4})
        {
            const std::vector<Grid> all = suitable({{2, 1, 1}, {1, 2, 2}, {2, 1, 1}, {1, 2, 2}, {2, 2, 2}, {2, 1, 1}});
            const Grid &grid = all[n], &next_grid = all[n + 1];
            SCOPED_TRACE(coupled_cases[c].name + " " + testing::PrintToString(grid));
            Simulation before(data.system, data.parameters, options(grid, 1));
            before.run(9, nobody, never);
            const SavedState saved = before.saved_state();
            Simulation after(data.system, data.parameters, options(next_grid, 2), &saved);
            Recorder recorder;
            after.run(steps - saved.step, recorder, never);
            const Frame frame = after.frame();
            EXPECT_EQ(frame.box, expected.box);
            EXPECT_EQ(frame.x, expected.x);
            EXPECT_EQ(frame.v, expected.v);
            EXPECT_EQ(recorder.observables.back().pressure_tensor, of_one.observables.back().pressure_tensor);
            EXPECT_EQ(recorder.observables.back().conserved, of_one.observables.back().conserved);
        }
    }
}

// Both rules: one more mesh, or as many as the atoms have types with dispersion.
TEST_P(MeshOnRanks, computes_the_bits_of_one_rank_with_lj_pme)
{
    Refdata data = odd_grid("etoh/pme");
    data.parameters.has_lj_mesh = true;
    for (const LjMeshRule rule : {LjMeshRule::Geometric, LjMeshRule::LorentzBerthelot})
    {
        data.parameters.lj_mesh_rule = rule;
        for (const Precision precision : {Precision::Mixed, Precision::Double})
        {
            const auto evaluate = [&](const Grid& grid, int threads) {
                const SimulationOptions options = options_for(grid, threads, precision, Summation::Reproducible);
                return Simulation(data.system, data.parameters, options).evaluate();
            };
            const SinglePoint one = evaluate({1, 1, 1}, 1);
            EXPECT_LT(one.observables.forces[EnergyTerm::LjReciprocal], -1);
            int k = 0;
            for (const Grid& grid : suitable(few_grids))
            {
                SCOPED_TRACE(testing::PrintToString(grid));
                expect_same_bits(evaluate(grid, 1 + k++ % 3), one);
            }
        }
    }
}

// As above, and the mesh acts in every second step with its rest added.
TEST_P(MeshOnRanks, takes_the_steps_of_one_rank_with_lj_pme_and_goes_on_from_a_checkpoint)
{
    Refdata data = coupled(coupled_cases[4], "etoh/pme");
    data.parameters.has_lj_mesh = true;
    for (const bool in_every_second : {false, true})
    {
        data.parameters.multiple_time_steps = in_every_second, data.parameters.mesh_factor = 2;
        constexpr std::int64_t steps = 14;
        const auto options = [](const Grid& grid, int threads) {
            return options_for(grid, threads, Precision::Mixed, Summation::Reproducible);
        };
        Observer nobody;
        Simulation one(data.system, data.parameters, options({1, 1, 1}, 2));
        one.run(steps, nobody, never);
        const std::vector<Grid> all = suitable({{2, 1, 1}, {1, 2, 2}, {2, 1, 1}});
        Simulation before(data.system, data.parameters, options(all[0], 1));
        before.run(9, nobody, never);
        const SavedState saved = before.saved_state();
        Simulation after(data.system, data.parameters, options(all[1], 2), &saved);
        after.run(steps - saved.step, nobody, never);
        EXPECT_EQ(after.frame().box, one.frame().box);
        EXPECT_EQ(after.frame().x, one.frame().x);
        EXPECT_EQ(after.frame().v, one.frame().v);
    }
}

TEST_P(MeshOnRanks, is_told_by_the_plan_and_by_the_phases_of_the_run)
{
    const Refdata data = load_nve("etoh/pme");
    Simulation simulation(data.system, data.parameters, options_for({2, 1, 1}, 1, Precision::Mixed, Summation::Fast));
    EXPECT_EQ(simulation.plan().mesh->method, GetParam());
    Observer nobody;
    const RunSummary summary = simulation.run(20, nobody, never);
    for (const char* name : {"mesh exchange", "spread", "fft", "solve", "gather"})
    {
        const auto phase =
            std::find_if(summary.phases.begin(), summary.phases.end(), [&](const auto& p) { return p.first == name; });
        ASSERT_NE(phase, summary.phases.end()) << name;
        EXPECT_GT(phase->second, 0) << name;
        if (GetParam() == MeshMethod::Dedicated) { break; } // the phases are of a rank that has atoms
    }
}

// A rank that blows up knows of no mesh but its own.
TEST_P(MeshOnRanks, ends_on_all_of_them_when_one_blows_up)
{
    Refdata data = load_nve("etoh/pme");
    data.system.v[7] = {9000, 0, 0};
    Observer nobody;
    Simulation simulation(data.system, data.parameters, options_for({4, 1, 1}, 1, Precision::Mixed, Summation::Fast));
    EXPECT_THROW(simulation.run(100, nobody, never), PhysicsError);
}

TEST(MeshMethods, are_chosen_by_the_grid_of_ranks_and_refused_where_they_do_not_suit_it)
{
    const Refdata data = load_nve("etoh/pme");
    const auto plan_of = [&](const Grid& grid, int ranks, MeshMethod pme) {
        SimulationOptions options;
        options.grid = grid, options.ranks = ranks, options.threads = 1, options.pme = pme;
        return Simulation(data.system, data.parameters, options).plan();
    };
    EXPECT_EQ(plan_of({2, 1, 1}, 0, MeshMethod::Auto).mesh->method, MeshMethod::Shared);
    EXPECT_EQ(plan_of({1, 2, 1}, 0, MeshMethod::Auto).mesh->method, MeshMethod::Bricks);
    EXPECT_EQ(plan_of({0, 0, 0}, 3, MeshMethod::Shared).grid, (Grid{3, 1, 1}));
    try
    {
        plan_of({2, 2, 1}, 0, MeshMethod::Shared);
        FAIL() << "no error";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E635");
        EXPECT_THAT(error.message(), testing::HasSubstr("2x2x1. Use --pme bricks, or --grid 4x1x1"));
    }
}

TEST(MeshMethods, leave_at_least_one_rank_for_the_atoms)
{
    const Refdata data = load_nve("etoh/pme");
    SimulationOptions options;
    options.summation = Summation::Reproducible, options.threads = 1;
    const SinglePoint one = Simulation(data.system, data.parameters, options).evaluate();
    options.pme = MeshMethod::Dedicated, options.ranks = 3, options.mesh_ranks = 2;
    Simulation three(data.system, data.parameters, options);
    EXPECT_EQ(three.plan().grid, (Grid{1, 1, 1}));
    EXPECT_EQ(three.plan().ranks, 3);
    EXPECT_EQ(three.plan().mesh->ranks, 2);
    expect_same_bits(three.evaluate(), one);
    const auto refusal = [&](const RunParameters& parameters) -> std::string {
        try
        {
            Simulation(data.system, parameters, options);
        }
        catch (const InputError& error)
        {
            EXPECT_EQ(error.id(), "E635");
            return error.message();
        }
        return "";
    };
    options.mesh_ranks = 3;
    EXPECT_THAT(refusal(data.parameters), testing::HasSubstr("dedicated:3 leaves no rank for the atoms (there are 3)"));
    RunParameters without = data.parameters;
    without.coulomb = CoulombKind::ReactionField;
    options.mesh_ranks = 1;
    EXPECT_THAT(refusal(without), testing::HasSubstr("needs a mesh"));
}

INSTANTIATE_TEST_SUITE_P(Methods, MeshOnRanks,
                         ::testing::Values(MeshMethod::Gathered, MeshMethod::Bricks, MeshMethod::Shared, MeshMethod::Dedicated),
                         [](const auto& test) { return std::string(mesh_method_names[static_cast<std::size_t>(test.param)]); });
