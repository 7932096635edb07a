// SPDX-License-Identifier: Apache-2.0
// Runs with PME on a GPU against the CPU's, of so few atoms that the stand-in comes to an end.
#include "base/error.hpp"
#include "coupled_runs.hpp"
#include "support/compare.hpp"
#include "support/gpu_test.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <tuple>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::HasSubstr;

namespace {

class FewAtomsWithPme : public GpuTest, public ::testing::WithParamInterface<std::tuple<Precision, Summation>>
{
};

// Thermostat and barostat act every second step, lists serve four.
Refdata few_atoms()
{
    Refdata data = coupled(coupled_cases[4], "etoh/pme");
    RunParameters& p = data.parameters;
    p.coulomb_cutoff = p.lj_cutoff = 0.5, p.list_cutoff = 0.6;
    p.com_mode = ComMode::Linear, p.com_interval = 5;
    p.x_out = 3, p.v_out = 4, p.f_out = 6;
    return data;
}

SimulationOptions on(Device device)
{
    SimulationOptions options;
    options.device = device;
    options.threads = 2;
    return options;
}

void expect_steps_of_the_cpu(const Refdata& data, Precision precision, Summation summation)
{
    const auto run = [&](Device device) {
        SimulationOptions options = on(device);
        options.precision = precision, options.summation = summation;
        Recorder recorder;
        Simulation simulation(data.system, data.parameters, options);
        EXPECT_EQ(simulation.plan().on_gpu, device == Device::Gpu);
        simulation.run(7, recorder, never);
        return std::pair(recorder, simulation.evaluate().forces); // these in a step that is taken back
    };
    const auto [cpu, forces_of_cpu] = run(Device::Cpu);
    const auto [gpu, forces_of_gpu] = run(Device::Gpu);
    // As of several ranks and one (ranks_gpu_test.cpp): rounding, and the order of sums.
    const double bound = precision == Precision::Double ? 1e-10 : 2e-5;
    expect_near(gpu.frames, cpu.frames, {bound, bound, bound});
    ASSERT_EQ(forces_of_gpu.size(), forces_of_cpu.size());
    EXPECT_LE(rms_relative(forces_of_gpu, forces_of_cpu), bound);
    ASSERT_EQ(gpu.observables.size(), cpu.observables.size());
    for (std::size_t i = 0; i < cpu.observables.size(); ++i)
    {
        const Observables &a = gpu.observables[i], &b = cpu.observables[i];
        SCOPED_TRACE("step " + std::to_string(b.step));
        for (const EnergyTerm term : {EnergyTerm::CoulombReciprocal, EnergyTerm::CoulombSr, EnergyTerm::LjSr})
        {
            EXPECT_NE(b.forces[term], 0);
            EXPECT_NEAR(a.forces[term], b.forces[term], bound * std::abs(b.forces[term])) << static_cast<int>(term);
        }
        EXPECT_NEAR(a.conserved, b.conserved, bound * std::abs(b.potential));
        EXPECT_NEAR(a.box.x, b.box.x, bound * b.box.x);
        EXPECT_LE(max_relative(a.virial, b.virial), 10 * bound);
    }
    EXPECT_NE(cpu.observables.back().box.x, data.system.box.x) << "no barostat acted";
}

} // namespace

TEST_P(FewAtomsWithPme, take_the_steps_of_the_cpu_with_its_frames_and_its_box)
{
    const auto [precision, summation] = GetParam();
    expect_steps_of_the_cpu(few_atoms(), precision, summation);
}

// Forces are written, and energies and virial wanted, in steps with the mesh and in others.
TEST_P(FewAtomsWithPme, take_the_steps_of_the_cpu_where_the_mesh_acts_in_every_third)
{
    const auto [precision, summation] = GetParam();
    Refdata data = few_atoms();
    data.parameters.multiple_time_steps = true, data.parameters.mesh_factor = 3;
    data.parameters.f_out = 2;
    expect_steps_of_the_cpu(data, precision, summation);
}

INSTANTIATE_TEST_SUITE_P(Policies, FewAtomsWithPme,
                         ::testing::Combine(::testing::Values(Precision::Mixed, Precision::Double),
                                            ::testing::Values(Summation::Fast, Summation::Reproducible)),
                         [](const auto& test) {
                             return std::string(std::get<0>(test.param) == Precision::Mixed ? "mixed" : "double") +
                                    (std::get<1>(test.param) == Summation::Fast ? "" : "_reproducible");
                         });

namespace {

class PmeOnGpus : public GpuTest
{
};

} // namespace

// Charges, potentials and half a spectrum, which has two numbers for each that it leaves out; and what transforms work in.
TEST_F(PmeOnGpus, has_its_grids_counted_as_memory)
{
    Refdata data = few_atoms();
    const auto bytes_with = [&](int points) {
        data.parameters.mesh_nx = data.parameters.mesh_ny = data.parameters.mesh_nz = points;
        return static_cast<double>(Simulation(data.system, data.parameters, on(Device::Gpu)).plan().bytes);
    };
    const double more = bytes_with(96) - bytes_with(32), of_grids = 3 * sizeof(float) * (96.0 * 96 * 96 - 32 * 32 * 32);
    EXPECT_GE(more, of_grids);
    EXPECT_LE(more, 3 * of_grids);
}

TEST_F(PmeOnGpus, runs_on_one_of_several_unless_more_are_asked_for)
{
    const Refdata data = few_atoms();
    const Simulation simulation(data.system, data.parameters, on(Device::Gpu));
    EXPECT_EQ(simulation.plan().gpus, 1);
    EXPECT_EQ(simulation.plan().ranks, 1);
    if (gpu_count() > 1) { EXPECT_THAT(simulation.plan().gpus_remark, HasSubstr("PME runs on one")); }

    const auto refusal = [&](const SimulationOptions& options) -> std::string {
        try
        {
            Simulation(data.system, data.parameters, options);
        }
        catch (const InputError& error)
        {
            return error.what();
        }
        return "";
    };
    SimulationOptions two_gpus = on(Device::Gpu), two_ranks = on(Device::Gpu);
    two_gpus.gpus = 2, two_ranks.grid = {1, 2, 1};
    for (const SimulationOptions& options : {two_gpus, two_ranks})
    {
        EXPECT_THAT(refusal(options), HasSubstr("PME on several ranks runs on the CPU"));
    }
}
