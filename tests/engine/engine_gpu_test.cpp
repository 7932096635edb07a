// SPDX-License-Identifier: Apache-2.0
// The engine on a GPU against the references and against the CPU: the same forces, trajectories, couplings, frames and errors.
#include "base/error.hpp"
#include "coupled_runs.hpp"
#include "support/compare.hpp"
#include "support/constraint_deviation.hpp"
#include "support/gpu_test.hpp"

#include <gmock/gmock-matchers.h>
#include <random>
#include <set>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

Simulation simulate_on(Device device, const Refdata& data, Precision precision, Summation summation = Summation::Fast,
                       const SavedState* saved = nullptr)
{
    SimulationOptions options;
    options.device = device;
    options.precision = precision;
    options.summation = summation;
    options.threads = 2;
    return Simulation(data.system, data.parameters, options, saved);
}

class OnGpu : public GpuTest
{
};
class SystemOnGpu : public OnGpu, public ::testing::WithParamInterface<std::string>
{
};
class CouplingOnGpu : public OnGpu, public ::testing::WithParamInterface<Case>
{
};

class ShapesOnGpu : public OnGpu, public ::testing::WithParamInterface<Case>
{
};

// `atoms` joined by constraints (first atom, second atom), at their distance in `x`. Nothing but charges acts between them.
MoleculeType constrained_molecule(const std::vector<Vec3<double>>& x, const std::vector<std::pair<int, int>>& bonds)
{
    MoleculeType molecule;
    molecule.name = "BONDS", molecule.residues = {{"BND", 1}};
    std::vector<std::vector<std::int32_t>> excluded(x.size());
    for (const auto& [a, b] : bonds)
    {
        molecule.constraints.push_back({a, b, norm(x[static_cast<std::size_t>(a)] - x[static_cast<std::size_t>(b)])});
        excluded[static_cast<std::size_t>(a)].push_back(b), excluded[static_cast<std::size_t>(b)].push_back(a);
    }
    molecule.exclusion_start = {0};
    for (std::size_t a = 0; a < x.size(); ++a)
    {
        molecule.atoms.push_back({"A", 0, 0, 12.0 + static_cast<double>(a % 3), a % 2 == 0 ? 0.05 : -0.05});
        std::sort(excluded[a].begin(), excluded[a].end());
        molecule.excluded.insert(molecule.excluded.end(), excluded[a].begin(), excluded[a].end());
        molecule.exclusion_start.push_back(static_cast<std::int32_t>(molecule.excluded.size()));
    }
    return molecule;
}

// A random walk of 1600 atoms, and ten stars each of 0 to 4 constraints.
void make_shapes_of_constraints(System& system)
{
    std::mt19937_64 engine(3);
    std::normal_distribution<double> normal;
    const auto random = [&] { return Vec3<double>{normal(engine), normal(engine), normal(engine)}; };
    const auto step_from = [&](const Vec3<double>& x) {
        const Vec3<double> d = random();
        return x + (0.15 / norm(d)) * d;
    };
    Topology& topology = system.topology;
    topology.molecule_types.clear(), topology.blocks.clear(), system.x.clear(), system.v.clear();
    std::fill(topology.c6.begin(), topology.c6.end(), 0.0), std::fill(topology.c12.begin(), topology.c12.end(), 0.0);

    std::vector<Vec3<double>> chain{{1, 1, 1}};
    std::vector<std::pair<int, int>> bonds;
    for (int a = 1; a < 1600; ++a) { chain.push_back(step_from(chain.back())), bonds.emplace_back(a - 1, a); }
    topology.molecule_types.push_back(constrained_molecule(chain, bonds));
    topology.blocks.push_back({0, 1, 0});
    system.x = chain;
    for (int n = 0; n <= 4; ++n)
    {
        std::vector<Vec3<double>> star{{0, 0, 0}};
        bonds.clear();
        for (int i = 1; i <= n; ++i) { star.push_back(step_from(star[0])), bonds.emplace_back(0, i); }
        topology.molecule_types.push_back(constrained_molecule(star, bonds));
        topology.blocks.push_back({n + 1, 10, 0});
        for (int copy = 0; copy < 10; ++copy)
        {
            const Vec3<double> centre = 2.0 * random();
            for (const Vec3<double>& x : star) { system.x.push_back(centre + x); }
        }
    }
    topology.finish();
    while (system.v.size() < system.x.size()) { system.v.push_back(0.2 * random()); }
}

