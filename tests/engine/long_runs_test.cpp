// SPDX-License-Identifier: Apache-2.0
// Thousands of steps with atoms changing hands every few of them: with sums that do not depend on their order, and a buffer that
// nothing crosses, several ranks have the bits of one at every repartition, warm or hot; so no atom is lost or exchanged for
// another, and the energy drifts as it does on one. 100 steps, or as many as PARHELION_TEST_STEPS says.
#include "run_helpers.hpp"
#include "support/number_in.hpp"

#include <cstring>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// Looks at every atom at every repartition.
struct Census final : Observer
{
    bool checkpoint_due() override { return true; }
    void checkpoint(SavedState&& state) override
    {
        const auto& x = std::get<std::vector<Vec3<std::uint32_t>>>(state.x);
        const auto& v = std::get<std::vector<Vec3<float>>>(state.v);
        sizes.push_back(x.size());
        double farthest = 0;
        std::uint64_t print = 14695981039346656037u; // FNV-1a, 64 bits at a time
        const auto mix = [&](const auto& values) {
            for (int d = 0; d < 3; ++d)
            {
                std::uint32_t bits;
                std::memcpy(&bits, &values[d], sizeof bits);
                print = (print ^ bits) * 1099511628211u;
            }
        };
        for (std::size_t i = 0; i < x.size(); ++i)
        {
            mix(x[i]), mix(v[i]);
            for (int d = 0; d < 3 && i < before.size(); ++d)
            {
                const double moved =
                    static_cast<double>(static_cast<std::int32_t>(x[i][d] - before[i][d])) * 0x1p-32 * state.box.diagonal()[d];
                farthest = std::max(farthest, std::abs(moved));
            }
        }
        before = x;
        prints.push_back(print);
        farthest_moves.push_back(farthest);
    }
    void energies(const OutputDue&, const Observables& o) override { conserved.push_back(o.conserved); }

    std::vector<std::size_t> sizes;
    std::vector<std::uint64_t> prints;  // of all positions and velocities
    std::vector<double> farthest_moves; // since the last repartition, nm
    std::vector<double> conserved;
    std::vector<Vec3<std::uint32_t>> before;
};

struct LongRun
{
    const char* name;
    double temperature;
    int interval;
    std::array<int, 3> grid;
    HaloMethod halo;
};

// A shorter cut-off than the reference data's, for a buffer of 0.5 nm in a box of 3.1 nm.
Refdata water(const LongRun& run)
{
    Refdata data = load_nve("spce");
    RunParameters& p = data.parameters;
    p.coulomb_cutoff = p.lj_cutoff = 0.7;
    p.list_cutoff = 1.2;
    p.buffer_tolerance = -1;
    p.list_interval = run.interval;
    p.energy_calc = 10;
    p.dt = run.temperature > 500 ? 0.001 : 0.002;
    for (Vec3<double>& v : data.system.v) { v *= std::sqrt(run.temperature / 300.0); }
    return data;
}

std::int64_t steps() { return number_in<std::int64_t>("PARHELION_TEST_STEPS", 100); }

RunSummary follow(const Refdata& data, const SimulationOptions& options, Census& census)
{
    Simulation simulation(data.system, data.parameters, options);
    return simulation.run(steps(), census, never);
}

class LongRuns : public ::testing::TestWithParam<LongRun>
{
};

} // namespace

TEST_P(LongRuns, of_several_ranks_have_the_bits_of_one_at_every_repartition)
{
    const Refdata data = water(GetParam());
    SimulationOptions options;
    options.summation = Summation::Reproducible;
    options.threads = 2;
    Census one, several;
    const RunSummary alone = follow(data, options, one);
    options.threads = 1;
    options.grid = GetParam().grid;
    options.halo = GetParam().halo;
    const RunSummary together = follow(data, options, several);
    ASSERT_EQ(several.prints.size(), one.prints.size());
    ASSERT_EQ(one.prints.size(), static_cast<std::size_t>(steps() / GetParam().interval + 1));
    for (std::size_t k = 0; k < one.prints.size(); ++k)
    {
        ASSERT_EQ(several.sizes[k], data.system.x.size()) << "at repartition " << k;
        ASSERT_LT(several.farthest_moves[k], 0.5) << "at repartition " << k;
        ASSERT_EQ(several.prints[k], one.prints[k]) << "at repartition " << k;
    }
    EXPECT_EQ(several.conserved, one.conserved);
    EXPECT_EQ(together.drift, alone.drift);
    RecordProperty("drift", std::to_string(alone.drift));
}

INSTANTIATE_TEST_SUITE_P(Water, LongRuns,
                         ::testing::Values(LongRun{"warm_every_10", 300, 10, {2, 1, 2}, HaloMethod::StagedFused},
                                           LongRun{"warm_every_50", 300, 50, {2, 1, 1}, HaloMethod::StagedHost},
                                           LongRun{"hot_every_10", 1000, 10, {1, 4, 1}, HaloMethod::Direct},
                                           LongRun{"hot_every_30", 1000, 30, {1, 2, 2}, HaloMethod::StagedFused}),
                         [](const auto& i) { return i.param.name; });
