// SPDX-License-Identifier: Apache-2.0
// A run on several ranks is the run of one: forces, energies and virial for every number of ranks and grid that fits, every halo
// method and several threads; atoms are neither lost nor found twice; a rank that fails takes the others with it.
#include "base/error.hpp"
#include "run_helpers.hpp"
#include "support/compare.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

namespace {

SimulationOptions options_for(const Grid& grid, HaloMethod halo, int threads, Precision precision,
                              Summation summation = Summation::Fast)
{
    SimulationOptions options;
    options.precision = precision;
    options.summation = summation;
    options.threads = threads;
    options.grid = grid;
    options.halo = halo;
    return options;
}

Simulation simulate_on(const Refdata& data, const SimulationOptions& options)
{
    return Simulation(data.system, data.parameters, options);
}

std::string name_of(const Grid& grid)
{
    return std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" + std::to_string(grid[2]);
}

void expect_equal_points(const SinglePoint& point, const SinglePoint& one, double tolerance)
{
    EXPECT_LE(rms_relative(point.forces, one.forces), tolerance);
    for (int term = 0; term < energy_terms; ++term)
    {
        const double expected = one.observables.forces.energy[static_cast<std::size_t>(term)];
        EXPECT_NEAR(point.observables.forces.energy[static_cast<std::size_t>(term)], expected, tolerance * std::abs(expected))
            << energy_term_table[term].name;
    }
    // The virial is a difference of larger numbers.
    EXPECT_LE(max_relative(point.observables.virial, one.observables.virial), 30 * tolerance);
    EXPECT_NEAR(point.observables.kinetic_energy, one.observables.kinetic_energy, tolerance * one.observables.kinetic_energy);
}

class RanksTest : public ::testing::TestWithParam<std::string>
{
};

} // namespace

TEST_P(RanksTest, compute_what_one_computes_in_double_on_every_grid)
{
    const Refdata data = load_nve(GetParam());
    const SinglePoint one = simulate(data, Precision::Double, Summation::Fast, 1).evaluate();
    int k = 0;
    for (const Grid& grid : grids())
    {
        for (const HaloMethod method : halo_methods)
        {
            const int threads = 1 + k++ % 4;
            SCOPED_TRACE(name_of(grid) + " " + std::string(halo_method_names[static_cast<std::size_t>(method)]));
            expect_equal_points(simulate_on(data, options_for(grid, method, threads, Precision::Double)).evaluate(), one, 1e-12);
        }
    }
}

TEST_P(RanksTest, compute_the_bits_of_one_in_reproducible_mode)
{
    const Refdata data = load_nve(GetParam());
    for (const Precision precision : {Precision::Mixed, Precision::Double})
    {
        const SinglePoint one = simulate(data, precision, Summation::Reproducible, 1).evaluate();
        int k = 0;
        for (const Grid& grid : grids())
        {
            // Integer sums know no order: each grid with one of the methods and 1 to 4 threads.
            SCOPED_TRACE(name_of(grid));
            const SimulationOptions options =
                options_for(grid, halo_methods[k % 3], 1 + k % 4, precision, Summation::Reproducible);
            ++k;
            const SinglePoint point = simulate_on(data, options).evaluate();
            EXPECT_EQ(point.forces, one.forces);
            EXPECT_EQ(point.observables.forces.energy, one.observables.forces.energy);
            EXPECT_EQ(point.observables.virial, one.observables.virial);
            EXPECT_EQ(point.observables.constraint_rmsd, one.observables.constraint_rmsd);
            EXPECT_EQ(point.observables.kinetic, one.observables.kinetic);
        }
    }
}

TEST_P(RanksTest, compute_what_one_computes_in_mixed_precision)
{
    const Refdata data = load_nve(GetParam());
    const SinglePoint one = simulate(data, Precision::Mixed, Summation::Fast, 1).evaluate();
    for (const Grid& grid : grids())
    {
        for (const HaloMethod method : halo_methods)
        {
            SCOPED_TRACE(name_of(grid));
            expect_equal_points(simulate_on(data, options_for(grid, method, 2, Precision::Mixed)).evaluate(), one, 3e-7);
        }
    }
}