void expect_near(const Observables& a, const Observables& b, double relative)
{
    SCOPED_TRACE("step " + std::to_string(a.step));
    const double energy = relative * std::abs(b.potential);
    EXPECT_EQ(a.step, b.step);
    EXPECT_DOUBLE_EQ(a.time, b.time);
    EXPECT_NEAR(a.potential, b.potential, energy);
    EXPECT_NEAR(a.kinetic_energy, b.kinetic_energy, energy);
    EXPECT_NEAR(a.conserved, b.conserved, energy);
    EXPECT_NEAR(a.temperature, b.temperature, relative * b.temperature);
    EXPECT_NEAR(a.box.diagonal().x, b.box.diagonal().x, relative * b.box.diagonal().x);
    EXPECT_NEAR(a.box_velocity.x, b.box_velocity.x, relative);
    EXPECT_LE(max_relative(a.virial, b.virial), 10 * relative);
    EXPECT_NEAR(a.pressure, b.pressure, 1e4 * relative);
    // Of what LINCS leaves, and of rounding: sums in steps have none for squares of deviations below 1e-12.
    EXPECT_NEAR(a.constraint_rmsd, b.constraint_rmsd, 1e-2 * b.constraint_rmsd + 1e-12);
    ASSERT_EQ(a.group_temperature.size(), b.group_temperature.size());
    for (std::size_t g = 0; g < b.group_temperature.size(); ++g)
    {
        EXPECT_NEAR(a.group_temperature[g], b.group_temperature[g], relative * b.group_temperature[g]) << "group " << g;
    }
    for (int term = 0; term < energy_terms; ++term)
    {
        EXPECT_NEAR(a.forces.energy[static_cast<std::size_t>(term)], b.forces.energy[static_cast<std::size_t>(term)], energy)
            << term;
    }
}

void expect_near(const std::vector<Observables>& a, const std::vector<Observables>& b, double relative)
{
    ASSERT_FALSE(b.empty());
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < b.size(); ++i) { expect_near(a[i], b[i], relative); }
}

// Constraints of each frame are as far from their lengths as in the other's: what LINCS leaves, and of coordinates their
// rounding.
void expect_same_deviations(const Topology& topology, const std::vector<Frame>& frames, const std::vector<Frame>& expected,
                            std::size_t count)
{
    constexpr double rounding = 1e-14; // of coordinates of some nm, relative to bonds of 0.1 nm
    ASSERT_EQ(expected.size(), count);
    ASSERT_EQ(frames.size(), count);
    for (std::size_t i = 0; i < count; ++i)
    {
        const ConstraintDeviation a = deviation_of_constraints(topology, frames[i]);
        const ConstraintDeviation b = deviation_of_constraints(topology, expected[i]);
        EXPECT_EQ(frames[i].step, expected[i].step);
        EXPECT_NEAR(a.rms, b.rms, 1e-3 * b.rms + rounding) << "step " << expected[i].step;
        EXPECT_NEAR(a.max, b.max, 1e-3 * b.max + rounding) << "step " << expected[i].step;
        if (i > 0) { EXPECT_LT(a.max, 1e-6) << "step " << expected[i].step; } // the first frame is as it was read
    }
}

} // namespace

TEST_P(SystemOnGpu, has_the_forces_and_energies_of_the_cpu)
{
    const Refdata data = load_nve(GetParam());
    const SinglePoint expected = simulate_on(Device::Cpu, data, Precision::Double).evaluate();
    for (const Summation summation : {Summation::Fast, Summation::Reproducible})
    {
        const SinglePoint point = simulate_on(Device::Gpu, data, Precision::Double, summation).evaluate();
        const double resolution = summation == Summation::Fast ? 1e-12 : 1e-10; // of fixed-point sums: 2.3e-10 kJ/mol/nm
        EXPECT_LE(rms_relative(point.forces, expected.forces), resolution);
        expect_near(point.observables, expected.observables, 1e-10);
    }
    const SinglePoint mixed = simulate_on(Device::Gpu, data, Precision::Mixed).evaluate();
    EXPECT_LE(rms_relative(mixed.forces, expected.forces), 2e-6);
    EXPECT_NEAR(mixed.observables.pressure, expected.observables.pressure, 0.05);
}

