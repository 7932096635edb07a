// SPDX-License-Identifier: Apache-2.0
// Two simulations of one process on GPUs at a time, each in a thread of its own: the bits that each has alone.
#include "coupled_runs.hpp"
#include "support/gpu_test.hpp"
#include "whole_molecules.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class SideBySideOnGpu : public GpuTest
{
};

// A column of ethanol, with lists that serve four steps, and this cut-off.
Refdata column(const std::string& electrostatics, double cutoff)
{
    Refdata data = coupled(coupled_cases[4], "etoh/" + electrostatics);
    keep_column(data.system, 2);
    RunParameters& p = data.parameters;
    p.coulomb_cutoff = p.lj_cutoff = cutoff, p.list_cutoff = cutoff + 0.1;
    return data;
}

// Takes steps in parts. meet() is called before each part.
template <class Meet>
SavedState take_steps(const Refdata& data, int gpu, Meet&& meet)
{
    SimulationOptions options;
    options.device = Device::Gpu;
    options.gpu = gpu;
    options.threads = 1;
    options.summation = Summation::Reproducible;
    meet();
    Simulation simulation(data.system, data.parameters, options);
    EXPECT_TRUE(simulation.plan().on_gpu);
    EXPECT_EQ(simulation.plan().ranks, 1);
    EXPECT_GT(simulation.plan().bytes, 0U);
    Observer nobody;
    for (int part = 0; part < 2; ++part)
    {
        meet();
        simulation.run(4, nobody, never);
    }
    return simulation.saved_state();
}

void expect_same(const SavedState& a, const SavedState& b)
{
    EXPECT_EQ(a.step, b.step);
    EXPECT_TRUE(a.x == b.x);
    EXPECT_TRUE(a.v == b.v);
    EXPECT_TRUE(a.coupling == b.coupling);
}

TEST_F(SideBySideOnGpu, two_simulations_have_the_bits_that_each_has_alone)
{
    const Refdata a = column("pme", 0.5), b = column("rf", 0.45);
    const auto no_one = [] {};
    const SavedState alone_a = take_steps(a, 0, no_one), alone_b = take_steps(b, 0, no_one);
    EXPECT_GT(alone_a.step, 0);
    std::barrier both(2); // what one does between two of these, the other does at the same time
    const auto meet = [&] { both.arrive_and_wait(); };
    SavedState beside_a, beside_b;
    std::jthread first([&] { beside_a = take_steps(a, 0, meet); });
    std::jthread second([&] { beside_b = take_steps(b, 0, meet); });
    first.join();
    second.join();
    expect_same(beside_a, alone_a);
    expect_same(beside_b, alone_b);
}

class TwoGpus : public GpuTest
{
protected:
    void SetUp() override { take_gpus(2); }
};

TEST_F(TwoGpus, a_simulation_runs_on_the_gpu_that_it_is_given)
{
    const Refdata a = column("rf", 0.45);
    std::vector<std::string> remarks;
    for (const int gpu : {0, 1})
    {
        SimulationOptions options;
        options.device = Device::Gpu;
        options.gpu = gpu;
        options.threads = 1;
        Simulation simulation(a.system, a.parameters, options);
        EXPECT_EQ(simulation.plan().gpus, 1);
        remarks.push_back(simulation.plan().gpus_remark);
    }
    EXPECT_EQ(remarks,
              (std::vector<std::string>{"GPU 0 alone, which this run was given", "GPU 1 alone, which this run was given"}));
}

} // namespace