TEST_P(RanksTest, follow_the_trajectory_of_one)
{
    Refdata data = load_nve(GetParam());
    // Which of the pairs that come into range between two lists are missed is a matter of clusters, hence of ranks: none must be.
    data.parameters.buffer_tolerance = 1e-12;
    data.parameters.list_interval = 10;
    Recorder ignored;
    Simulation one = simulate(data, Precision::Double, Summation::Fast, 1);
    one.run(100, ignored, never);
    const Frame expected = one.frame();
    for (const HaloMethod method : halo_methods)
    {
        Simulation several = simulate_on(data, options_for({2, 2, 1}, method, 1, Precision::Double));
        several.run(100, ignored, never);
        const Frame frame = several.frame();
        EXPECT_LE(largest_distance(frame.x, expected.x, expected.box), 1e-9);
        EXPECT_EQ(frame.step, expected.step);
    }
}

INSTANTIATE_TEST_SUITE_P(Refdata, RanksTest, ::testing::ValuesIn(refdata_systems), [](const auto& test) { return test.param; });

// One rank knows of what would end a run; all take the same way, and can go on.
TEST(Ranks, compute_what_one_computes_of_a_start_that_would_end_a_run)
{
    Refdata data = load_nve("etoh");
    for (std::size_t a = 903; a < 906; ++a) { data.system.x[a] = data.system.x[a - 3] + Vec3<double>{0.08, 0, 0}; }
    const SinglePoint one = simulate(data, Precision::Mixed, Summation::Reproducible, 1).evaluate();
    EXPECT_NE(one.trouble, "");
    for (const Grid& grid : {Grid{2, 1, 1}, Grid{1, 2, 1}, Grid{2, 2, 2}})
    {
        SCOPED_TRACE(name_of(grid));
        Simulation several =
            simulate_on(data, options_for(grid, HaloMethod::Direct, 1, Precision::Mixed, Summation::Reproducible));
        for (int time = 0; time < 2; ++time)
        {
            const SinglePoint point = several.evaluate();
            EXPECT_EQ(point.trouble, one.trouble);
            EXPECT_EQ(point.forces, one.forces);
            EXPECT_EQ(point.observables.forces.energy, one.observables.forces.energy);
            EXPECT_EQ(point.observables.virial, one.observables.virial);
            EXPECT_EQ(point.observables.constraint_rmsd, one.observables.constraint_rmsd);
            EXPECT_EQ(point.observables.kinetic, one.observables.kinetic);
        }
    }
}

TEST(Ranks, have_the_bits_of_one_and_of_new_lists_where_old_lists_would_miss_pairs)
{
    // A list that is old after two or three steps, and hot water: within the 20 steps that it is to serve it would miss hundreds
    // of pairs, others with every grid.
    Refdata data = load_nve("spce");
    data.parameters.buffer_tolerance = -1;
    data.parameters.list_interval = 20;
    data.parameters.list_cutoff = data.parameters.lj_cutoff + 0.03;
    data.parameters.generate_velocities = true;
    data.parameters.generation_temperature = 1000;
    data.parameters.generation_seed = 5;
    const auto frame_of = [&](const Refdata& of, SimulationOptions options) {
        Recorder ignored;
        Simulation simulation = simulate_on(of, options);
        simulation.run(60, ignored, never);
        return simulation.frame();
    };
    for (const Precision precision : {Precision::Mixed, Precision::Double})
    {
        Refdata always = data;
        always.parameters.list_interval = 1;
        const Frame expected =
            frame_of(always, options_for({1, 1, 1}, HaloMethod::Direct, 2, precision, Summation::Reproducible));
        for (const Grid& grid : {Grid{1, 1, 1}, Grid{2, 1, 1}, Grid{1, 2, 2}, Grid{2, 2, 2}})
        {
            SCOPED_TRACE(name_of(grid));
            const Frame frame = frame_of(data, options_for(grid, HaloMethod::Direct, 1, precision, Summation::Reproducible));
            EXPECT_TRUE(frame.x == expected.x);
            EXPECT_TRUE(frame.v == expected.v);
        }
    }
}

