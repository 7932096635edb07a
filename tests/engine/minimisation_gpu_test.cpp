// SPDX-License-Identifier: Apache-2.0
// Minimisations on GPUs: the same points as on the CPU, and on ranks the bits of one.
#include "minimised_systems.hpp"
#include "ranks_gpu.hpp"
#include "support/one_in.hpp"

#include <algorithm>
#include <gmock/gmock-matchers.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct Outcome
{
    SinglePoint start, end;
    RunSummary summary;
    Recorder recorder;
    Frame last;
};

Outcome minimise_on(const Refdata& data, const SimulationOptions& options, std::int64_t steps)
{
    Outcome outcome;
    Simulation simulation(data.system, data.parameters, options);
    outcome.start = simulation.evaluate();
    outcome.summary = simulation.run(steps, outcome.recorder, never);
    outcome.last = simulation.frame();
    outcome.end = simulation.evaluate();
    return outcome;
}

SimulationOptions on(Device device, Precision precision, Summation summation)
{
    SimulationOptions options;
    options.device = device, options.precision = precision, options.summation = summation, options.threads = 2;
    options.comm_timeout = std::chrono::seconds(60); // the stand-in on a busy machine takes its time
    return options;
}

class MinimisationOnGpu : public RanksOnGpus
{
};

// Relative bounds: of energies; of largest forces and pressures.
void expect_same_bases(const Recorder& gpu, const Recorder& cpu, double of_energies, double of_forces)
{
    ASSERT_EQ(gpu.observables.size(), cpu.observables.size());
    ASSERT_GT(cpu.observables.size(), 3u);
    for (std::size_t i = 0; i < cpu.observables.size(); ++i)
    {
        const Observables &a = gpu.observables[i], &b = cpu.observables[i];
        EXPECT_EQ(a.step, b.step);
        EXPECT_NEAR(a.potential, b.potential, of_energies * std::abs(b.potential));
        EXPECT_NEAR(a.largest_force, b.largest_force, of_forces * b.largest_force);
        EXPECT_NEAR(a.pressure, b.pressure, of_forces * std::abs(b.pressure));
    }
}

} // namespace

TEST_F(MinimisationOnGpu, takes_the_steps_of_the_cpu)
{
    constexpr int steps = 8;
    OneIn systems;
    for (const MinimisedSystemCase& c : minimised_systems())
    {
        if (!systems.takes_next()) { continue; }
        SCOPED_TRACE(c.name);
        Refdata data = c.make();
        data.parameters.x_out = data.parameters.f_out = 1;
        const Outcome gpu = minimise_on(data, on(Device::Gpu, Precision::Double, Summation::Fast), steps);
        const Outcome cpu = minimise_on(data, on(Device::Cpu, Precision::Double, Summation::Fast), steps);
        EXPECT_LE(rms_relative(gpu.start.forces, cpu.start.forces), 1e-11);
        EXPECT_LE(max_relative(gpu.start.observables.virial, cpu.start.observables.virial), 1e-9);
        EXPECT_EQ(gpu.start.observables.temperature, 0);
        EXPECT_EQ(gpu.start.observables.kinetic_energy, 0);
        expect_same_bases(gpu.recorder, cpu.recorder, 1e-10, 1e-6);
        expect_near(gpu.recorder.frames, cpu.recorder.frames, {1e-8, 1e-8, 1e-6});
        EXPECT_EQ(gpu.summary.steps, steps);
        EXPECT_LT(gpu.summary.lists_built, steps);
        EXPECT_EQ(gpu.summary.lists_built, cpu.summary.lists_built); // new ones only where atoms have left the buffer
        EXPECT_EQ(gpu.summary.largest_force, gpu.recorder.observables.back().largest_force);
        EXPECT_EQ(gpu.last.step, cpu.last.step);
        EXPECT_LE(rms_relative(gpu.end.forces, cpu.end.forces), 1e-6); // of one evaluation, whatever came before
        EXPECT_NEAR(gpu.end.observables.potential, gpu.recorder.observables.back().potential,
                    1e-9 * std::abs(gpu.end.observables.potential));
    }
}

// Forces take the place of velocities on the GPU, and must not come out as velocities.
TEST_F(MinimisationOnGpu, has_frames_of_atoms_at_rest)
{
    Refdata data = as_minimisation(load_refdata("etoh"));
    data.parameters.v_out = 1;
    const Outcome gpu = minimise_on(data, on(Device::Gpu, Precision::Mixed, Summation::Fast), 3);
    ASSERT_FALSE(gpu.recorder.frames.empty());
    std::vector<Frame> frames = gpu.recorder.frames;
    frames.push_back(gpu.last);
    for (const Frame& frame : frames)
    {
        ASSERT_FALSE(frame.v.empty());
        EXPECT_TRUE(std::ranges::all_of(frame.v, [](const Vec3<double>& v) { return norm2(v) == 0; })) << "step " << frame.step;
    }
}

