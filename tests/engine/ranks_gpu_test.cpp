// SPDX-License-Identifier: Apache-2.0
// A run on several ranks on GPUs is the run of one: forces, energies, virial and trajectories for grids that fit, halo methods
// and ranks that share a GPU; on as many GPUs as there are.
#include "base/error.hpp"
#include "coupled_runs.hpp"
#include "device/cores.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "series.hpp"
#include "support/compare.hpp"
#include "support/gpu_test.hpp"
#include "whole_molecules.hpp"

#include <gmock/gmock-more-matchers.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace {

struct Layout
{
    Grid grid;
    int gpus;
};

// The nth method, going round.
HaloMethod method_of(std::size_t n) { return static_cast<HaloMethod>(n % halo_method_names.size()); }

std::string name_of(const Layout& layout, HaloMethod method)
{
    return std::to_string(layout.grid[0]) + "x" + std::to_string(layout.grid[1]) + "x" + std::to_string(layout.grid[2]) + " on " +
           std::to_string(layout.gpus) + " " + std::string(halo_method_names[static_cast<std::size_t>(method)]);
}

// Each grid on one GPU and on as many as there are and it has ranks for.
std::vector<Layout> layouts(const std::vector<Grid>& grids)
{
    std::vector<Layout> all;
    for (const Grid& grid : grids)
    {
        const int ranks = grid[0] * grid[1] * grid[2];
        for (int gpus = 1; gpus <= std::min(ranks, gpu_count()); gpus *= 2) { all.push_back({grid, gpus}); }
    }
    return all;
}

// Thin cells with two pulses among them; the box is 7.7 nm wide.
const std::vector<Grid> some_grids = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 1, 4}, {2, 2, 1},
                                      {1, 3, 2}, {2, 2, 2}, {8, 1, 1}, {1, 2, 4}};

Simulation simulate_on(const LoadedInput& series, const Layout& layout, HaloMethod method, Precision precision,
                       Summation summation, const SavedState* saved = nullptr)
{
    SimulationOptions options;
    options.device = Device::Gpu;
    options.gpus = layout.gpus;
    options.precision = precision;
    options.summation = summation;
    options.threads = 2;
    options.grid = layout.grid;
    options.halo = method;
    options.comm_timeout = std::chrono::seconds(5);
    return Simulation(series.system, series.parameters, options, saved);
}

// How many differ in any bit; printing 45 000 vectors helps nobody.
std::ptrdiff_t different(const std::vector<Vec3<double>>& a, const std::vector<Vec3<double>>& b)
{
    std::ptrdiff_t count = static_cast<std::ptrdiff_t>(a.size()) - static_cast<std::ptrdiff_t>(b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) { count += a[i] == b[i] ? 0 : 1; }
    return count;
}

// A box of 7.7 nm and a molecule of two atoms that feel nothing but a weak bond, V = 0.5 r^2.
LoadedInput load_with_tether(const Vec3<double>& a, const Vec3<double>& b)
{
    LoadedInput series = load_series(45000);
    System& system = series.system;
    Topology& topology = system.topology;
    MoleculeType tether;
    tether.name = "TETHER";
    tether.residues = {{"TET", 1}};
    tether.atoms = {{"END1", topology.types(), 0, 40, 0}, {"END2", topology.types(), 0, 40, 0}};
    tether.exclusion_start = {0, 1, 2}, tether.excluded = {1, 0};
    tether.of(InteractionKind::HarmonicBond) = {
        {{0, 1, -1, -1}, static_cast<std::int32_t>(topology.parameters_of(InteractionKind::HarmonicBond).size())}};
    topology.parameters[static_cast<std::size_t>(InteractionKind::HarmonicBond)].push_back({0, 1});
    // A type that does not interact.
    const auto types = static_cast<std::size_t>(topology.types());
    for (std::vector<double>* table : {&topology.c6, &topology.c12})
    {
        std::vector<double> larger((types + 1) * (types + 1));
        for (std::size_t k = 0; k < types * types; ++k) { larger[k / types * (types + 1) + k % types] = (*table)[k]; }
        *table = larger;
    }
    topology.type_names.push_back("NONE");
    topology.blocks.push_back({static_cast<std::int32_t>(topology.molecule_types.size()), 1, 0});
    topology.molecule_types.push_back(tether);
    topology.finish();
    system.x.push_back(a), system.x.push_back(b);
    system.v.resize(system.v.empty() ? 0 : system.x.size());
    return series;
}

// A drop in vacuum, of whole molecules, in the corner of a box so many times its size.
LoadedInput load_drop(double boxes)
{
    LoadedInput series = load_series(24000);
    System& system = series.system;
    make_molecules_whole(system);
    system.box = boxes * system.box;
    return series;
}

