// SPDX-License-Identifier: Apache-2.0
// Forces from outside on a GPU: refused by name, and the simulation goes on without.
#include "base/error.hpp"
#include "run_helpers.hpp"
#include "support/gpu_test.hpp"

#include <memory>
#include <optional>
#include <vector>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class ExternalForceOnGpu : public GpuTest
{
};

class Nothing final : public ExternalForce
{
public:
    const std::vector<std::int64_t>& atoms() const override { return atoms_; }
    std::optional<Answer> at(Configuration&&) override { return Answer{0, {{}}, {}}; }

private:
    const std::vector<std::int64_t> atoms_{0};
};

TEST_F(ExternalForceOnGpu, is_refused_by_name_and_harms_nothing)
{
    const Refdata data = load_refdata("etoh");
    SimulationOptions options;
    options.device = Device::Gpu;
    Simulation simulation(data.system, data.parameters, options);
    try
    {
        simulation.add_force(std::make_shared<Nothing>());
        ADD_FAILURE() << "it was taken";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E636");
    }
    Observer silent;
    EXPECT_EQ(simulation.run(2, silent, never).steps, 2);
}

} // namespace