TEST_P(SystemOnGpu, in_double_follows_the_reference)
{
    const Refdata data = load_nve(GetParam());
    Simulation simulation = simulate_on(Device::Gpu, data, Precision::Double);
    std::int64_t step = 0;
    Observer nobody;
    for (const ReferenceState& reference : refdata_states(GetParam(), "nve"))
    {
        simulation.run(reference.step - step, nobody, never);
        step = reference.step;
        const Frame frame = simulation.frame();
        EXPECT_EQ(frame.step, step);
        // As on the CPU (trajectory_test.cpp): the reference's 1-4 forces come from tables.
        const double bound = GetParam() == "spce" ? (step <= 1    ? 1e-13
                                                     : step <= 10 ? 1e-11
                                                                  : 1e-9)
                                                  : (step <= 1    ? 4e-10
                                                     : step <= 10 ? 2e-9
                                                                  : 1e-8);
        EXPECT_LE(largest_distance(frame.x, reference.x, frame.box), bound) << "step " << step;
        EXPECT_LE(rms_relative(frame.v, reference.v), 1e3 * bound) << "step " << step;
    }
}

TEST_P(SystemOnGpu, in_mixed_precision_stays_near_the_reference)
{
    const Refdata data = load_nve(GetParam());
    Simulation simulation = simulate_on(Device::Gpu, data, Precision::Mixed);
    Recorder recorder;
    std::int64_t step = 0;
    for (const ReferenceState& reference : refdata_states(GetParam(), "nve"))
    {
        simulation.run(reference.step - step, recorder, never);
        step = reference.step;
        const Frame frame = simulation.frame();
        if (step <= 10)
        {
            EXPECT_LE(largest_distance(frame.x, reference.x, frame.box), step == 1 ? 2e-7 : 2e-6) << "step " << step;
        }
    }
    const std::vector<EnergyTable> series = refdata_energy_series(GetParam(), "nve");
    ASSERT_FALSE(recorder.observables.empty());
    for (const Observables& o : recorder.observables)
    {
        const double expected = series[static_cast<std::size_t>(o.step)]["Total Energy"];
        EXPECT_NEAR(o.total, expected, std::max(0.02, 1e-6 * std::abs(expected))) << o.step;
    }
}

INSTANTIATE_TEST_SUITE_P(Refdata, SystemOnGpu, ::testing::ValuesIn(refdata_systems), [](const auto& test) { return test.param; });
INSTANTIATE_TEST_SUITE_P(MeshRefdata, SystemOnGpu, ::testing::ValuesIn(mesh_refdata),
                         [](const auto& test) { return test.param.substr(0, test.param.find('/')); });

TEST_F(OnGpu, nose_hoover_and_parrinello_rahman_follow_the_reference)
{
    Refdata data = load_nve("spce");
    couple_as_nhpr(data.parameters);
    Simulation simulation = simulate_on(Device::Gpu, data, Precision::Double);
    Recorder recorder;
    const std::vector<EnergyTable> reference = refdata_energy_series("spce", "nhpr");
    simulation.run(static_cast<std::int64_t>(reference.size()) - 1, recorder, never);
    ASSERT_EQ(recorder.observables.size(), reference.size());
    for (std::size_t step = 0; step < reference.size(); ++step)
    {
        const Observables& o = recorder.observables[step];
        const EnergyTable& expected = reference[step];
        EXPECT_NEAR(o.box.diagonal().x, expected["Box-X"], 1e-10 * expected["Box-X"]) << step;
        EXPECT_NEAR(o.temperature, expected["Temperature"], 1e-10 * expected["Temperature"]) << step;
        EXPECT_NEAR(o.conserved, expected["Conserved En."], 1e-10 * std::abs(expected["Conserved En."])) << step;
        EXPECT_NEAR(o.box_velocity.x, expected["Box-Vel-XX"], 1e-10) << step;
    }
}

TEST_F(OnGpu, parrinello_rahman_by_axis_follows_the_reference)
{
    for (const std::string edges : {"semi", "each"})
    {
        SCOPED_TRACE(edges);
        Refdata data = load_nve("spce");
        couple_as_nhpr(data.parameters);
        couple_edges(data.parameters, edges);
        Simulation simulation = simulate_on(Device::Gpu, data, Precision::Double);
        Recorder recorder;
        const std::vector<EnergyTable> reference = refdata_energy_series("spce", "axes_nhpr_" + edges);
        simulation.run(static_cast<std::int64_t>(reference.size()) - 1, recorder, never);
        expect_boxes(recorder.observables, reference, 1e-10);
    }
}

