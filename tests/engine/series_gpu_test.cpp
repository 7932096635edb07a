// SPDX-License-Identifier: Apache-2.0
// Boxes of the water/ethanol series on a GPU at the coordinates of the CPU in double: the whole engine's forces and energies. The
// long tier (PARHELION_TEST_LARGE) goes up to 11.5 million atoms, for which the CPU needs some 30 GB.
#include "engine/simulation.hpp"
#include "series.hpp"
#include "support/compare.hpp"
#include "support/gpu_test.hpp"
#include "support/pair_systems.hpp"

#include <cstdlib>
#include <iostream>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class SeriesOnGpu : public GpuTest
{
};

SinglePoint evaluate(const LoadedInput& input, Device device, Precision precision)
{
    SimulationOptions options;
    options.device = device;
    options.precision = precision;
    options.threads = 0;
    return Simulation(input.system, input.parameters, options).evaluate();
}

std::vector<std::int64_t> sizes()
{
    if (std::getenv("PARHELION_TEST_LARGE") == nullptr) { return {45'000}; }
    return {45'000, 180'000, 2'880'000, 11'520'000};
}

} // namespace

TEST_F(SeriesOnGpu, has_the_forces_of_the_cpu_within_a_millionth)
{
    for (const std::int64_t atoms : sizes())
    {
        SCOPED_TRACE(atoms);
        LoadedInput input = load_series(atoms);
        input.parameters.continuation = true; // positions as they are
        input.system.x = stored_positions<Mixed>(input.system);
        const SinglePoint expected = evaluate(input, Device::Cpu, Precision::Double);
        const SinglePoint point = evaluate(input, Device::Gpu, Precision::Mixed);
        const Observables &a = point.observables, &b = expected.observables;
        const double rms = rms_relative(point.forces, expected.forces);
        EXPECT_LE(rms, 1e-6);
        EXPECT_NEAR(a.potential, b.potential, 1e-6 * std::abs(b.potential));
        EXPECT_LE(max_relative(a.virial, b.virial), 1e-5);
        EXPECT_NEAR(a.pressure, b.pressure, 0.05);
        std::cout << atoms << " atoms: forces " << rms << " rms, potential " << a.potential / b.potential - 1 << ", virial "
                  << max_relative(a.virial, b.virial) << " of the largest element, pressure " << a.pressure - b.pressure
                  << " bar\n";
    }
}
