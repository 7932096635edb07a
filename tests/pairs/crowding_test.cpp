// SPDX-License-Identifier: Apache-2.0
// Densities that atoms see: closed forms for even boxes, slabs, drops and two phases; and the conditions that lists are planned
// for.
#include "pairs/crowding.hpp"

#include "base/units.hpp"
#include "pairs/buffer.hpp"
#include "state/periodic_box.hpp"
#include "support/pair_systems.hpp"
#include "support/refdata.hpp"

#include <functional>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

using Place = std::function<bool(const Vec3<double>&)>; // is an atom there?

// Two types of molecules of one argon-like atom each, at random places.
System gas(const Vec3<double>& box, const std::vector<std::pair<int, Place>>& types, std::uint64_t seed)
{
    System system = random_liquid(box, 0, 1, 1); // for its types of atoms
    const MoleculeType atom = system.topology.molecule_types[1];
    system.topology.molecule_types.assign(types.size(), atom);
    system.topology.blocks.clear(), system.x.clear(), system.v.clear();
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    for (std::size_t t = 0; t < types.size(); ++t)
    {
        system.topology.blocks.push_back({static_cast<std::int32_t>(t), types[t].first, 0});
        for (int i = 0; i < types[t].first;)
        {
            const Vec3<double> x{unit(engine) * box.x, unit(engine) * box.y, unit(engine) * box.z};
            if (types[t].second(x)) { system.x.push_back(x), ++i; }
        }
    }
    system.topology.finish();
    return system;
}

const Place everywhere = [](const Vec3<double>&) { return true; };

std::vector<double> crowding_of(const System& system, double width)
{
    std::vector<Vec3<std::uint32_t>> x;
    for (const Vec3<double>& nm : system.x) { x.push_back(PeriodicBox<Mixed>(system.box).to_fixed(nm)); }
    return measure_crowding(system.topology, system.box, width,
                            system.box.diagonal().x * system.box.diagonal().y * system.box.diagonal().z, x);
}

RunParameters constant_energy(double cutoff = 0.9)
{
    RunParameters run = reaction_field(cutoff);
    run.dt = 0.002;
    return run;
}

// Velocities of a temperature, for the atoms from `first` on.
void heat(System& system, std::size_t first, double kelvin)
{
    std::mt19937_64 engine(7);
    system.v.resize(system.x.size());
    for (std::size_t a = first; a < system.x.size(); ++a)
    {
        std::normal_distribution<double> v(
            0, std::sqrt(units::boltzmann * kelvin / system.topology.atom(static_cast<std::int64_t>(a)).mass));
        system.v[a] = {v(engine), v(engine), v(engine)};
    }
}

} // namespace

// Pairs of independent atoms are counted without bias: of P of them, P / cells share a cell, give or take the root. The larger of
// two grids is up to some of these roots above.
TEST(Crowding, of_an_even_gas_is_one_however_thin_it_is)
{
    for (const int atoms : {500, 5000, 50000})
    {
        const double pairs_in_cells = 0.5 * atoms * atoms / 1000, error = 1 / std::sqrt(pairs_in_cells);
        const std::vector<double> f = crowding_of(gas({10, 10, 10}, {{atoms, everywhere}}, 3), 1);
        ASSERT_EQ(f.size(), 1u);
        EXPECT_GT(f[0], 1 - 3 * error) << atoms;
        EXPECT_LT(f[0], 1 + 4 * error) << atoms;
    }
}

TEST(Crowding, of_a_slab_is_the_box_over_the_slab)
{
    const System slab = gas({4, 4, 40}, {{20000, [](const Vec3<double>& x) { return x.z >= 7 && x.z < 12; }}}, 5);
    EXPECT_NEAR(crowding_of(slab, 1)[0], 8, 0.1); // cells end where the slab does
}