TEST_P(CouplingOnGpu, is_the_one_of_the_cpu_and_so_are_the_frames)
{
    Refdata data = coupled(GetParam());
    data.parameters.list_cutoff += 0.1; // the two lists must not differ in effect
    data.parameters.x_out = 7;
    data.parameters.f_out = 14;
    data.parameters.v_out = 4;
    Recorder on_cpu, on_gpu;
    simulate_on(Device::Cpu, data, Precision::Double).run(30, on_cpu, never);
    simulate_on(Device::Gpu, data, Precision::Double).run(30, on_gpu, never);
    expect_near(on_gpu.observables, on_cpu.observables, 1e-8);
    expect_near(on_gpu.frames, on_cpu.frames, {1e-8, 1e-7, 1e-7});
}

TEST_P(CouplingOnGpu, goes_on_from_a_saved_state_with_the_same_bits)
{
    const Refdata data = coupled(GetParam());
    Recorder through, broken;
    Simulation whole = simulate_on(Device::Gpu, data, Precision::Mixed, Summation::Reproducible);
    whole.run(22, through, never);
    Simulation before = simulate_on(Device::Gpu, data, Precision::Mixed, Summation::Reproducible);
    Observer nobody;
    before.run(13, nobody, never);
    const SavedState saved = before.saved_state();
    EXPECT_EQ(saved.step, 12);
    Simulation after = simulate_on(Device::Gpu, data, Precision::Mixed, Summation::Reproducible, &saved);
    after.run(22 - saved.step, broken, never);
    EXPECT_EQ(after.frame().x, whole.frame().x);
    EXPECT_EQ(after.frame().v, whole.frame().v);
    ASSERT_FALSE(broken.observables.empty());
    EXPECT_EQ(broken.observables.back().conserved, through.observables.back().conserved);
    EXPECT_EQ(broken.observables.back().pressure_tensor, through.observables.back().pressure_tensor);
}

// What files have noted at the last progress is what continuing cuts them back to.
TEST_F(OnGpu, a_run_that_ends_inside_an_interval_has_told_of_the_step_of_its_saved_state)
{
    struct Progress final : Observer
    {
        void frame(const OutputDue&, Frame&& frame) override { frames.push_back(frame.step); }
        void progress(std::int64_t steps_done, std::int64_t, double) override { done = steps_done, frames_then = frames.size(); }
        std::vector<std::int64_t> frames;
        std::int64_t done = -1;
        std::size_t frames_then = 0;
    };
    Refdata data = coupled(coupled_cases[1]);
    data.parameters.x_out = 1;
    for (const Summation summation : {Summation::Fast, Summation::Reproducible})
    {
        Progress progress;
        Simulation simulation = simulate_on(Device::Gpu, data, Precision::Mixed, summation);
        simulation.run(15, progress, never); // a list at least every fourth step
        EXPECT_EQ(progress.done, simulation.saved_state().step);
        EXPECT_EQ(progress.frames_then, static_cast<std::size_t>(progress.done)) << "of all steps before it, and none after";
        EXPECT_EQ(progress.frames.size(), 16u);
    }
}

TEST_P(CouplingOnGpu, has_nearly_the_same_course_in_every_policy)
{
    Refdata data = coupled(GetParam());
    data.parameters.list_cutoff += 0.1;
    Recorder exact;
    simulate_on(Device::Gpu, data, Precision::Double).run(12, exact, never);
    for (const auto& [precision, summation, bound] :
         {std::tuple{Precision::Double, Summation::Reproducible, 1e-8}, std::tuple{Precision::Mixed, Summation::Fast, 2e-5},
          std::tuple{Precision::Mixed, Summation::Reproducible, 2e-5}})
    {
        Recorder listener;
        simulate_on(Device::Gpu, data, precision, summation).run(12, listener, never);
        expect_near(listener.observables, exact.observables, bound);
    }
}

INSTANTIATE_TEST_SUITE_P(Coupled, CouplingOnGpu, ::testing::ValuesIn(coupled_cases),
                         [](const auto& test) { return test.param.name; });

// Chains and rings of constraints, which no single thread can hold.
TEST_F(OnGpu, constraints_of_all_bonds_are_those_of_the_cpu)
{
    for (const std::string name : {"etoh", "villin"})
    {
        Refdata data = load_refdata(name, ConstraintMode::AllBonds);
        data.parameters.energy_calc = 1;
        data.parameters.x_out = 1;
        Recorder on_cpu, on_gpu;
        simulate_on(Device::Cpu, data, Precision::Double).run(20, on_cpu, never);
        simulate_on(Device::Gpu, data, Precision::Double).run(20, on_gpu, never);
        expect_near(on_gpu.observables, on_cpu.observables, 1e-8);
        expect_same_deviations(data.system.topology, on_gpu.frames, on_cpu.frames, 21);
    }
}

