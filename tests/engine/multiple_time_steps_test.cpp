// SPDX-License-Identifier: Apache-2.0
// Runs in which PME's mesh acts in every n-th step, n times: the reference's, those of other ranks and threads, and those of
// other outputs.
#include "coupled_runs.hpp"

#include "interactions/mesh/mesh.hpp"
#include "pairs/cluster_order.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

void step_mesh_every(int factor, RunParameters& p) { p.multiple_time_steps = true, p.mesh_factor = factor; }

// As the reference's: energies in the steps with the mesh.
Refdata load_mts(int factor)
{
    Refdata data = load_nve("etoh/pme");
    step_mesh_every(factor, data.parameters);
    data.parameters.energy_calc = data.parameters.energy_out = factor, data.parameters.log_out = 0;
    return data;
}

// Couples every second step, as coupled(), which also observes steps without the mesh.
Refdata coupled_mts(const Case& c, int factor)
{
    Refdata data = coupled(c, "etoh/pme");
    step_mesh_every(factor, data.parameters);
    return data;
}

SimulationOptions reproducible(const Grid& grid, int threads, MeshMethod pme)
{
    SimulationOptions options;
    options.summation = Summation::Reproducible;
    options.threads = threads, options.grid = grid, options.pme = pme;
    options.mesh_ranks = pme == MeshMethod::Dedicated ? 2 : 0;
    return options;
}

SimulationOptions in_double()
{
    SimulationOptions options;
    options.precision = Precision::Double, options.threads = 2;
    return options;
}

struct FinishedRun
{
    Frame frame;
    Recorder recorder;
};

FinishedRun finish(const Refdata& data, const SimulationOptions& options, std::int64_t steps)
{
    FinishedRun result;
    Simulation simulation(data.system, data.parameters, options);
    simulation.run(steps, result.recorder, never);
    result.frame = simulation.frame();
    return result;
}

void expect_same_bits(const Frame& frame, const Frame& expected)
{
    EXPECT_EQ(frame.box, expected.box);
    EXPECT_EQ(frame.x, expected.x);
    EXPECT_EQ(frame.v, expected.v);
}

// Of the mesh alone on one atom, kJ/mol/nm.
Vec3<double> mesh_force(const Refdata& data, std::size_t atom)
{
    CpuQueue queue(1);
    ParticleState<Double> state = make_state<Double>(data.system, {}, queue);
    ForceBuffers<Double> buffers;
    clear_forces(queue, buffers, state.slots());
    Mesh<Double> mesh(data.system.topology, data.parameters, data.system.box);
    mesh.compute(queue, state, buffers, Compute::Forces);
    sum_forces(queue, buffers, state);
    return state.f.get(static_cast<std::size_t>(state.slot_of_global[atom]));
}

// Energies of the steps that the reference has, until its last with the mesh.
void expect_energies(const std::vector<Observables>& observables, const std::string& name, double bound, double virial_bound)
{
    const std::vector<EnergyTable> reference = refdata_energy_series("etoh/pme", name);
    ASSERT_GT(reference.size(), 30u);
    ASSERT_GE(observables.size(), reference.size());
    for (std::size_t i = 0; i < reference.size(); ++i)
    {
        const Observables& o = observables[i];
        const EnergyTable& expected = reference[i];
        SCOPED_TRACE("step " + std::to_string(o.step));
        ASSERT_NEAR(o.time, expected["Time"], 1e-9);
        const double reciprocal = expected["Coul. recip."];
        EXPECT_NEAR(o.forces[EnergyTerm::CoulombReciprocal], reciprocal, bound * reciprocal);
        EXPECT_NEAR(o.potential, expected["Potential"], bound * std::abs(expected["Potential"]));
        EXPECT_NEAR(o.kinetic_energy, expected["Kinetic En."], bound * expected["Kinetic En."]);
        EXPECT_LE(max_relative(o.virial, expected.tensor("Vir")), virial_bound);
    }
}

} // namespace