TEST_F(MinimisationOnGpu, goes_along_the_lines_of_the_cpu)
{
    const Refdata with_constraints = as_minimisation(load_refdata("etoh"), Integrator::ConjugateGradients);
    for (const Refdata& data : {with_constraints, flexible_ethanol(Integrator::LBfgs)})
    {
        const Outcome gpu = minimise_on(data, on(Device::Gpu, Precision::Double, Summation::Fast), 8);
        const Outcome cpu = minimise_on(data, on(Device::Cpu, Precision::Double, Summation::Fast), 8);
        SCOPED_TRACE(cpu.recorder.messages.back());
        expect_same_bases(gpu.recorder, cpu.recorder, 1e-9, 1e-5);
        EXPECT_EQ(gpu.summary.steps, 8);
        EXPECT_NEAR(gpu.end.observables.potential, gpu.recorder.observables.back().potential,
                    1e-9 * std::abs(gpu.end.observables.potential));
    }
}

TEST_F(MinimisationOnGpu, has_the_bits_of_one_rank_on_every_grid)
{
    OneIn minimisers;
    for (const Integrator minimiser : {Integrator::ConjugateGradients, Integrator::SteepestDescent, Integrator::LBfgs})
    {
        if (!minimisers.takes_next()) { continue; }
        Refdata data = flexible_ethanol(minimiser);
        if (minimiser != Integrator::LBfgs) { data = as_minimisation(load_refdata("etoh"), minimiser); }
        RunParameters& p = data.parameters; // short cut-offs, as the box is small for the grids
        p.coulomb_cutoff = p.lj_cutoff = 0.6;
        SimulationOptions options = on(Device::Gpu, Precision::Mixed, Summation::Reproducible);
        const Outcome one = minimise_on(data, options, 6);
        OneIn combinations;
        std::size_t k = 0;
        for (const Layout& layout : layouts({{1, 2, 2}, {2, 1, 1}}))
        {
            const HaloMethod method = method_of(k++);
            if (!combinations.takes_next()) { continue; }
            options.grid = layout.grid, options.gpus = layout.gpus, options.halo = method;
            SCOPED_TRACE(name_of(layout, options.halo_method()));
            const Outcome more = minimise_on(data, options, 6);
            EXPECT_EQ(different(more.last.x, one.last.x), 0);
            EXPECT_EQ(different(more.start.forces, one.start.forces), 0);
            ASSERT_EQ(more.recorder.observables.size(), one.recorder.observables.size());
            for (std::size_t i = 0; i < one.recorder.observables.size(); ++i)
            {
                EXPECT_EQ(more.recorder.observables[i].potential, one.recorder.observables[i].potential);
                EXPECT_EQ(more.recorder.observables[i].largest_force, one.recorder.observables[i].largest_force);
            }
        }
    }
}

// Long first moves break constraints and let atoms overlap; such points are taken back.
TEST_F(MinimisationOnGpu, takes_back_moves_that_are_too_long)
{
    Refdata data = minimised_systems().front().make();
    data.parameters.em_step = 0.5;
    const Outcome gpu = minimise_on(data, on(Device::Gpu, Precision::Mixed, Summation::Fast), 6);
    EXPECT_EQ(gpu.summary.end, RunEnd::Done);
    ASSERT_GE(gpu.recorder.observables.size(), 2u);
    EXPECT_LT(gpu.recorder.observables.size(), 7u);
    for (std::size_t i = 1; i < gpu.recorder.observables.size(); ++i)
    {
        EXPECT_LT(gpu.recorder.observables[i].potential, gpu.recorder.observables[i - 1].potential);
    }
    EXPECT_NEAR(gpu.end.observables.potential, gpu.recorder.observables.back().potential,
                1e-5 * std::abs(gpu.end.observables.potential));
}

// Charges whose energy is not a number: the CPU takes over and names the atoms.
TEST_F(MinimisationOnGpu, leaves_a_start_without_an_energy_to_the_cpu)
{
    Refdata data = as_minimisation(load_refdata("etoh", ConstraintMode::None));
    data.system.topology.molecule_types.at(0).atoms.at(0).charge = 1e30;
    Simulation simulation(data.system, data.parameters, on(Device::Gpu, Precision::Mixed, Summation::Fast));
    Recorder recorder;
    try
    {
        simulation.run(3, recorder, never);
        ADD_FAILURE() << "no error";
    }
    catch (const PhysicsError& error)
    {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("E511"));
    }
    ASSERT_FALSE(recorder.messages.empty());
    EXPECT_THAT(recorder.messages[0], ::testing::HasSubstr("The CPU goes on from here"));
}