// A chain so long that its LINCS block works in global memory, and stars of every size.
TEST_P(ShapesOnGpu, are_constrained_as_on_the_cpu)
{
    Refdata data = coupled(GetParam(), "spce");
    make_shapes_of_constraints(data.system);
    data.parameters.list_cutoff += 0.1;
    data.parameters.dt = 0.0005;
    data.parameters.continuation = true;
    data.parameters.x_out = 5; // one frame in a list interval at most: a second one would begin another
    Recorder on_cpu, on_gpu;
    simulate_on(Device::Cpu, data, Precision::Double).run(12, on_cpu, never);
    simulate_on(Device::Gpu, data, Precision::Double).run(12, on_gpu, never);
    expect_near(on_gpu.observables, on_cpu.observables, 1e-8);
    expect_same_deviations(data.system.topology, on_gpu.frames, on_cpu.frames, 4);
}

INSTANTIATE_TEST_SUITE_P(Motions, ShapesOnGpu, ::testing::Values(coupled_cases[0], coupled_cases[4], coupled_cases[6]),
                         [](const auto& test) { return test.param.name; });

TEST_F(OnGpu, a_checkpoint_is_of_the_moment_it_is_asked_for)
{
    struct Asking final : Observer
    {
        void energies(const OutputDue&, const Observables& o) override { observed = o.step; }
        void progress(std::int64_t steps_done, std::int64_t, double) override
        {
            done = steps_done;
            EXPECT_LT(observed, done) << "told of what is not done";
        }
        bool checkpoint_due() override { return done >= 8 && !is_saved; }
        void checkpoint(SavedState&& state) override
        {
            saved = std::move(state);
            is_saved = true;
            EXPECT_EQ(saved.step, done);
            EXPECT_EQ(observed, saved.step - 1) << "all energies before it are told, and none after it";
        }
        std::int64_t done = 0, observed = -1;
        bool is_saved = false;
        SavedState saved;
    } asking;
    const Refdata data = coupled(coupled_cases[4]); // every step is observed
    Simulation whole = simulate_on(Device::Gpu, data, Precision::Mixed, Summation::Reproducible);
    whole.run(52, asking, never);
    ASSERT_GE(asking.saved.step, 8);
    Observer nobody;
    Simulation after = simulate_on(Device::Gpu, data, Precision::Mixed, Summation::Reproducible, &asking.saved);
    after.run(52 - asking.saved.step, nobody, never);
    EXPECT_EQ(after.frame().x, whole.frame().x);
    EXPECT_EQ(after.frame().v, whole.frame().v);
}

TEST_F(OnGpu, a_stopped_run_ends_where_a_list_is_built_with_its_last_kinetic_energy)
{
    Refdata data = coupled(coupled_cases[0]);
    data.parameters.list_cutoff += 0.1;
    data.parameters.energy_calc = 1;
    Recorder through;
    simulate_on(Device::Cpu, data, Precision::Double).run(400, through, never);
    data.parameters.energy_calc = 0;
    struct StopAt final : Observer
    {
        void progress(std::int64_t steps_done, std::int64_t, double) override { stop = steps_done >= 8; }
        void energies(const OutputDue&, const Observables& o) override { last = o; }
        Observables last;
        std::atomic<bool> stop{false};
    } observer;
    const RunSummary summary = simulate_on(Device::Gpu, data, Precision::Double).run(400, observer, observer.stop);
    EXPECT_EQ(summary.end, RunEnd::Stopped);
    EXPECT_GE(summary.steps, 8);
    EXPECT_EQ(summary.steps % 4, 0);
    ASSERT_LT(summary.steps, 400);
    expect_near(observer.last, through.observables[static_cast<std::size_t>(summary.steps)], 1e-8);
}