class RanksOnGpus : public GpuTest
{
};

// Ranks on so many GPUs, or as many as there are, and on virtual nodes of so many ranks (0: on none).
struct Way
{
    HaloMethod method;
    Grid grid;
    int gpus;
    int ranks_per_node = 0;
};
std::string name_of(const Way& way)
{
    std::string name(halo_method_names[static_cast<std::size_t>(way.method)]);
    std::replace(name.begin(), name.end(), '-', '_');
    if (way.ranks_per_node == 0) { return name; }
    const int nodes = way.grid[0] * way.grid[1] * way.grid[2] / way.ranks_per_node;
    return name + "_" + std::to_string(nodes) + "_nodes_of_" + std::to_string(way.ranks_per_node);
}
void PrintTo(const Way& way, std::ostream* os) { *os << name_of(way); }
// Staged-fused and direct within a node: as many ranks as GPUs, if there are two.
constexpr Way ways[] = {{HaloMethod::StagedHost, {1, 3, 1}, 2},     {HaloMethod::StagedDma, {2, 2, 1}, 2},
                        {HaloMethod::StagedFused, {2, 1, 1}, 2},    {HaloMethod::Direct, {1, 1, 2}, 2},
                        {HaloMethod::StagedFused, {2, 1, 1}, 1, 1}, {HaloMethod::StagedFused, {2, 2, 1}, 1, 2},
                        {HaloMethod::StagedFused, {4, 1, 1}, 1, 1}, {HaloMethod::StagedFused, {2, 2, 2}, 2, 4},
                        {HaloMethod::StagedFused, {1, 2, 1}, 1, 2}};

class CrowdOnRanks : public GpuTest, public ::testing::WithParamInterface<Way>
{
};
class FewAtomsOnRanks : public GpuTest, public ::testing::WithParamInterface<std::tuple<Way, Precision, Summation>>
{
};

} // namespace