// Atoms that share a cell of width h are 0.6617 h apart on average, and a sphere overlaps with itself by 1 - 3/4 s/R, moved by s.
// The larger of two grids may be above that mean over all places of the grid.
TEST(Crowding, of_a_drop_is_what_its_atoms_see)
{
    for (const double edge : {20.0, 200.0, 5000.0}) // in the last box there are more cells than could be counted one by one
    {
        const Vec3<double> middle{0.3 * edge, 0.01, 0.7 * edge}; // across a border
        const double radius = 3, volume = 4.0 / 3 * units::pi * radius * radius * radius;
        System drop = gas({8, 8, 8}, {{10000, [](const Vec3<double>& x) { return norm(x - Vec3<double>{4, 4, 4}) < 3; }}}, 9);
        drop.box = {edge, edge, edge};
        for (Vec3<double>& x : drop.x) { x += middle - Vec3<double>{4, 4, 4}; }
        const double expected = (1 - 0.75 * 0.6617 / radius) * edge * edge * edge / volume;
        EXPECT_NEAR(crowding_of(drop, 1)[0] / expected, 1, 0.05) << edge;
    }
}

TEST(Crowding, tells_phases_apart)
{
    const auto lower = [](const Vec3<double>& x) { return x.z < 4; };
    const auto upper = [](const Vec3<double>& x) { return x.z >= 4; };
    const std::vector<double> f = crowding_of(gas({6, 6, 16}, {{9000, lower}, {27000, upper}}, 2), 1);
    EXPECT_NEAR(f[0], 4, 0.1);
    EXPECT_NEAR(f[3], 4.0 / 3, 0.05);
    EXPECT_LT(f[1], 0.4) << "they meet in the cells of one grid that the border cuts";
    EXPECT_EQ(f[1], f[2]);
}

TEST(Crowding, does_not_count_pairs_that_exclude_each_other)
{
    const System few = random_liquid({10, 10, 10}, 20, 0, 1); // molecules of three atoms that exclude each other
    EXPECT_LT(crowding_of(few, 1)[0], 4) << "counted, two partners of each atom in 1 nm^3 would be 33 times the 0.06 of the box";
}

TEST(ListConditions, of_even_liquids_leave_the_plan_as_it_is)
{
    for (const std::string name : {"spce", "etoh"})
    {
        const Refdata data = load_refdata(name);
        const ListConditions conditions = start_conditions(data.system, data.parameters);
        EXPECT_EQ(most_crowded(conditions), 1) << name;
    }
}

TEST(ListConditions, expect_free_atoms_to_become_as_warm_as_a_liquid)
{
    System system = gas({4, 4, 4}, {{2000, everywhere}}, 1);
    RunParameters run = constant_energy();
    heat(system, 0, 2);
    EXPECT_EQ(start_conditions(system, run).temperature, 300) << "a cold start at constant energy";
    heat(system, 0, 700);
    EXPECT_NEAR(start_conditions(system, run).temperature, 700, 30);
    run.thermostat = Thermostat::VRescale;
    run.temperature_groups = {{"System", 1.0, 80.0}};
    heat(system, 0, 2);
    EXPECT_EQ(start_conditions(system, run).temperature, 80) << "a thermostat holds them";
    run.temperature_groups = {{"A", 1.0, 80.0}, {"B", -1, 0}};
    EXPECT_EQ(start_conditions(system, run).temperature, 300) << "of some of them";
}

TEST(ListConditions, are_those_of_the_hottest_molecules)
{
    System system = gas({5, 5, 5}, {{5000, everywhere}, {100, everywhere}}, 1);
    heat(system, 0, 300);
    const double even = start_conditions(system, constant_energy()).temperature;
    EXPECT_NEAR(even, 300, 15) << "chance does not count as heat";
    heat(system, 5000, 2000);
    EXPECT_GT(start_conditions(system, constant_energy()).temperature, 1000) << "100 atoms of 2000 K";
}

TEST(ListConditions, are_those_of_a_hot_spot)
{
    System system = gas({5, 5, 5}, {{5000, everywhere}}, 1);
    heat(system, 4500, 2000); // 200 K on average
    EXPECT_GT(start_conditions(system, constant_energy()).temperature, 1500);
}

TEST(ListConditions, expect_a_gas_to_condense)
{
    const System thin = gas({20, 20, 20}, {{800, everywhere}}, 1); // 0.1 nm^-3
    EXPECT_NEAR(most_crowded(start_conditions(thin, constant_energy())), 100, 1e-9);
}