// Segments grow with the pace of the run; what is told must not depend on where they end.
TEST_F(OnGpu, frames_and_energies_come_in_order_and_once_however_long_the_segments)
{
    struct Ordered final : Observer
    {
        void frame(const OutputDue&, Frame&& frame) override { frames.push_back(frame.step); }
        void energies(const OutputDue&, const Observables& o) override { observed.push_back(o.step); }
        void progress(std::int64_t steps_done, std::int64_t, double) override
        {
            // Where a list is built: at its time, or for a segment that begins with an interval's second frame.
            EXPECT_TRUE(steps_done % 4 == 0 || steps_done % 30 == 0 || steps_done % 21 == 0) << steps_done;
            EXPECT_TRUE(frames.empty() || frames.back() < steps_done);
            EXPECT_TRUE(observed.empty() || observed.back() < steps_done);
            progress_calls += 1;
        }
        std::vector<std::int64_t> frames, observed;
        int progress_calls = 0;
    } ordered;
    Refdata data = coupled(coupled_cases[1]);
    data.parameters.temperature_interval = 10;
    data.parameters.list_cutoff += 0.1;
    data.parameters.x_out = 30;
    data.parameters.f_out = 21;
    Simulation through = simulate_on(Device::Gpu, data, Precision::Mixed, Summation::Reproducible);
    through.run(3001, ordered, never);
    std::vector<std::int64_t> frames, observed;
    for (std::int64_t step = 0; step <= 3001; ++step)
    {
        if (step % 30 == 0 || step % 21 == 0 || step == 3001) { frames.push_back(step); }
        if (step % 5 == 0 || step == 3001) { observed.push_back(step); }
    }
    EXPECT_EQ(ordered.frames, frames);
    EXPECT_EQ(ordered.observed, observed);
    EXPECT_LT(ordered.progress_calls, 3001 / 4) << "no segment was longer than an interval";

    data.parameters.x_out = data.parameters.f_out = 0;
    Simulation without_frames = simulate_on(Device::Gpu, data, Precision::Mixed, Summation::Reproducible);
    Observer nobody;
    without_frames.run(3001, nobody, never);
    EXPECT_EQ(without_frames.frame().x, through.frame().x);
    EXPECT_EQ(without_frames.frame().v, through.frame().v);
}

TEST_F(OnGpu, a_traced_run_has_every_phase_of_every_step_of_one_list_interval_in_four)
{
    Refdata data = coupled(coupled_cases[1]); // couples every second step, observes every fifth, lists every fourth
    SimulationOptions options;
    options.device = Device::Gpu;
    options.trace = true;
    Simulation simulation(data.system, data.parameters, options);
    Observer nobody;
    const RunSummary summary = simulation.run(40, nobody, never);
    const std::vector<Timeline> timelines = simulation.timelines();
    ASSERT_EQ(timelines.size(), 1u);
    std::map<std::string, std::map<std::int64_t, Timeline::Span>> of_phase; // the longest of a step
    for (const Timeline::Span& s : timelines[0].spans)
    {
        if (s.track > static_cast<std::size_t>(phases) || s.step >= 40) { continue; }
        EXPECT_LT(s.begin, s.end);
        Timeline::Span& longest = of_phase[timelines[0].tracks[s.track]].try_emplace(s.step, s).first->second;
        if (s.end - s.begin > longest.end - longest.begin) { longest = s; }
    }
    const auto steps_of = [&](const char* phase, auto&& has_it) {
        for (std::int64_t step = 0; step < 40; ++step)
        {
            const bool is_recorded = step / 4 % 4 == 0;
            EXPECT_EQ(of_phase[phase].contains(step), is_recorded && has_it(step)) << phase << " " << step;
        }
    };
    for (const char* phase : {"nonbonded", "bonded", "constrain"})
    {
        steps_of(phase, [](std::int64_t) { return true; });
    }
    steps_of("pair list", [](std::int64_t step) { return step % 4 == 0; });
    steps_of("couple", [](std::int64_t step) { return step % 2 == 1; }); // begins with what the first step has left
    std::set<std::int64_t> gaps;
    for (const auto& [step, span] : of_phase["not recorded"]) { gaps.insert(step); }
    EXPECT_EQ(gaps, (std::set<std::int64_t>{4, 20}));
    for (const auto& [step, constrain] : of_phase["constrain"])
    {
        EXPECT_LE(of_phase["nonbonded"][step].end, constrain.begin) << step;
        EXPECT_LE(of_phase["bonded"][step].end, constrain.begin) << step;
        if (of_phase["constrain"].contains(step - 1))
        {
            EXPECT_LE(of_phase["constrain"][step - 1].end, of_phase["nonbonded"][step].begin) << step;
        }
    }
    EXPECT_GT(summary.covered_us, 0);
    EXPECT_FALSE(summary.kernels.empty());
    options.trace = false;
    EXPECT_TRUE(Simulation(data.system, data.parameters, options).timelines().empty());
}

