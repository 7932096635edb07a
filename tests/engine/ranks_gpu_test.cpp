// SPDX-License-Identifier: Apache-2.0
// A run on several ranks on GPUs is the run of one: forces, energies, virial and trajectories for grids that fit, halo methods
// and ranks that share a GPU; on as many GPUs as there are.
#include "coupled_runs.hpp"
#include "device/cores.hpp"
#include "ranks_gpu.hpp"
#include "support/compare.hpp"

#include <gmock/gmock-more-matchers.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

// Thin cells with two pulses among them; the box is 7.7 nm wide.
const std::vector<Grid> some_grids = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 1, 4}, {2, 2, 1},
                                      {1, 3, 2}, {2, 2, 2}, {8, 1, 1}, {1, 2, 4}};

// Staged-fused and direct within a node: as many ranks as GPUs, if there are two.
constexpr Way ways[] = {{HaloMethod::StagedHost, {1, 3, 1}, 2},     {HaloMethod::StagedDma, {2, 2, 1}, 2},
                        {HaloMethod::StagedFused, {2, 1, 1}, 2},    {HaloMethod::Direct, {1, 1, 2}, 2},
                        {HaloMethod::StagedFused, {2, 1, 1}, 1, 1}, {HaloMethod::StagedFused, {2, 2, 1}, 1, 2},
                        {HaloMethod::StagedFused, {4, 1, 1}, 1, 1}, {HaloMethod::StagedFused, {2, 2, 2}, 2, 4},
                        {HaloMethod::StagedFused, {1, 2, 1}, 1, 2}};

class FewAtomsOnRanks : public GpuTest, public ::testing::WithParamInterface<std::tuple<Way, Precision, Summation>>
{
protected:
    void SetUp() override { take_gpus(1, std::get<0>(GetParam()).gpus); }
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
        EXPECT_EQ(point.observables.constraint_rmsd, one.observables.constraint_rmsd);
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
        p.compressibility = {4.5e-5, 4.5e-5, 4.5e-5};
        p.reference_pressure = {20000, 20000, 20000};
        LoadedInput always = series;
        always.parameters.list_interval = 1;
        Recorder expected;
        simulate_on(always, {{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Reproducible)
            .run(60, expected, never);
        EXPECT_THAT(expected.messages, IsEmpty());
        ASSERT_EQ(expected.frames.size(), 9u); // every seventh step
        if (barostat != Barostat::None)
        {
            EXPECT_LT(expected.frames.back().box.diagonal().x, 0.998 * expected.frames.front().box.diagonal().x);
        }
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

// Everything a step can have, of so few atoms that tools which watch every access of every kernel come to an end. On two GPUs, if
// there are: some kernels are not used by ranks that share one.
TEST_P(FewAtomsOnRanks, take_the_steps_of_one_with_its_frames_and_its_box)
{
    const auto [way, precision, summation] = GetParam();
    Refdata data = coupled(coupled_cases[8]); // thermostat and barostat by axis act every second step, lists serve four
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
    const auto with_forces = std::ranges::count_if(one.frames, [](const Frame& frame) { return !frame.f.empty(); });
    EXPECT_EQ(with_forces, 3) << "of steps 0 and 6 and of the last one";
    ASSERT_EQ(forces_of_several.size(), forces_of_one.size());
    EXPECT_LE(rms_relative(forces_of_several, forces_of_one), bound);
    for (std::size_t i = 0; i < one.observables.size(); ++i)
    {
        const Observables &a = several.observables[i], &b = one.observables[i];
        EXPECT_NEAR(a.conserved, b.conserved, bound * std::abs(b.potential)) << b.step;
        EXPECT_NEAR(a.box.diagonal().x, b.box.diagonal().x, bound * b.box.diagonal().x) << b.step;
        EXPECT_NEAR(a.box.diagonal().z, b.box.diagonal().z, bound * b.box.diagonal().z) << b.step;
        EXPECT_LE(max_relative(a.virial, b.virial), 10 * bound) << b.step;
    }
    EXPECT_NE(one.observables.back().box.diagonal().x, data.system.box.diagonal().x) << "no barostat acted";
    EXPECT_NE(one.observables.back().box.diagonal().x / data.system.box.diagonal().x,
              one.observables.back().box.diagonal().z / data.system.box.diagonal().z);
}

INSTANTIATE_TEST_SUITE_P(Ways, FewAtomsOnRanks,
                         ::testing::Combine(::testing::ValuesIn(ways), ::testing::Values(Precision::Mixed, Precision::Double),
                                            ::testing::Values(Summation::Fast, Summation::Reproducible)),
                         [](const auto& test) {
                             return name_of(std::get<0>(test.param)) +
                                    (std::get<1>(test.param) == Precision::Mixed ? "_mixed" : "_double") +
                                    (std::get<2>(test.param) == Summation::Fast ? "" : "_reproducible");
                         });
