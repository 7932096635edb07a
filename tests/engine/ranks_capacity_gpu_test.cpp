// SPDX-License-Identifier: Apache-2.0
// Several ranks on GPUs where space runs out: more atoms than slots were planned for, boxes that have few cells or become
// smaller, and what is refused because of that.
#include "base/error.hpp"
#include "coupled_runs.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "ranks_gpu.hpp"
#include "whole_molecules.hpp"

#include <gmock/gmock-more-matchers.h>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

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

class CrowdOnRanks : public GpuTest, public ::testing::WithParamInterface<Way>
{
protected:
    void SetUp() override { take_gpus(1, GetParam().gpus); }
};

} // namespace

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

// A drop on its way into one cell: at a repartition there are more atoms than slots, and the ranks go back to where they have
// been, and make room.
TEST_P(CrowdOnRanks, goes_back_and_makes_room_with_the_bits_of_one)
{
    Refdata data = coupled(coupled_cases[0]);
    RunParameters& p = data.parameters;
    p.coulomb_cutoff = p.lj_cutoff = 0.5, p.list_cutoff = 0.6;
    p.com_mode = ComMode::None;
    make_molecules_whole(data.system);
    if (GetParam().grid[1] == 1) { keep_column(data.system, 2); } // of a box that is divided along x alone
    const double edge = data.system.box.diagonal().x;
    data.system.box.diagonal().x *= 2;
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
    const Vec3<double> corner{0.5 * system.box.diagonal().x, 0.5 * system.box.diagonal().y, system.box.diagonal().z / 3};
    for (Vec3<double>& x : system.x) { x += corner - (0.5 / 4) * system.box.diagonal(); }
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
    p.compressibility = {4.5e-5, 4.5e-5, 4.5e-5};
    p.reference_pressure = {20000, 20000, 20000};
    // Cells are just as long as the halo is thick, with what atoms may stray from them (0.23 nm) and 2 % to spare.
    p.buffer_tolerance = -1;
    p.list_cutoff = series.system.box.diagonal().x / 4 / 1.02 - 0.24;
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
        EXPECT_LT(saved.box.diagonal().x, 0.985 * series.system.box.diagonal().x);
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
