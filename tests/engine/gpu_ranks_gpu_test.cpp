// SPDX-License-Identifier: Apache-2.0
// A run on several ranks on GPUs is the run of one: forces, energies, virial and trajectories for grids that fit, halo methods
// and ranks that share a GPU; on as many GPUs as there are.
#include "base/error.hpp"
#include "coupled_runs.hpp"
#include "device/gpu_queue.hpp"
#include "series.hpp"
#include "support/compare.hpp"
#include "support/gpu_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::HasSubstr;

namespace {

struct Layout
{
    Grid grid;
    int gpus;
};

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
                       Summation summation)
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
    return Simulation(series.system, series.parameters, options);
}

// How many differ in any bit; printing 45 000 vectors helps nobody.
std::ptrdiff_t different(const std::vector<Vec3<double>>& a, const std::vector<Vec3<double>>& b)
{
    std::ptrdiff_t count = static_cast<std::ptrdiff_t>(a.size()) - static_cast<std::ptrdiff_t>(b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) { count += a[i] == b[i] ? 0 : 1; }
    return count;
}

class RanksOnGpus : public GpuTest
{
};
class FewAtomsOnRanks : public GpuTest, public ::testing::WithParamInterface<std::tuple<HaloMethod, Precision, Summation>>
{
};

struct FrameKeeper final : Observer
{
    void frame(const OutputDue&, Frame&& frame) override { frames.push_back(std::move(frame)); }
    void energies(const OutputDue&, const Observables& o) override { observables.push_back(o); }
    std::vector<Frame> frames;
    std::vector<Observables> observables;
};

} // namespace

TEST_F(RanksOnGpus, compute_what_one_computes_in_double)
{
    const LoadedInput series = load_series(45000);
    const SinglePoint one =
        simulate_on(series, {{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Double, Summation::Fast).evaluate();
    for (const Layout& layout : layouts(some_grids))
    {
        for (const HaloMethod method : halo_methods)
        {
            SCOPED_TRACE(name_of(layout, method));
            const SinglePoint point = simulate_on(series, layout, method, Precision::Double, Summation::Fast).evaluate();
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
        const HaloMethod method = halo_methods[k++ % 3];
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
    std::size_t k = 0;
    for (const Layout& layout : layouts(some_grids))
    {
        const HaloMethod method = halo_methods[k++ % 3];
        SCOPED_TRACE(name_of(layout, method));
        const auto several = run(layout, method);
        EXPECT_EQ(several.first.step, 200);
        EXPECT_EQ(different(several.first.x, one.first.x), 0) << largest_distance(several.first.x, one.first.x, one.first.box);
        EXPECT_EQ(different(several.first.v, one.first.v), 0);
        EXPECT_EQ(several.second, one.second);
    }
}

TEST_F(RanksOnGpus, go_on_from_each_others_checkpoints)
{
    const LoadedInput series = load_series(45000);
    Recorder ignored;
    Simulation four = simulate_on(series, {{2, 2, 1}, 1}, HaloMethod::Direct, Precision::Mixed, Summation::Reproducible);
    four.run(40, ignored, never);
    const SavedState saved = four.saved_state();
    SimulationOptions options;
    options.device = Device::Gpu;
    options.summation = Summation::Reproducible;
    Simulation one(series.system, series.parameters, options, &saved);
    EXPECT_EQ(different(one.frame().x, four.last_good_frame().x), 0);
    EXPECT_EQ(one.evaluate().forces.size(), static_cast<std::size_t>(series.system.topology.atom_count()));
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

TEST_F(RanksOnGpus, leave_a_timeline_of_each_gpu_with_the_exchange_of_every_recorded_step)
{
    LoadedInput series = load_series(45000);
    SimulationOptions options;
    options.device = Device::Gpu;
    options.ranks = 2;
    options.trace = true;
    Simulation simulation(std::move(series.system), std::move(series.parameters), options);
    Observer nobody;
    constexpr std::int64_t steps = 20; // the first list interval is recorded, and the ring holds it
    simulation.run(steps, nobody, never);
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
        EXPECT_EQ(seen.contains({step, "send coordinates"}), is_recorded && step > 0) << step;
        for (const auto* phase : {"nonbonded", "bonded", "return forces", "constrain"})
        {
            EXPECT_EQ(seen.contains({step, phase}), is_recorded) << step << " " << phase;
        }
    }
}

// Everything a step can have, of so few atoms that tools which watch every access of every kernel come to an end.
TEST_P(FewAtomsOnRanks, take_the_steps_of_one_with_its_frames_and_its_box)
{
    const auto [method, precision, summation] = GetParam();
    Refdata data = coupled(coupled_cases[4]); // thermostat and barostat act every second step, lists serve four
    RunParameters& p = data.parameters;
    p.coulomb_cutoff = p.lj_cutoff = 0.5, p.list_cutoff = 0.6;
    p.com_mode = ComMode::Linear, p.com_interval = 5;
    p.x_out = 3, p.v_out = 4, p.f_out = 6;
    const auto run = [&, precision = precision, summation = summation, method = method](const Grid& grid) {
        SimulationOptions options;
        options.device = Device::Gpu;
        options.gpus = 1;
        options.precision = precision, options.summation = summation;
        options.threads = 2;
        options.grid = grid, options.halo = method;
        FrameKeeper keeper;
        Simulation(data.system, p, options).run(12, keeper, never);
        return keeper;
    };
    constexpr Grid grid_of_method[] = {{1, 3, 1}, {8, 1, 1}, {2, 2, 2}};
    const FrameKeeper one = run({1, 1, 1}), several = run(grid_of_method[static_cast<std::size_t>(method)]);
    ASSERT_EQ(several.frames.size(), one.frames.size());
    ASSERT_EQ(several.observables.size(), one.observables.size());
    const bool same_bits = summation == Summation::Reproducible;
    const double bound = same_bits ? 0 : precision == Precision::Double ? 1e-8 : 2e-5;
    for (std::size_t i = 0; i < one.frames.size(); ++i)
    {
        const Frame &a = several.frames[i], &b = one.frames[i];
        SCOPED_TRACE("step " + std::to_string(b.step));
        EXPECT_EQ(a.step, b.step);
        ASSERT_EQ(a.x.size(), b.x.size());
        ASSERT_EQ(a.v.size(), b.v.size());
        ASSERT_EQ(a.f.size(), b.f.size());
        if (!b.x.empty()) { EXPECT_LE(largest_distance(a.x, b.x, b.box), bound); }
        if (!b.f.empty() && b.step == 0) { EXPECT_LE(rms_relative(a.f, b.f), bound); }
        if (same_bits)
        {
            EXPECT_EQ(different(a.v, b.v), 0);
            EXPECT_EQ(different(a.f, b.f), 0);
        }
    }
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
                         ::testing::Combine(::testing::ValuesIn(halo_methods),
                                            ::testing::Values(Precision::Mixed, Precision::Double),
                                            ::testing::Values(Summation::Fast, Summation::Reproducible)),
                         [](const auto& test) {
                             std::string name(halo_method_names[static_cast<std::size_t>(std::get<0>(test.param))]);
                             std::replace(name.begin(), name.end(), '-', '_');
                             name += std::get<1>(test.param) == Precision::Mixed ? "_mixed" : "_double";
                             return name + (std::get<2>(test.param) == Summation::Fast ? "" : "_reproducible");
                         });