TEST(Ranks, staged_methods_have_each_others_bits)
{
    const Refdata data = load_nve("etoh");
    const auto forces = [&](HaloMethod method, int threads) {
        return simulate_on(data, options_for({2, 2, 2}, method, threads, Precision::Mixed)).evaluate().forces;
    };
    EXPECT_EQ(forces(HaloMethod::StagedHost, 1), forces(HaloMethod::StagedFused, 1));
    EXPECT_EQ(forces(HaloMethod::StagedHost, 2), forces(HaloMethod::StagedFused, 2));
}

TEST(Ranks, give_every_atom_to_the_frame_once_through_many_repartitions_of_a_hot_liquid)
{
    Refdata data = load_nve("spce");
    data.parameters.list_interval = 10;
    for (Vec3<double>& v : data.system.v) { v *= std::sqrt(1000.0 / 300.0); }
    data.parameters.compressed_out = 50;
    Recorder recorder;
    Simulation simulation = simulate_on(data, options_for({2, 1, 2}, HaloMethod::StagedFused, 1, Precision::Mixed));
    const RunSummary summary = simulation.run(500, recorder, never);
    EXPECT_EQ(recorder.frames.size(), 11u);
    for (const Frame& frame : recorder.frames)
    {
        EXPECT_EQ(frame.x.size(), data.system.x.size());
        EXPECT_TRUE(std::all_of(frame.x.begin(), frame.x.end(), [](const Vec3<double>& x) { return std::isfinite(norm2(x)); }));
    }
    EXPECT_LT(std::abs(summary.drift), 50); // nothing lost, nothing twice: that would show in the first interval
}

TEST(Ranks, that_do_not_fit_are_refused_with_advice)
{
    const Refdata data = load_nve("spce");
    SimulationOptions options = options_for({1, 1, 1}, HaloMethod::Direct, 1, Precision::Mixed);
    options.grid = {0, 0, 0};
    options.ranks = 2;
    Refdata tight = data;
    tight.parameters.coulomb_cutoff = tight.parameters.lj_cutoff = 1.45;
    try
    {
        simulate_on(tight, options);
        FAIL() << "no error";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E630");
        EXPECT_NE(error.message().find("Use fewer ranks"), std::string::npos);
    }
}

TEST(Ranks, on_cpus_refuse_the_method_of_copy_engines)
{
    const Refdata data = load_nve("spce");
    try
    {
        simulate_on(data, options_for({2, 1, 1}, HaloMethod::StagedDma, 1, Precision::Mixed));
        FAIL() << "no error";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E006");
    }
}

TEST(Ranks, all_end_when_one_blows_up)
{
    Refdata data = load_nve("etoh");
    data.system.v[7] = {9000, 0, 0};
    Recorder ignored;
    Simulation simulation = simulate_on(data, options_for({2, 2, 1}, HaloMethod::Direct, 1, Precision::Mixed));
    EXPECT_THROW(simulation.run(100, ignored, never), PhysicsError);
    EXPECT_EQ(simulation.last_good_frame().x.size(), data.system.x.size());
}