// Bounds of Trajectory.*: the reference's 1-4 forces are interpolated.
TEST(MultipleTimeSteps, follow_the_reference)
{
    const Refdata data = load_mts(2);
    Simulation simulation = simulate(data, Precision::Double);
    Recorder recorder;
    std::int64_t step = 0;
    for (const ReferenceState& reference : refdata_states("etoh/pme", "mts"))
    {
        simulation.run(reference.step - step, recorder, never);
        step = reference.step;
        const Frame frame = simulation.frame();
        EXPECT_LE(largest_distance(frame.x, reference.x, frame.box), step <= 10 ? 2e-9 : 1e-8) << "step " << step;
        EXPECT_LE(rms_relative(frame.v, reference.v), step <= 10 ? 2e-6 : 1e-5) << "step " << step;
    }
    EXPECT_EQ(step, 99);
    EXPECT_EQ(simulation.plan().mesh->interval, 2);
    Recorder whole;
    simulate(data, Precision::Double).run(100, whole, never);
    expect_energies(whole.observables, "mts", 1e-9, 3e-8);
}

TEST(MultipleTimeSteps, follow_the_reference_under_nose_hoover_and_parrinello_rahman)
{
    Refdata data = load_mts(3);
    couple_as_nhpr(data.parameters);
    data.parameters.temperature_interval = data.parameters.pressure_interval = 3;
    const FinishedRun result = finish(data, in_double(), 99);
    const std::vector<EnergyTable> reference = refdata_energy_series("etoh/pme", "mts_nhpr");
    for (std::size_t i = 0; i < reference.size(); ++i)
    {
        const Observables& o = result.recorder.observables[i];
        EXPECT_NEAR(o.box.diagonal().x, reference[i]["Box-X"], 5e-8 * o.box.diagonal().x) << o.step;
        EXPECT_NEAR(o.conserved, reference[i]["Conserved En."], 5e-8 * std::abs(o.conserved)) << o.step;
    }
    expect_energies(result.recorder.observables, "mts_nhpr", 5e-8, 3e-7);
    EXPECT_NE(result.frame.box.diagonal().x, data.system.box.diagonal().x);
}

// With the barostat's step behind a step without the mesh, and a checkpoint between two steps with it.
TEST(MultipleTimeSteps, have_the_bits_of_one_rank_on_several_and_behind_a_checkpoint)
{
    constexpr std::int64_t steps = 14;
    const Refdata data = coupled_mts(coupled_cases[4], 3);
    const Frame expected = finish(data, reproducible({1, 1, 1}, 2, MeshMethod::Auto), steps).frame;
    EXPECT_NE(expected.box, data.system.box);
    expect_same_bits(finish(data, reproducible({1, 1, 1}, 3, MeshMethod::Auto), steps).frame, expected);
    for (const MeshMethod pme : {MeshMethod::Gathered, MeshMethod::Bricks, MeshMethod::Shared, MeshMethod::Dedicated})
    {
        SCOPED_TRACE(mesh_method_names[static_cast<std::size_t>(pme)]);
        const Grid grid = pme == MeshMethod::Shared ? Grid{3, 1, 1} : Grid{2, 2, 1};
        expect_same_bits(finish(data, reproducible(grid, 1, pme), steps).frame, expected);
        Observer nobody;
        Simulation before(data.system, data.parameters, reproducible(grid, 2, pme));
        before.run(9, nobody, never);
        const SavedState saved = before.saved_state();
        ASSERT_EQ(saved.step, 8);
        Simulation after(data.system, data.parameters, reproducible({2, 1, 1}, 1, pme), &saved);
        after.run(steps - saved.step, nobody, never);
        expect_same_bits(after.frame(), expected);
    }
}

// What is observed is no part of the motion, though an observed step takes other ways.
TEST(MultipleTimeSteps, have_the_same_bits_whatever_is_observed)
{
    for (const Integrator integrator : {Integrator::LeapFrog, Integrator::StochasticDynamics})
    {
        Refdata data = coupled_mts({"", integrator}, 3);
        RunParameters& p = data.parameters;
        const auto frame_with = [&](int energies, int forces) {
            p.energy_calc = energies, p.f_out = forces;
            return finish(data, reproducible({1, 1, 1}, 2, MeshMethod::Auto), 14).frame;
        };
        const Frame expected = frame_with(0, 0);
        expect_same_bits(frame_with(1, 0), expected);
        expect_same_bits(frame_with(0, 2), expected);
        expect_same_bits(frame_with(3, 3), expected);
    }
}

