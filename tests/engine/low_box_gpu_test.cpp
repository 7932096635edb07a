// SPDX-License-Identifier: Apache-2.0
// Boxes lower than twice the cut-off on a GPU, against the CPU (low_box_test.cpp).
#include "coupled_runs.hpp"
#include "support/compare.hpp"
#include "support/gpu_test.hpp"
#include "support/one_in.hpp"
#include "tilted_boxes.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class LowBoxesOnGpu : public GpuTest
{
};

SimulationOptions on(Device device, Precision precision, Summation summation)
{
    SimulationOptions options;
    options.device = device, options.precision = precision, options.summation = summation;
    options.threads = 2;
    return options;
}

// With a cut-off just beyond half the least height: on the stand-in pairs take long.
Refdata in_low_box(Refdata data)
{
    data.parameters.dispersion_correction = DispersionCorrection::None;
    Refdata low = in_dodecahedron(std::move(data));
    RunParameters& p = low.parameters;
    p.coulomb_cutoff = p.lj_cutoff = 0.52 * low.system.box.least_height();
    p.list_cutoff = p.lj_cutoff + 0.05;
    EXPECT_TRUE(low.system.box.is_low(p.lj_cutoff));
    return low;
}

} // namespace

TEST_F(LowBoxesOnGpu, have_the_energies_and_forces_of_the_cpu)
{
    OneIn combinations; // with the mesh first
    for (const std::string name : {"etoh/pme", "etoh"})
    {
        const Refdata low = in_low_box(load_nve(name));
        const SinglePoint exact =
            Simulation(low.system, low.parameters, on(Device::Cpu, Precision::Double, Summation::Fast)).evaluate();
        for (const Precision precision : {Precision::Mixed, Precision::Double})
        {
            for (const Summation summation : {Summation::Fast, Summation::Reproducible})
            {
                if (!combinations.takes_next()) { continue; }
                SCOPED_TRACE(testing::Message() << name << static_cast<int>(precision) << static_cast<int>(summation));
                const SinglePoint point =
                    Simulation(low.system, low.parameters, on(Device::Gpu, precision, summation)).evaluate();
                // As in tilted_box_gpu_test.cpp.
                const bool is_double = precision == Precision::Double, is_exact = is_double && summation == Summation::Fast;
                const double tolerance = is_exact ? 1e-12 : is_double ? 1e-11 : 1.5e-6;
                EXPECT_LE(rms_relative(point.forces, exact.forces), tolerance);
                const double scale = std::abs(trace(exact.observables.forces.virial)) + std::abs(exact.observables.potential);
                EXPECT_NEAR(point.observables.potential, exact.observables.potential, tolerance * scale);
                EXPECT_LE(max_relative(point.observables.virial, exact.observables.virial), 100 * tolerance);
            }
        }
    }
}

TEST_F(LowBoxesOnGpu, take_the_steps_of_the_cpu_under_pressure)
{
    constexpr std::size_t c_rescale = 4;
    const Refdata low = in_low_box(coupled(coupled_cases[c_rescale], "etoh"));
    Recorder cpu, gpu;
    Simulation on_cpu(low.system, low.parameters, on(Device::Cpu, Precision::Double, Summation::Fast)),
        on_gpu(low.system, low.parameters, on(Device::Gpu, Precision::Double, Summation::Fast));
    on_cpu.run(5, cpu, never), on_gpu.run(5, gpu, never);
    constexpr double bound = 1e-10; // rounding, and the order of sums
    expect_near({on_gpu.frame()}, {on_cpu.frame()}, {bound, bound, bound});
    ASSERT_FALSE(cpu.observables.empty());
    ASSERT_EQ(gpu.observables.size(), cpu.observables.size());
    const Observables &a = gpu.observables.back(), &b = cpu.observables.back();
    EXPECT_NEAR(a.conserved, b.conserved, bound * std::abs(b.potential));
    EXPECT_LE(norm(a.box.diagonal() - b.box.diagonal()), bound);
    EXPECT_NE(b.box, low.system.box) << "no barostat acted";
}