TEST_F(RanksOnGpus, compute_what_one_computes_in_double)
{
    const LoadedInput series = load_series(45000);
    const SinglePoint one =
        simulate_on(series, {{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Double, Summation::Fast).evaluate();
    for (const Layout& layout : layouts(some_grids))
    {
        for (std::size_t n = 0; n < halo_method_names.size(); ++n)
        {
            const HaloMethod method = method_of(n);
            SCOPED_TRACE(name_of(layout, method));
            SinglePoint point;
            ASSERT_NO_THROW(point = simulate_on(series, layout, method, Precision::Double, Summation::Fast).evaluate());
            EXPECT_LE(rms_relative(point.forces, one.forces), 1e-12);
            EXPECT_LE(max_relative(point.observables.virial, one.observables.virial), 1e-10);
            EXPECT_NEAR(point.observables.potential, one.observables.potential, 1e-11 * std::abs(one.observables.potential));
            EXPECT_NEAR(point.observables.kinetic_energy, one.observables.kinetic_energy, 1e-12 * one.observables.kinetic_energy);
        }
    }
}

TEST_F(RanksOnGpus, compute_the_bits_of_one_in_reproducible_mode)
{
    const LoadedInput series = load_series(45000);
    const SinglePoint one =
        simulate_on(series, {{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Reproducible).evaluate();
    std::size_t k = 0;
    for (const Layout& layout : layouts(some_grids))
    {
        const HaloMethod method = method_of(k++);
        SCOPED_TRACE(name_of(layout, method));
        const SinglePoint point = simulate_on(series, layout, method, Precision::Mixed, Summation::Reproducible).evaluate();
        EXPECT_EQ(different(point.forces, one.forces), 0);
        EXPECT_EQ(point.observables.forces.energy, one.observables.forces.energy);
        EXPECT_EQ(point.observables.virial, one.observables.virial);
        EXPECT_EQ(point.observables.kinetic, one.observables.kinetic);
    }
}

TEST_F(RanksOnGpus, follow_the_trajectory_of_one_bit_by_bit)
{
    LoadedInput series = load_series(45000);
    // None of the pairs that come into range between two lists must be missed.
    series.parameters.buffer_tolerance = 1e-12;
    series.parameters.list_interval = 10;
    series.parameters.generation_seed = series.parameters.random_seed = 7;
    const auto run = [&](const Layout& layout, HaloMethod method) {
        Simulation simulation = simulate_on(series, layout, method, Precision::Mixed, Summation::Reproducible);
        Recorder recorder;
        simulation.run(200, recorder, never);
        return std::pair(simulation.frame(), recorder.observables.back().conserved);
    };
    const auto one = run({{1, 1, 1}, 1}, HaloMethod::Direct);
    // Every method where cells are thin, and one after another on all grids.
    std::vector<std::pair<Layout, HaloMethod>> runs;
    for (std::size_t n = 0; n < halo_method_names.size(); ++n)
    {
        for (const Layout& layout : layouts({{1, 2, 4}})) { runs.emplace_back(layout, method_of(n)); }
    }
    for (const Layout& layout : layouts(some_grids)) { runs.emplace_back(layout, method_of(runs.size())); }
    for (const auto& [layout, method] : runs)
    {
        SCOPED_TRACE(name_of(layout, method));
        const auto several = run(layout, method);
        EXPECT_EQ(several.first.step, 200);
        EXPECT_EQ(different(several.first.x, one.first.x), 0) << largest_distance(several.first.x, one.first.x, one.first.box);
        EXPECT_EQ(different(several.first.v, one.first.v), 0);
        EXPECT_EQ(several.second, one.second);
    }
}

TEST_F(RanksOnGpus, follow_the_trajectory_of_one_if_steps_have_more_patterns_than_graphs_are_kept)
{
    LoadedInput series = load_series(45000);
    RunParameters& p = series.parameters;
    p.buffer_tolerance = -1, p.list_cutoff = std::max(p.coulomb_cutoff, p.lj_cutoff) + 0.25;
    p.list_interval = 10;
    p.generation_seed = p.random_seed = 7;
    // 1001 list intervals until the pattern returns; these are 150, and 128 graphs are kept.
    p.temperature_interval = 7, p.energy_calc = 11, p.com_interval = 13;
    const auto end_of = [&](const Layout& layout) {
        Simulation simulation = simulate_on(series, layout, HaloMethod::Direct, Precision::Mixed, Summation::Reproducible);
        EXPECT_EQ(simulation.plan().list_interval, 10);
        Observer nobody;
        simulation.run(1500, nobody, never);
        return simulation.frame();
    };
    const Frame one = end_of({{1, 1, 1}, 1});
    for (const Layout& layout : layouts({{2, 1, 1}}))
    {
        SCOPED_TRACE(name_of(layout, HaloMethod::Direct));
        const Frame several = end_of(layout);
        EXPECT_EQ(different(several.x, one.x), 0) << largest_distance(several.x, one.x, one.box);
        EXPECT_EQ(different(several.v, one.v), 0);
    }
}

TEST_F(RanksOnGpus, have_the_bits_of_new_lists_where_old_lists_would_miss_pairs)
{
    // Hot liquid, lists that are old after two or three steps and are to serve 20; frames within their time.
    LoadedInput series = load_series(24000);
    RunParameters& p = series.parameters;
    p.buffer_tolerance = -1;
    p.list_interval = 20;
    p.list_cutoff = std::max(p.lj_cutoff, p.coulomb_cutoff) + 0.03;
    p.generate_velocities = true;
    p.generation_temperature = 1000;
    p.generation_seed = p.random_seed = 7;
    p.compressed_out = 7;
    for (const Barostat barostat : {Barostat::None, Barostat::Berendsen})
    {
        // The second shrinks the box.
        p.barostat = barostat;
        p.pressure_interval = 2;
        p.tau_p = 3;
        p.compressibility = 4.5e-5;
        p.reference_pressure = 20000;
        LoadedInput always = series;
        always.parameters.list_interval = 1;
        Recorder expected;
        simulate_on(always, {{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Reproducible)
            .run(60, expected, never);
        EXPECT_THAT(expected.messages, IsEmpty());
        ASSERT_EQ(expected.frames.size(), 9u); // every seventh step
        if (barostat != Barostat::None) { EXPECT_LT(expected.frames.back().box.x, 0.998 * expected.frames.front().box.x); }
        std::size_t k = 0;
        for (const Layout& layout :
             layouts({{1, 1, 1}, {2, 1, 1}, {1, 1, 3}, {1, 2, 2}, {5, 1, 1}, {1, 2, 3}, {7, 1, 1}, {2, 2, 2}}))
        {
            const HaloMethod method = halo_methods[k++ % 3];
            SCOPED_TRACE(name_of(layout, method));
            Recorder seen;
            simulate_on(series, layout, method, Precision::Mixed, Summation::Reproducible).run(60, seen, never);
            EXPECT_THAT(seen.messages, ElementsAre(HasSubstr("lists were built before their time")));
            ASSERT_EQ(seen.frames.size(), expected.frames.size());
            for (std::size_t f = 0; f < seen.frames.size(); ++f)
            {
                EXPECT_EQ(seen.frames[f].step, expected.frames[f].step);
                EXPECT_EQ(seen.frames[f].box, expected.frames[f].box);
                EXPECT_EQ(different(seen.frames[f].x, expected.frames[f].x), 0) << "step " << seen.frames[f].step;
            }
        }
    }
}

TEST_F(RanksOnGpus, grow_capacity_where_atoms_are_denser_than_anybody_planned_for)
{
    // Some ranks have eight times as many atoms as planned, others none.
    LoadedInput series = load_drop(2);
    series.parameters.list_interval = 4; // lists of fewer atoms follow one that has overflowed, before the host knows
    series.parameters.generation_seed = series.parameters.random_seed = 7;
    const auto run = [&](const Layout& layout) {
        Simulation simulation = simulate_on(series, layout, HaloMethod::Direct, Precision::Mixed, Summation::Reproducible);
        Recorder seen;
        simulation.run(20, seen, never);
        EXPECT_THAT(seen.messages, Each(Not(HasSubstr("The CPU goes on"))));
        return simulation.frame();
    };
    const Frame one = run({{1, 1, 1}, 1});
    for (const Layout& layout : layouts({{2, 1, 1}, {1, 2, 2}}))
    {
        SCOPED_TRACE(name_of(layout, HaloMethod::Direct));
        const Frame several = run(layout);
        EXPECT_EQ(several.step, 20);
        EXPECT_EQ(different(several.x, one.x), 0);
        EXPECT_EQ(different(several.v, one.v), 0);
    }
}

TEST_F(RanksOnGpus, refuse_a_grid_one_of_whose_ranks_has_nearly_all_atoms)
{
    // All are in one of twelve cells, which with its halo is a ninth of the box.
    const LoadedInput drop = load_drop(4);
    for (const HaloMethod method : {HaloMethod::Direct, HaloMethod::StagedHost})
    {
        try
        {
            simulate_on(drop, {{2, 2, 3}, 1}, method, Precision::Mixed, Summation::Fast);
            FAIL() << "no error";
        }
        catch (const InputError& e)
        {
            EXPECT_EQ(e.id(), "E633");
            EXPECT_THAT(e.what(), HasSubstr("Use fewer ranks"));
        }
    }
}

TEST_F(RanksOnGpus, end_with_a_state_that_fewer_go_on_from_where_nearly_all_atoms_come_to_one_of_them)
{
    // A drop around a corner of eight of the twelve cells, on its way into one of them.
    LoadedInput drop = load_drop(4);
    System& system = drop.system;
    RunParameters& p = drop.parameters;
    const Vec3<double> corner{0.5 * system.box.x, 0.5 * system.box.y, system.box.z / 3};
    for (Vec3<double>& x : system.x) { x += corner - (0.5 / 4) * system.box; }
    p.generate_velocities = false;
    p.com_mode = ComMode::None;
    p.list_interval = 10;
    system.v.assign(system.x.size(), Vec3<double>{6, 6, 6}); // nm/ps
    const auto on = [&](const Grid& grid, const SavedState* saved) {
        return simulate_on(drop, {grid, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Fast, saved);
    };
    Simulation several = on({2, 2, 3}, nullptr);
    Recorder listener;
    try
    {
        several.run(400, listener, never);
        FAIL() << "no error";
    }
    catch (const GridError& e)
    {
        EXPECT_THAT(e.what(), HasSubstr("E509"));
    }
    EXPECT_TRUE(several.plan().on_gpu) << listener.messages.back();
    const SavedState saved = several.saved_state();
    EXPECT_GT(saved.step, 0);
    Simulation one = on({1, 1, 1}, &saved);
    EXPECT_NO_THROW(one.run(20, listener, never));
    EXPECT_EQ(one.frame().step, saved.step + 20);
}

TEST_F(RanksOnGpus, seldom_build_a_planned_list_before_its_time)
{
    LoadedInput series = load_series(45000);
    series.parameters.generation_seed = series.parameters.random_seed = 7;
    Recorder seen;
    Simulation simulation = simulate_on(series, {{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Reproducible);
    const RunSummary summary = simulation.run(5000, seen, never);
    RecordProperty("list_interval", simulation.plan().list_interval);
    RecordProperty("us_per_step", std::to_string(summary.us_per_step));
    EXPECT_GT(simulation.plan().list_interval, 2);
    EXPECT_THAT(seen.messages, IsEmpty());
}

TEST_F(RanksOnGpus, end_when_a_bonded_term_is_longer_than_halos_reach)
{
    const LoadedInput series = load_with_tether({0.05, 3.8, 3.8}, {3.8, 3.8, 3.8});
    std::vector<double> bonds; // nobody misses a term who has both ends
    for (const Grid& grid : {Grid{1, 1, 1}, Grid{1, 2, 2}, Grid{2, 1, 1}})
    {
        Simulation simulation = simulate_on(series, {grid, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Fast);
        Recorder recorder;
        EXPECT_NO_THROW(simulation.run(30, recorder, never));
        ASSERT_FALSE(recorder.observables.empty());
        bonds.push_back(recorder.observables.front().forces.energy[static_cast<std::size_t>(EnergyTerm::Bond)]);
        EXPECT_NEAR(bonds.back(), bonds.front(), 1e-4);
    }
    for (const Grid& grid : {Grid{4, 1, 1}, Grid{4, 2, 1}})
    {
        Simulation simulation = simulate_on(series, {grid, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Fast);
        try
        {
            Recorder ignored;
            simulation.run(30, ignored, never);
            FAIL() << "no error";
        }
        catch (const PhysicsError& e)
        {
            EXPECT_EQ(e.step(), 0);
            EXPECT_THAT(e.what(), HasSubstr("E506 step 0"));
            EXPECT_THAT(e.what(), HasSubstr("spans 3.750 nm, from "));
            EXPECT_THAT(e.what(), HasSubstr("END1"));
            EXPECT_THAT(e.what(), HasSubstr("END2"));
        }
        EXPECT_EQ(simulation.last_good_frame().x.size(), series.system.x.size());
    }
}

TEST_F(RanksOnGpus, refuse_ranks_that_a_small_box_has_no_cells_for)
{
    const LoadedInput series = load_series(3000);
    SimulationOptions options;
    options.device = Device::Gpu;
    options.gpus = 1;
    options.ranks = 2;
    try
    {
        Simulation simulation(series.system, series.parameters, options);
        FAIL() << "no error";
    }
    catch (const InputError& e)
    {
        EXPECT_EQ(e.id(), "E630");
        EXPECT_THAT(e.what(), HasSubstr("Use fewer ranks"));
    }
}

TEST_F(RanksOnGpus, refuse_grids_finer_than_what_gpus_exchange_is_laid_out_for)
{
    const LoadedInput series = load_series(45000);
    for (const auto& [grid, why] : {std::pair{Grid{13, 5, 1}, "65 ranks"}, std::pair{Grid{64, 1, 1}, "cells ahead along x"}})
    {
        try
        {
            simulate_on(series, {grid, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Fast);
            FAIL() << "no error";
        }
        catch (const InputError& e)
        {
            EXPECT_EQ(e.id(), "E632");
            EXPECT_THAT(e.what(), HasSubstr(why));
        }
    }
}

TEST_F(RanksOnGpus, go_on_from_each_others_checkpoints_with_the_bits_of_a_run_of_one_that_never_stopped)
{
    LoadedInput series = load_series(45000);
    series.parameters.list_interval = 10;
    series.parameters.generation_seed = series.parameters.random_seed = 7;
    constexpr std::int64_t stop = 45, end = 80;
    const auto start = [&](const Layout& layout, HaloMethod method, const SavedState* saved) {
        return simulate_on(series, layout, method, Precision::Mixed, Summation::Reproducible, saved);
    };
    Recorder through;
    Simulation whole = start({{1, 1, 1}, 1}, HaloMethod::Direct, nullptr);
    whole.run(end, through, never);
    const Frame expected = whole.frame();

    // To more ranks and to fewer, on as many GPUs as there are.
    const std::pair<Grid, Grid> changes[] = {
        {{1, 1, 1}, {2, 2, 1}}, {{2, 2, 1}, {1, 1, 1}}, {{2, 1, 1}, {1, 2, 4}}, {{1, 2, 4}, {1, 1, 2}}};
    std::size_t n = 0;
    for (const auto& [from, to] : changes)
    {
        const Layout first = layouts({from}).back();
        const HaloMethod first_method = method_of(n);
        Simulation before = start(first, first_method, nullptr);
        Recorder ignored;
        before.run(stop, ignored, never);
        const SavedState saved = before.saved_state();
        EXPECT_GT(saved.step, 0);
        EXPECT_LE(saved.step, stop);
        for (const Layout& layout : layouts({to}))
        {
            const HaloMethod method = method_of(++n);
            SCOPED_TRACE(name_of(first, first_method) + ", then " + name_of(layout, method));
            Simulation after = start(layout, method, &saved);
            Recorder recorder;
            after.run(end - saved.step, recorder, never);
            const Frame frame = after.frame();
            EXPECT_EQ(frame.step, end);
            EXPECT_EQ(frame.box, expected.box);
            EXPECT_EQ(different(frame.x, expected.x), 0) << largest_distance(frame.x, expected.x, frame.box);
            EXPECT_EQ(different(frame.v, expected.v), 0);
            ASSERT_FALSE(recorder.observables.empty());
            EXPECT_EQ(recorder.observables.back().conserved, through.observables.back().conserved);
        }
    }
}

TEST_F(RanksOnGpus, go_on_in_a_box_that_has_become_much_smaller)
{
    LoadedInput series = load_series(45000);
    series.parameters.generation_seed = series.parameters.random_seed = 7;
    Recorder ignored;
    Simulation before = simulate_on(series, {{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Reproducible);
    before.run(40, ignored, never);
    const SavedState saved = before.saved_state();
    Simulation one = simulate_on(series, {{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Reproducible, &saved);
    one.run(20, ignored, never);
    // As if it had begun in this box, whose cells are longer than a halo is thick.
    series.system.box = 1.4 * series.system.box;
    for (const Layout& layout : layouts({{1, 1, 1}, {1, 1, 6}, {6, 1, 1}}))
    {
        SCOPED_TRACE(name_of(layout, HaloMethod::Direct));
        Simulation several = simulate_on(series, layout, HaloMethod::Direct, Precision::Mixed, Summation::Reproducible, &saved);
        EXPECT_NO_THROW(several.run(20, ignored, never));
        EXPECT_EQ(several.frame().box, one.frame().box);
        EXPECT_EQ(different(several.frame().x, one.frame().x), 0);
    }
}

TEST_F(RanksOnGpus, of_a_box_that_becomes_too_small_for_its_cells_end_with_a_state_they_go_on_from)
{
    LoadedInput series = load_series(24000);
    RunParameters& p = series.parameters;
    p.generation_seed = p.random_seed = 7;
    p.barostat = Barostat::Berendsen;
    p.pressure_interval = 2;
    p.tau_p = 0.5;
    p.compressibility = 4.5e-5;
    p.reference_pressure = 20000;
    // Cells are just as long as the halo is thick, with what atoms may stray from them (0.23 nm) and 2 % to spare.
    p.buffer_tolerance = -1;
    p.list_cutoff = series.system.box.x / 4 / 1.02 - 0.24;
    for (const Layout& layout : layouts({{4, 1, 1}}))
    {
        SCOPED_TRACE(name_of(layout, HaloMethod::Direct));
        Simulation before = simulate_on(series, layout, HaloMethod::Direct, Precision::Mixed, Summation::Fast);
        Observer nobody;
        try
        {
            before.run(2000, nobody, never);
            FAIL() << "no error";
        }
        catch (const GridError& e)
        {
            EXPECT_THAT(e.what(), HasSubstr("E505"));
        }
        const SavedState saved = before.saved_state();
        EXPECT_GT(saved.step, 0);
        EXPECT_LT(saved.box.x, 0.985 * series.system.box.x);
        Simulation after = simulate_on(series, layout, HaloMethod::Direct, Precision::Mixed, Summation::Fast, &saved);
        EXPECT_NO_THROW(after.run(20, nobody, never));
        EXPECT_EQ(after.frame().step, saved.step + 20);
    }
}

TEST_F(RanksOnGpus, are_refused_where_the_box_has_become_too_small_for_them)
{
    LoadedInput series = load_series(3000);
    Recorder ignored;
    Simulation one = simulate_on(series, {{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Fast);
    one.run(10, ignored, never);
    const SavedState saved = one.saved_state();
    series.system.box = 3.0 * series.system.box; // in the beginning there were cells enough
    SimulationOptions options;
    options.device = Device::Gpu;
    options.gpus = 1;
    options.ranks = 2;
    try
    {
        Simulation two(series.system, series.parameters, options, &saved);
        FAIL() << "no error";
    }
    catch (const InputError& e)
    {
        EXPECT_EQ(e.id(), "E630");
    }
}

TEST_F(RanksOnGpus, refuse_more_gpus_than_there_are)
{
    const LoadedInput series = load_series(3000);
    try
    {
        simulate_on(series, {{1, 1, 64}, 64}, HaloMethod::Direct, Precision::Mixed, Summation::Fast);
        FAIL() << "no error";
    }
    catch (const InputError& e)
    {
        EXPECT_THAT(e.what(), HasSubstr("--gpus 64"));
    }
}

TEST_F(RanksOnGpus, have_a_watch_on_the_host_which_gets_a_core_as_other_helpers_do)
{
    const LoadedInput series = load_series(24000);
    SimulationOptions options;
    options.device = Device::Gpu, options.grid = {2, 1, 1}, options.gpus = 1, options.threads = 1;
    options.when_held = [](const std::string&) {};
    const bool is_core_free = available_cores() > 1; // before one is given away
    const Simulation simulation(series.system, series.parameters, options);
    const std::vector<HelperPlace>& helpers = simulation.plan().helpers;
    ASSERT_EQ(helpers.size(), 1);
    EXPECT_EQ(helpers[0].name, "watch on the host");
    EXPECT_EQ(helpers[0].core >= 0, is_core_free);
}

// What a run needs is told before its first step: lists of what is sent and the table of copies, too, and what is made at the
// first repartition.
TEST_F(RanksOnGpus, hold_no_more_memory_than_was_planned)
{
    const LoadedInput series = load_series(45000);
    for (const Layout& layout : layouts({{1, 1, 1}, {2, 1, 1}, {2, 2, 2}}))
    {
        for (const Summation summation : {Summation::Fast, Summation::Reproducible})
        {
            SCOPED_TRACE(name_of(layout, HaloMethod::Direct));
            const std::size_t before = gpu_memory::held();
            Simulation simulation = simulate_on(series, layout, HaloMethod::Direct, Precision::Mixed, summation);
            const std::size_t planned = simulation.plan().bytes;
            Recorder recorder;
            simulation.run(100, recorder, never);
            EXPECT_LE(gpu_memory::held() - before, planned);
            EXPECT_GT(planned, 200u * series.system.x.size());
        }
    }
}

TEST_F(RanksOnGpus, leave_a_timeline_of_each_gpu_with_the_exchange_of_every_recorded_step)
{
    LoadedInput series = load_series(45000);
    SimulationOptions options;
    options.device = Device::Gpu;
    options.gpus = 1;
    options.ranks = 2;
    options.trace = true;
    Simulation simulation(std::move(series.system), std::move(series.parameters), options);
    Observer nobody;
    constexpr std::int64_t steps = 20; // the first list interval is recorded, and the ring holds it
    const RunSummary summary = simulation.run(steps, nobody, never);
    ASSERT_EQ(summary.work.size(), 1u);
    const StepWork work = summary.work[0];
    EXPECT_GT(work.local, 0);
    EXPECT_GT(work.nonlocal, 0);
    EXPECT_GE(work.nonlocal, work.nonoverlap);
    EXPECT_GT(work.step, work.local + work.update) << "the update follows the forces";
    EXPECT_NE(work.repartition, 0); // its sign is chance where the GPU serves other programs, too: any step may be a long one
    const std::vector<Timeline> timelines = simulation.timelines();
    ASSERT_EQ(timelines.size(), 1u);
    std::set<std::pair<std::int64_t, std::string>> seen;
    for (const Timeline::Span& s : timelines[0].spans)
    {
        EXPECT_LE(s.begin, s.end);
        if (s.track < static_cast<std::size_t>(phases)) { seen.emplace(s.step, timelines[0].tracks[s.track]); }
    }
    for (std::int64_t step = 0; step < steps; ++step)
    {
        const bool is_recorded = step < simulation.plan().list_interval;
        EXPECT_EQ(seen.contains({step, "migrate"}), step == 0) << step;
        for (const auto* phase : {"send coordinates", "nonbonded", "bonded", "return forces", "constrain"})
        {
            EXPECT_EQ(seen.contains({step, phase}), is_recorded) << step << " " << phase;
        }
    }
}

// A drop on its way into one cell: at a repartition there are more atoms than slots, and the ranks go back to where they have
// been, and make room.
TEST_P(CrowdOnRanks, goes_back_and_makes_room_with_the_bits_of_one)
{
    Refdata data = coupled(coupled_cases[0]);
    RunParameters& p = data.parameters;
    p.coulomb_cutoff = p.lj_cutoff = 0.5, p.list_cutoff = 0.6;
    p.com_mode = ComMode::None;
    make_molecules_whole(data.system);
    const double edge = data.system.box.x;
    data.system.box.x *= 2;
    for (Vec3<double>& x : data.system.x) { x.x += 0.7 * edge; }        // most are in the second half of the box
    data.system.v.assign(data.system.x.size(), Vec3<double>{25, 0, 0}); // nm/ps
    const auto run = [&](const Way& way) {
        SimulationOptions options;
        options.device = Device::Gpu, options.gpus = std::min(way.gpus, gpu_count());
        options.summation = Summation::Reproducible;
        options.threads = 2, options.grid = way.grid, options.halo = way.method;
        put_on_nodes(options, way.ranks_per_node);
        Simulation simulation(data.system, p, options);
        const std::size_t before = gpu_memory::held();
        Recorder seen;
        simulation.run(12, seen, never);
        EXPECT_THAT(seen.messages, Each(Not(HasSubstr("The CPU goes on"))));
        return std::pair(simulation.frame(), gpu_memory::held() - before);
    };
    const auto [one, taken_by_one] = run({HaloMethod::Direct, {1, 1, 1}, 1});
    const auto [several, taken_by_several] = run(GetParam());
    EXPECT_EQ(taken_by_one, 0u);
    EXPECT_GT(taken_by_several, 0u) << "nobody had more atoms than there was room for";
    EXPECT_EQ(several.step, 12);
    EXPECT_EQ(different(several.x, one.x), 0);
    EXPECT_EQ(different(several.v, one.v), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, CrowdOnRanks,
                         ::testing::Values(Way{HaloMethod::StagedFused, {2, 1, 1}, 1}, Way{HaloMethod::Direct, {2, 2, 1}, 2},
                                           Way{HaloMethod::StagedFused, {2, 1, 1}, 1, 1},
                                           Way{HaloMethod::StagedFused, {2, 2, 1}, 1, 2}),
                         [](const auto& test) { return name_of(test.param); });

// Everything a step can have, of so few atoms that tools which watch every access of every kernel come to an end. On two GPUs, if
// there are: some kernels are not used by ranks that share one.
TEST_P(FewAtomsOnRanks, take_the_steps_of_one_with_its_frames_and_its_box)
{
    const auto [way, precision, summation] = GetParam();
    Refdata data = coupled(coupled_cases[4]); // thermostat and barostat act every second step, lists serve four
    RunParameters& p = data.parameters;
    p.coulomb_cutoff = p.lj_cutoff = 0.5, p.list_cutoff = 0.6;
    p.com_mode = ComMode::Linear, p.com_interval = 5;
    p.x_out = 3, p.v_out = 4, p.f_out = 6;
    const auto run = [&, precision = precision, summation = summation](const Way& by) {
        SimulationOptions options;
        options.device = Device::Gpu;
        options.gpus = std::min(by.gpus, gpu_count());
        options.precision = precision, options.summation = summation;
        options.threads = 2;
        options.grid = by.grid, options.halo = by.method;
        put_on_nodes(options, by.ranks_per_node);
        Recorder recorder;
        Simulation simulation(data.system, p, options);
        simulation.run(7, recorder, never);
        return std::pair(recorder, simulation.evaluate().forces); // these in a step that is taken back
    };
    const auto [one, forces_of_one] = run({way.method, {1, 1, 1}, 1});
    const auto [several, forces_of_several] = run(way);
    ASSERT_EQ(several.observables.size(), one.observables.size());
    const bool same_bits = summation == Summation::Reproducible;
    // Only the order of sums differs. On CPUs, after these steps, it changes forces by 3e-7 in mixed precision, by 2e-15 in
    // double, and positions by 2e-8 and 1e-15 nm. Sums of a GPU have another order every time, and mixed ones more terms in
    // single precision.
    const double bound = same_bits ? 0 : precision == Precision::Double ? 1e-10 : 2e-5;
    expect_near(several.frames, one.frames, {bound, bound, bound});
    EXPECT_EQ(std::ranges::count_if(one.frames, [](const Frame& frame) { return !frame.f.empty(); }), 2) << "of steps 0 and 6";
    ASSERT_EQ(forces_of_several.size(), forces_of_one.size());
    EXPECT_LE(rms_relative(forces_of_several, forces_of_one), bound);
    for (std::size_t i = 0; i < one.observables.size(); ++i)
    {
        const Observables &a = several.observables[i], &b = one.observables[i];
        EXPECT_NEAR(a.conserved, b.conserved, bound * std::abs(b.potential)) << b.step;
        EXPECT_NEAR(a.box.x, b.box.x, bound * b.box.x) << b.step;
        EXPECT_LE(max_relative(a.virial, b.virial), 10 * bound) << b.step;
    }
    EXPECT_NE(one.observables.back().box.x, data.system.box.x) << "no barostat acted";
}

INSTANTIATE_TEST_SUITE_P(Ways, FewAtomsOnRanks,
                         ::testing::Combine(::testing::ValuesIn(ways), ::testing::Values(Precision::Mixed, Precision::Double),
                                            ::testing::Values(Summation::Fast, Summation::Reproducible)),
                         [](const auto& test) {
                             return name_of(std::get<0>(test.param)) +
                                    (std::get<1>(test.param) == Precision::Mixed ? "_mixed" : "_double") +
                                    (std::get<2>(test.param) == Summation::Fast ? "" : "_reproducible");
                         });