TEST_F(OnGpu, a_run_that_is_timed_has_phases_however_its_segments_end)
{
    Refdata data = coupled(coupled_cases[1]);
    for (const int frames : {0, 30, 70, 110})
    {
        data.parameters.compressed_out = frames;
        SimulationOptions options;
        options.device = Device::Gpu;
        Simulation simulation(data.system, data.parameters, options);
        Observer nobody;
        for (const std::int64_t steps : {1001, 1500, 2000, 5002})
        {
            const RunSummary summary = simulation.run(steps, nobody, never);
            EXPECT_GT(summary.us_per_step, 0);
            EXPECT_FALSE(summary.phases.empty()) << steps << " steps, a frame every " << frames;
        }
    }
}

TEST_F(OnGpu, a_trace_changes_no_bit_of_a_run)
{
    const Refdata data = coupled(coupled_cases[4]);
    SimulationOptions options;
    options.device = Device::Gpu;
    options.summation = Summation::Reproducible;
    Observer nobody;
    Simulation plain(data.system, data.parameters, options);
    options.trace = true;
    Simulation traced(data.system, data.parameters, options);
    plain.run(100, nobody, never);
    traced.run(100, nobody, never);
    EXPECT_EQ(plain.frame().x, traced.frame().x);
    EXPECT_EQ(plain.frame().v, traced.frame().v);
}

TEST_F(OnGpu, a_list_that_was_planned_for_less_density_is_made_larger)
{
    // A drop in vacuum, of whole molecules: eight times denser than the box on average.
    Refdata data = load_nve("spce");
    for (std::size_t a = 0; a < data.system.x.size(); ++a)
    {
        for (int d = 0; d < 3 && a % 3 != 0; ++d)
        {
            const double from_oxygen = data.system.x[a][d] - data.system.x[a - a % 3][d];
            data.system.x[a][d] -= data.system.box.diagonal()[d] * std::round(from_oxygen / data.system.box.diagonal()[d]);
        }
    }
    data.system.box = 2.0 * data.system.box;
    Recorder on_cpu, on_gpu;
    simulate_on(Device::Cpu, data, Precision::Double).run(5, on_cpu, never);
    simulate_on(Device::Gpu, data, Precision::Double).run(5, on_gpu, never);
    expect_near(on_gpu.observables, on_cpu.observables, 1e-9);
}

TEST_F(OnGpu, what_no_list_of_the_gpu_can_hold_goes_on_on_the_cpu_and_loses_nothing)
{
    // One molecule of 4096 atoms on a lattice, each of which excludes some 24 others anywhere in the box: a supercluster shares
    // excluded pairs with more clusters than its block has places for.
    constexpr int edge = 16, atoms = edge * edge * edge;
    Refdata data = load_nve("spce");
    MoleculeType lattice;
    lattice.name = "LATTICE";
    lattice.residues = {{"LAT", 1}};
    lattice.exclusion_start = {0};
    std::mt19937 random(5);
    std::vector<std::set<std::int32_t>> excluded(atoms);
    for (std::int32_t a = 0; a < atoms; ++a)
    {
        for (int k = 0; k < 12; ++k)
        {
            const auto b = static_cast<std::int32_t>(random() % atoms);
            if (a != b) { excluded[static_cast<std::size_t>(a)].insert(b), excluded[static_cast<std::size_t>(b)].insert(a); }
        }
    }
    data.system.x.clear(), data.system.v.clear();
    for (int a = 0; a < atoms; ++a)
    {
        lattice.atoms.push_back({"A", 0, 0, 16.0, a % 2 == 0 ? 0.1 : -0.1});
        const std::set<std::int32_t>& partners = excluded[static_cast<std::size_t>(a)];
        lattice.excluded.insert(lattice.excluded.end(), partners.begin(), partners.end());
        lattice.exclusion_start.push_back(static_cast<std::int32_t>(lattice.excluded.size()));
        data.system.x.push_back({0.35 * (a % edge) + 0.01 * (a % 7), 0.35 * (a / edge % edge), 0.35 * (a / edge / edge)});
        data.system.v.push_back({0.3 * std::sin(a), 0.3 * std::cos(3 * a), 0.1});
    }
    data.system.box = {0.35 * edge, 0.35 * edge, 0.35 * edge};
    data.system.topology.molecule_types = {lattice};
    data.system.topology.blocks = {{0, 1, 0}};
    data.system.topology.finish();
    data.parameters.x_out = 3;

    Recorder on_cpu, on_gpu;
    simulate_on(Device::Cpu, data, Precision::Double).run(7, on_cpu, never);
    Simulation simulation = simulate_on(Device::Gpu, data, Precision::Double);
    EXPECT_TRUE(simulation.plan().on_gpu);
    const RunSummary summary = simulation.run(7, on_gpu, never);
    EXPECT_FALSE(simulation.plan().on_gpu);
    EXPECT_EQ(summary.steps, 7);
    ASSERT_EQ(on_gpu.messages.size(), 1u);
    EXPECT_THAT(on_gpu.messages[0], AllOf(HasSubstr("more neighbours or exclusions"), HasSubstr("The CPU goes on from here")));
    EXPECT_EQ(simulation.frame().step, 7);
    ASSERT_EQ(on_gpu.frames.size(), on_cpu.frames.size());
    expect_near(on_gpu.observables, on_cpu.observables, 1e-10);
}