// Of every step, also of those whose motion has no mesh: as if the step were the first of a run without multiple time stepping.
TEST(MultipleTimeSteps, tell_plain_forces_energies_and_pressure_of_any_step)
{
    Refdata data = load_mts(3);
    RunParameters& p = data.parameters;
    p.energy_calc = p.f_out = p.x_out = p.v_out = 1;
    const FinishedRun result = finish(data, in_double(), 4);
    ASSERT_EQ(result.recorder.frames.size(), 5u);
    p.multiple_time_steps = false;
    for (std::size_t step = 0; step < 4; ++step)
    {
        SCOPED_TRACE(step);
        const Frame& frame = result.recorder.frames[step];
        data.system.x = frame.x, data.system.v = frame.v;
        const SinglePoint point = simulate(data, Precision::Double).evaluate();
        const Observables &o = result.recorder.observables[step], &expected = point.observables;
        EXPECT_LE(rms_relative(frame.f, point.forces), 1e-11);
        EXPECT_NEAR(o.potential, expected.potential, 1e-11 * std::abs(expected.potential));
        EXPECT_LE(max_relative(o.virial, expected.virial), 1e-9); // with constraint forces
    }
    step_mesh_every(3, p);
    p.energy_calc = p.energy_out = 0;
    data.system = load_mts(3).system;
    const FinishedRun forces_alone = finish(data, in_double(), 4);
    for (std::size_t step = 0; step < 4; ++step)
    {
        EXPECT_LE(rms_relative(forces_alone.recorder.frames[step].f, result.recorder.frames[step].f), 1e-12) << step;
    }
}

// The definition: impulses of n times the mesh's force in every n-th step of the run, none between.
TEST(MultipleTimeSteps, move_a_free_ion_by_impulses_of_the_mesh)
{
    Refdata data = load_refdata("etoh/pme", ConstraintMode::None);
    RunParameters& p = data.parameters;
    step_mesh_every(3, p);
    p.energy_calc = p.energy_out = p.log_out = 0, p.first_step = 4; // no multiple
    p.x_out = p.v_out = 1;
    const FinishedRun result = finish(data, in_double(), 6);
    ASSERT_EQ(result.recorder.frames.size(), 7u);
    constexpr std::size_t atom = 0; // of an ethanol: waters are rigid
    const double mass = data.system.topology.molecule_types[0].atoms[0].mass;
    RunParameters plain = p;
    plain.multiple_time_steps = false, plain.first_step = 0;
    for (std::size_t i = 0; i < 6; ++i)
    {
        const Frame &now = result.recorder.frames[i], &next = result.recorder.frames[i + 1];
        SCOPED_TRACE(now.step);
        Refdata here = data;
        here.parameters = plain, here.system.x = now.x, here.system.v = now.v;
        const Vec3<double> all = simulate(here, Precision::Double).evaluate().forces[atom];
        const Vec3<double> change = mass / p.dt * (next.v[atom] - now.v[atom]);
        const Vec3<double> mesh = mesh_force(here, atom);
        const double weight = now.step % 3 == 0 ? 3 : 0;
        EXPECT_LE(norm(change - (all + (weight - 1) * mesh)), 1e-9 * norm(all));
        EXPECT_GT(norm(mesh), 1e-3 * norm(all)) << "nothing to see";
    }
}

TEST(MultipleTimeSteps, do_nothing_without_a_mesh)
{
    Refdata data = coupled(coupled_cases[4], "etoh");
    const Frame expected = finish(data, reproducible({1, 1, 1}, 2, MeshMethod::Auto), 8).frame;
    step_mesh_every(2, data.parameters);
    expect_same_bits(finish(data, reproducible({1, 1, 1}, 2, MeshMethod::Auto), 8).frame, expected);
}