TEST(ListConditions, rise_in_steps_and_not_by_chance)
{
    EXPECT_EQ(risen_temperature(300, sure_temperature(380, 600)), 300) << "5.8 % of standard deviation, 10 % that a plan bears";
    const double risen = risen_temperature(300, sure_temperature(390, 1e9));
    EXPECT_GE(risen, 390);
    EXPECT_LE(risen, 1.1 * 390 + 1e-9);
    EXPECT_EQ(risen_temperature(risen, sure_temperature(390, 1e9)), risen) << "planned for";
    EXPECT_EQ(risen_crowding({1, 2}, {1.2, 2.4}), (std::vector<double>{1, 2}));
    EXPECT_GE(risen_crowding({1, 2}, {1.2, 5})[1], 5);
}

TEST(PlanPairList, of_a_drop_is_that_of_its_liquid)
{
    const RunParameters run = constant_energy();
    const auto drop = [&](double edge) {
        System system = gas({8, 8, 8}, {{12000, [](const Vec3<double>& x) { return norm(x - Vec3<double>{4, 4, 4}) < 3; }}}, 9);
        system.box = {edge, edge, edge};
        return plan_pair_list(system, run);
    };
    const System liquid = gas({5, 5, 5}, {{static_cast<int>(12000 * 125 / (4.0 / 3 * units::pi * 27)), everywhere}}, 1);
    const ListPlan even = plan_pair_list(liquid, run);
    for (const double edge : {15.0, 40.0, 300.0})
    {
        const ListPlan plan = drop(edge);
        EXPECT_EQ(plan.interval, even.interval) << edge;
        EXPECT_NEAR(plan.cutoff, even.cutoff, 0.03 * (even.cutoff - 0.9)) << edge;
    }
}

TEST(ShortenedList, keeps_its_cutoff_and_the_tolerance)
{
    const System system = random_liquid({5, 5, 5}, 2000, 10, 1);
    RunParameters run = constant_energy();
    const ListConditions start = start_conditions(system, run);
    const ListPlan plan = plan_pair_list(system, run, start);
    ListConditions hot = start;
    int last = plan.interval;
    for (const double kelvin : {450.0, 900.0, 5000.0, 1e9})
    {
        hot.temperature = kelvin;
        EXPECT_GT(missing_pair_error(system, run, hot, plan), largest_buffer_tolerance) << "the plan as it was";
        const ListPlan shorter = shorten_pair_list(system, run, hot, plan, cpu_list_costs);
        EXPECT_EQ(shorter.cutoff, plan.cutoff);
        EXPECT_LT(shorter.interval, last);
        EXPECT_LE(missing_pair_error(system, run, hot, shorter), largest_buffer_tolerance);
        if (shorter.prune_interval > 0)
        {
            EXPECT_LE(missing_pair_error(system, run, hot, {shorter.prune_interval, shorter.pruned_cutoff, 0, 0}),
                      largest_buffer_tolerance);
        }
        last = shorter.interval;
    }
    EXPECT_EQ(last, 1);
    ListConditions crowded = start;
    for (double& f : crowded.crowding) { f = 1000; }
    EXPECT_LE(missing_pair_error(system, run, crowded, shorten_pair_list(system, run, crowded, plan, cpu_list_costs)),
              largest_buffer_tolerance);
    run.buffer_tolerance = -1;
    EXPECT_EQ(shorten_pair_list(system, run, hot, plan, cpu_list_costs).interval, plan.interval) << "as given";
}

TEST(ShortenedList, that_misses_nothing_is_outrun_by_few)
{
    const System system = random_liquid({6, 6, 6}, 1000, 10, 1);
    const RunParameters run = constant_energy();
    ListConditions conditions = start_conditions(system, run);
    const ListPlan plan = plan_complete_list(system, run, conditions);
    conditions.temperature *= 4;
    const ListPlan shorter = shorten_complete_list(system, run, conditions, plan);
    EXPECT_EQ(shorter.cutoff, plan.cutoff);
    EXPECT_EQ(shorter.interval, 1 + (plan.interval - 1) / 2) << "atoms twice as fast";
}