TEST(Ranks, do_not_claim_to_know_how_many_constraints_of_others_have_failed)
{
    Refdata data = load_nve("etoh");
    data.parameters.continuation = true;                                          // the start is not made to obey its constraints
    for (std::size_t a = 7; a < 900; a += 9) { data.system.v[a] += {900, 0, 0}; } // of every ethanol, in all cells
    const auto error_on = [&](const Grid& grid) -> std::string {
        Observer nobody;
        Simulation simulation = simulate_on(data, options_for(grid, HaloMethod::Direct, 1, Precision::Mixed));
        try
        {
            simulation.run(1, nobody, never);
        }
        catch (const PhysicsError& error)
        {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(error_on({1, 1, 1}), HasSubstr("E501 step 0: 100 constraints"));
    EXPECT_THAT(error_on({2, 1, 1}), MatchesRegex("E501 step 0: at least [0-9]+ constraints .*"));
}

TEST(Ranks, keep_the_last_good_frame_of_one_step_when_one_blows_up_before_a_new_list)
{
    Refdata data = load_nve("etoh");
    data.parameters.buffer_tolerance = -1;
    data.parameters.list_interval = 1;
    data.parameters.list_cutoff = 1;
    data.parameters.com_mode = ComMode::None; // nothing is summed up that would hold up the other ranks
    data.parameters.energy_calc = data.parameters.energy_out = 1000;
    for (std::size_t a = 900; a < 903; ++a) { data.system.v[a] += {60, 0, 0}; } // a water, too fast to pass others by
    std::int64_t latest = 0;
    Frame of_one;
    for (const Grid& grid : {Grid{1, 1, 1}, Grid{2, 1, 1}, Grid{2, 2, 1}})
    {
        Observer nobody;
        Simulation simulation =
            simulate_on(data, options_for(grid, HaloMethod::Direct, 1, Precision::Mixed, Summation::Reproducible));
        EXPECT_THROW(simulation.run(100, nobody, never), PhysicsError);
        const Frame good = simulation.last_good_frame();
        latest = std::max(latest, good.step);
        if (grid == Grid{1, 1, 1}) { of_one = good; }
        EXPECT_EQ(good.step, of_one.step) << name_of(grid);
        EXPECT_TRUE(good.x == of_one.x) << name_of(grid);
    }
    EXPECT_GT(latest, 0);
}

// As on one rank, and on GPUs: a disk may take long.
TEST(Ranks, wait_for_an_observer_that_takes_longer_than_any_of_them_may)
{
    struct Slow final : Observer
    {
        void frame(const OutputDue&, Frame&&) override { take_long(0); }
        void energies(const OutputDue&, const Observables&) override { take_long(1); }
        void progress(std::int64_t, std::int64_t, double) override { take_long(2); }
        bool checkpoint_due() override { return calls[3] == 0; }
        void checkpoint(SavedState&&) override { take_long(3); }
        void take_long(std::size_t kind) // once of each kind
        {
            if (calls[kind]++ == 0) { std::this_thread::sleep_for(std::chrono::milliseconds(2500)); }
        }
        std::array<int, 4> calls{};
    } slow;
    Refdata data = load_nve("spce");
    data.parameters.list_interval = 5;
    data.parameters.compressed_out = 10;
    SimulationOptions options = options_for({2, 1, 1}, HaloMethod::Direct, 1, Precision::Mixed);
    options.comm_timeout = std::chrono::seconds(1); // more than a busy machine keeps a rank from running
    Simulation simulation = simulate_on(data, options);
    EXPECT_EQ(simulation.run(20, slow, never).steps, 20);
    EXPECT_EQ(slow.calls, (std::array<int, 4>{3, 21, 5, 1}));
}

TEST(Ranks, continue_on_as_many_on_more_and_on_fewer_with_the_bits_of_one_that_never_stopped)
{
    Refdata data = load_nve("etoh");
    data.parameters.list_interval = 10;
    data.parameters.random_seed = 5;
    const auto options_of = [](const Grid& grid) {
        return options_for(grid, HaloMethod::Direct, 1, Precision::Mixed, Summation::Reproducible);
    };
    Recorder through;
    Simulation whole = simulate_on(data, options_of({1, 1, 1}));
    whole.run(40, through, never);
    for (const auto& [from, to] : std::vector<std::pair<Grid, Grid>>{{{2, 1, 2}, {2, 1, 2}},
                                                                     {{1, 1, 1}, {2, 2, 1}},
                                                                     {{1, 1, 2}, {2, 2, 2}},
                                                                     {{2, 1, 2}, {1, 1, 1}},
                                                                     {{2, 2, 2}, {1, 2, 1}}})
    {
        SCOPED_TRACE(::testing::PrintToString(from) + " to " + ::testing::PrintToString(to));
        Recorder ignored, recorder;
        Simulation first = simulate_on(data, options_of(from));
        first.run(25, ignored, never);
        const SavedState saved = first.saved_state();
        EXPECT_EQ(saved.step, 20);
        Simulation second(data.system, data.parameters, options_of(to), &saved);
        second.run(40 - saved.step, recorder, never);
        EXPECT_EQ(second.frame().x, whole.frame().x);
        EXPECT_EQ(second.frame().v, whole.frame().v);
        EXPECT_EQ(recorder.observables.back().conserved, through.observables.back().conserved);
    }
}