TEST_F(OnGpu, overlapping_molecules_are_named_at_once)
{
    Refdata data = load_nve("etoh");
    const std::size_t water = 9 * 100 + 3 * 500;
    const Vec3<double> shift = data.system.x[0] + Vec3<double>{0.01, 0, 0} - data.system.x[water];
    for (std::size_t a = water; a < water + 3; ++a) { data.system.x[a] += shift; }
    Simulation simulation = simulate_on(Device::Gpu, data, Precision::Mixed);
    Observer nobody;
    try
    {
        simulation.run(100, nobody, never);
        FAIL() << "the run went on";
    }
    catch (const PhysicsError& error)
    {
        EXPECT_EQ(error.step(), 0);
        EXPECT_THAT(error.what(), AllOf(HasSubstr("step 0"), HasSubstr("atom "), HasSubstr("residue "))) << error.what();
    }
}

TEST_F(OnGpu, a_start_that_would_end_a_run_is_evaluated_as_on_the_cpu)
{
    Refdata data = load_nve("etoh");
    for (std::size_t a = 903; a < 906; ++a) { data.system.x[a] = data.system.x[a - 3] + Vec3<double>{0.08, 0, 0}; }
    const SinglePoint expected = simulate_on(Device::Cpu, data, Precision::Double).evaluate();
    Simulation simulation = simulate_on(Device::Gpu, data, Precision::Double);
    const SinglePoint point = simulation.evaluate();
    EXPECT_NE(point.trouble, "");
    EXPECT_EQ(simulation.frame().step, 0);
    // And a run from there ends as it would have ended.
    Observer nobody;
    EXPECT_THROW(simulation.run(3, nobody, never), PhysicsError);
    EXPECT_LE(rms_relative(point.forces, expected.forces), 1e-12);
    EXPECT_NEAR(point.observables.potential, expected.observables.potential, 1e-12 * std::abs(expected.observables.potential));
}

TEST_F(OnGpu, a_blow_up_is_noticed_before_any_frame_is_bad)
{
    Refdata data = load_nve("etoh");
    data.parameters.dt = 0.02;
    data.parameters.list_interval = 10;
    data.parameters.compressed_out = 1;
    Simulation simulation = simulate_on(Device::Gpu, data, Precision::Mixed);
    Recorder listener;
    EXPECT_THROW(simulation.run(2000, listener, never), PhysicsError);
    listener.frames.push_back(simulation.last_good_frame());
    for (const Frame& frame : listener.frames)
    {
        EXPECT_TRUE(std::all_of(frame.x.begin(), frame.x.end(), [](const Vec3<double>& x) { return std::isfinite(norm(x)); }));
    }
}

TEST_F(OnGpu, a_box_that_shrinks_below_its_pair_list_is_an_error_with_advice)
{
    Refdata data = load_nve("spce");
    data.parameters.barostat = Barostat::Berendsen;
    data.parameters.pressure_interval = 1;
    data.parameters.tau_p = 0.1;
    data.parameters.compressibility = {4.5e-4, 4.5e-4, 4.5e-4};
    data.parameters.reference_pressure = {1e5, 1e5, 1e5};
    data.parameters.lj_cutoff = data.parameters.coulomb_cutoff = 1.5;
    data.parameters.list_cutoff = 1.55;
    Simulation simulation = simulate_on(Device::Gpu, data, Precision::Mixed);
    Observer nobody;
    try
    {
        simulation.run(1000, nobody, never);
        FAIL() << "the run went on";
    }
    catch (const PhysicsError& error)
    {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("E503"), HasSubstr("the box has shrunk"))) << error.what();
    }
}
