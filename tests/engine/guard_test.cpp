// SPDX-License-Identifier: Apache-2.0
// The watch over a rank's atoms: its own, wherever they are stored, and nobody else's.
#include "engine/guard.hpp"

#include "base/error.hpp"
#include "run_helpers.hpp"
#include "support/pair_systems.hpp"
#include "support/particles.hpp"
#include "support/ranks.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

// 3000 atoms of 1e6 u that move along x alike, at 1 nm/ps: 3e9 u, and 1.5e9 kJ/mol of kinetic energy.
Refdata heavy_water()
{
    Refdata data = load_nve("spce");
    for (MoleculeType& type : data.system.topology.molecule_types)
    {
        for (Atom& atom : type.atoms) { atom.mass = 1e6; }
    }
    data.system.v.assign(data.system.x.size(), {1, 0, 0});
    return data;
}

// So many copies of a molecule, and as many of another.
Topology many(std::int64_t copies, const std::vector<MoleculeType>& types)
{
    Topology topology;
    topology.molecule_types = types;
    for (std::size_t t = 0; t < types.size(); ++t) { topology.blocks.push_back({static_cast<std::int32_t>(t), copies, 0}); }
    topology.finish();
    return topology;
}

MoleculeType ion(double charge)
{
    MoleculeType type;
    type.atoms = {{"ION", 0, 0, 30, charge}};
    type.exclusion_start = {0, 0};
    return type;
}

// How a few steps end: with this error, or none.
std::string error_of(const Refdata& data, Summation summation, const Grid& grid = {1, 1, 1})
{
    try
    {
        SimulationOptions options;
        options.summation = summation;
        options.threads = 1;
        options.grid = grid;
        Simulation simulation(data.system, data.parameters, options);
        EXPECT_EQ(simulation.evaluate().trouble, ""); // never throws
        Observer nobody;
        simulation.run(3, nobody, never);
    }
    catch (const std::runtime_error& error)
    {
        return error.what();
    }
    return "";
}

} // namespace

TEST(Guard, finds_the_unstable_atom_on_the_rank_that_owns_it_and_on_no_other)
{
    const System system = random_liquid({2, 3, 4}, 40, 5, 3);
    const std::vector<int> owner = random_owners(system.topology.atom_count(), 3, 1);
    CpuQueue queue(2);
    auto whole = particles_in_input_order<Mixed>(system);
    const std::size_t victim = 77;
    whole.v.set(victim, {0, 5e4f, 0}); // 50 nm in 1 fs
    for (int rank = 0; rank < 3; ++rank)
    {
        const auto state = state_of_rank(whole, owner, rank);
        const auto found = find_unstable_atom(queue, state, 0.001);
        ASSERT_EQ(found.has_value(), rank == owner[victim]);
        if (found) { EXPECT_EQ(state.global_of_slot[static_cast<std::size_t>(found->slot)], static_cast<std::int32_t>(victim)); }
    }
}

TEST(Guard, refuses_masses_that_reproducible_sums_do_not_hold)
{
    Refdata data = heavy_water();
    ASSERT_GT(data.system.topology.total_mass(), 2.2e9);
    data.parameters.com_mode = ComMode::Linear;
    for (const Grid& grid : {Grid{1, 1, 1}, Grid{2, 1, 1}})
    {
        EXPECT_THAT(error_of(data, Summation::Reproducible, grid), AllOf(HasSubstr("E614"), HasSubstr("comm-grps")));
    }
    EXPECT_EQ(error_of(data, Summation::Fast), "");
}

TEST(Guard, ends_a_run_whose_reproducible_sums_come_near_their_range)
{
    Refdata data = heavy_water();
    data.parameters.com_mode = ComMode::None;
    for (const Grid& grid : {Grid{1, 1, 1}, Grid{2, 1, 1}})
    {
        EXPECT_THAT(error_of(data, Summation::Reproducible, grid), AllOf(HasSubstr("E510"), HasSubstr("kinetic energy")));
    }
    EXPECT_EQ(error_of(data, Summation::Fast), "");
    for (Vec3<double>& v : data.system.v) { v.x = 0.5; } // a quarter
    EXPECT_EQ(error_of(data, Summation::Reproducible), "");
}

TEST(Guard, refuses_boxes_in_which_mixed_precision_would_round_positions_too_much)
{
    const Box<double> long_box(Vec3<double>{3, 3, 1e5});
    EXPECT_THROW(check_resolution<Mixed>(long_box), InputError);
    EXPECT_THROW(check_resolution<MixedReproducible>(long_box), InputError);
    EXPECT_NO_THROW(check_resolution<Double>(long_box));
    EXPECT_NO_THROW(check_resolution<Mixed>(Box<double>(Vec3<double>{3, 3, 1e4})));
}

TEST(Guard, refuses_more_charges_than_reproducible_sums_have_a_range_for)
{
    const Refdata water = load_nve("spce");
    const std::vector<MoleculeType> waters = {water.system.topology.molecule_types.at(0)};
    ASSERT_EQ(waters[0].atoms.size(), 3u);
    // Limits of energies that were computed: SPC/E water has -55.3 kJ/mol a molecule, rock salt -430 an ion.
    constexpr double range = 2147483648.0;
    const auto at = [](double energy, double of_a_copy) { return static_cast<std::int64_t>(energy / of_a_copy); };
    for (const auto& [types, energy] : {std::pair{waters, 55.3}, std::pair{std::vector{ion(1), ion(-1)}, 860.0},
                                        std::pair{std::vector{ion(2), ion(-2)}, 3440.0}})
    {
        // Below half the range a run is allowed; what wraps to less, from one and a half times the range on, must be refused.
        EXPECT_NO_THROW(
            check_range<MixedReproducible>(many(at(0.5 * range, energy), types), water.parameters, water.system.box, {}));
        EXPECT_THROW(check_range<MixedReproducible>(many(at(1.5 * range, energy), types), water.parameters, water.system.box, {}),
                     InputError);
        EXPECT_NO_THROW(check_range<Mixed>(many(at(1.5 * range, energy), types), water.parameters, water.system.box, {}));
    }
}
