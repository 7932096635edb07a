// SPDX-License-Identifier: Apache-2.0
// Frozen atoms, simulated annealing, fields, accelerations and removed rotation on GPUs: as on the CPU, with the same bits on
// several.
#include "group_runs.hpp"
#include "support/gpu_test.hpp"

using namespace parhelion;
using namespace parhelion::test;

namespace {

class GroupsOnGpu : public GpuTest
{
};

Frame end_of(const Refdata& data, Device device, int steps, Summation summation = Summation::Fast, int ranks = 1,
             Precision precision = Precision::Double)
{
    SimulationOptions options;
    options.device = device;
    options.precision = precision;
    options.summation = summation;
    options.threads = 2;
    options.ranks = ranks;
    Simulation simulation(data.system, data.parameters, options);
    Observer nobody;
    simulation.run(steps, nobody, never);
    return simulation.frame();
}

// tolerance: nm, after some steps; forces differ by rounding alone.
void expect_as_on_cpu(const Refdata& data, double tolerance = 1e-11)
{
    constexpr int steps = 6;
    const Frame gpu = end_of(data, Device::Gpu, steps), cpu = end_of(data, Device::Cpu, steps);
    EXPECT_LT(largest_distance(gpu.x, cpu.x, cpu.box), tolerance);
    EXPECT_LE(rms_relative(gpu.v, cpu.v), 1e3 * tolerance);
}

Refdata plane(Integrator integrator)
{
    Refdata data = with_frozen(of_ethanol, along_x_and_z, ConstraintMode::None);
    data.parameters.integrator = integrator;
    data.parameters.dt = 0.0005;
    data.parameters.random_seed = 5;
    data.parameters.com_mode = ComMode::Linear;
    data.parameters.com_interval = 2;
    data.parameters.temperature_groups = {{"ETH", 0.5, 300}, {"SOL", 0.5, 300}};
    return data;
}

} // namespace

TEST_F(GroupsOnGpu, frozen_atoms_move_as_on_the_cpu)
{
    {
        SCOPED_TRACE("some of constraints");
        expect_as_on_cpu(with_frozen(is_carbon, along_all));
    }
    for (const Integrator integrator : {Integrator::LeapFrog, Integrator::StochasticDynamics})
    {
        SCOPED_TRACE("along axes");
        expect_as_on_cpu(plane(integrator));
    }
}

TEST_F(GroupsOnGpu, frozen_atoms_stay_in_a_changing_box_as_on_the_cpu)
{
    expect_as_on_cpu(in_a_changing_box(Thermostat::Berendsen, Barostat::Berendsen, of_ethanol));
    // Waters are mended here after each change of the box, and there in the next step.
    expect_as_on_cpu(in_a_changing_box(Thermostat::NoseHoover, Barostat::ParrinelloRahman, of_ethanol), 1e-7);
}

TEST_F(GroupsOnGpu, temperatures_are_annealed_as_on_the_cpu)
{
    expect_as_on_cpu(annealed(Thermostat::NoseHoover));
    expect_as_on_cpu(annealed(Thermostat::VRescale));
    expect_as_on_cpu(annealed(Thermostat::None, Integrator::StochasticDynamics));
}

TEST_F(GroupsOnGpu, a_field_acts_as_on_the_cpu) { expect_as_on_cpu(in_a_field()); }

TEST_F(GroupsOnGpu, accelerations_act_as_on_the_cpu) { expect_as_on_cpu(accelerated(ComMode::Linear)); }

TEST_F(GroupsOnGpu, rotation_is_removed_as_on_the_cpu) { expect_as_on_cpu(without_rotation()); }

class GroupsOnGpus : public GpuTest
{
protected:
    void SetUp() override { take_gpus(2); }
};

TEST_F(GroupsOnGpus, have_the_same_bits_as_on_one)
{
    Refdata box = in_a_changing_box(Thermostat::VRescale, Barostat::Berendsen, of_ethanol);
    box.parameters.random_seed = 5;
    for (Refdata data : {plane(Integrator::StochasticDynamics), box, annealed(Thermostat::VRescale), in_a_field(),
                         accelerated(ComMode::Linear), without_rotation()})
    {
        constexpr int steps = 6;
        data.parameters.lj_cutoff = data.parameters.coulomb_cutoff = 0.6; // or the box is too small for two cells
        data.parameters.list_cutoff = 0.65;
        const Frame one = end_of(data, Device::Gpu, steps, Summation::Reproducible, 1, Precision::Mixed),
                    two = end_of(data, Device::Gpu, steps, Summation::Reproducible, 2, Precision::Mixed);
        EXPECT_EQ(one.x, two.x);
        EXPECT_EQ(one.v, two.v);
    }
}
