// SPDX-License-Identifier: Apache-2.0
// The plan of the pair list: its estimate against atoms that fly, its choices, and a real trajectory.
#include "pairs/buffer.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "support/pair_systems.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>
#include <limits>

using namespace parhelion;
using namespace parhelion::test;

namespace {

RunParameters warm(double cutoff, double dt = 0.002)
{
    RunParameters run = reaction_field(cutoff);
    run.dt = dt;
    run.thermostat = Thermostat::VRescale;
    run.temperature_groups = {{"System", 1.0, 300.0}};
    return run;
}

double distance(const Box<double>& box, const Vec3<double>& d) { return norm(box.image(d)); }

} // namespace

TEST(MissingPairs, cost_what_atoms_in_free_flight_cost)
{
    // An ideal gas with charges of one sign under a plain cut-off: every unlisted pair that comes into range costs f q^2 / r.
    System system = random_liquid({4, 4, 4}, 0, 1, 1);
    constexpr int atoms = 3000;
    system.topology.blocks = {{1, atoms, 0}};
    system.topology.finish();
    system.topology.c6.assign(9, 0), system.topology.c12.assign(9, 0);
    RunParameters run = warm(0.9);
    run.coulomb = CoulombKind::CutOff;
    run.coulomb_potential_shift = false;
    const ListPlan plan{20, 0.92, 0, 0};
    const double age = (plan.interval - 1) * run.dt;

    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> place(0, 4);
    const Atom& atom = system.topology.atom(0);
    std::normal_distribution<double> velocity(0, std::sqrt(units::boltzmann * 300 / atom.mass));
    double missing = 0;
    constexpr int samples = 4;
    for (int sample = 0; sample < samples; ++sample)
    {
        std::vector<Vec3<double>> x, flown;
        for (int i = 0; i < atoms; ++i)
        {
            x.push_back({place(engine), place(engine), place(engine)});
            flown.push_back(x.back() + age * Vec3<double>{velocity(engine), velocity(engine), velocity(engine)});
        }
        for (int i = 0; i < atoms; ++i)
        {
            for (int j = i + 1; j < atoms; ++j)
            {
                const double r = distance(system.box, flown[static_cast<std::size_t>(i)] - flown[static_cast<std::size_t>(j)]);
                if (r < 0.9 &&
                    distance(system.box, x[static_cast<std::size_t>(i)] - x[static_cast<std::size_t>(j)]) >= plan.cutoff)
                {
                    missing += units::coulomb * atom.charge * atom.charge / r;
                }
            }
        }
    }
    const double measured = missing / (samples * atoms * plan.interval * run.dt);
    const ListConditions even{300, {1, 1, 1, 1}};
    EXPECT_NEAR(missing_pair_error(system, run, even, plan), measured, 0.1 * measured);
}

TEST(MissingPairs, cost_less_with_a_longer_cutoff_and_more_with_a_longer_interval)
{
    const System system = random_liquid({4, 4, 4}, 1000, 10, 1);
    const RunParameters run = warm(0.9);
    double last = 1e300;
    for (double cutoff = 0.9; cutoff < 1.3; cutoff += 0.02)
    {
        const double error = missing_pair_error(system, run, {10, cutoff, 0, 0});
        EXPECT_LT(error, last);
        EXPECT_LT(error, missing_pair_error(system, run, {11, cutoff, 0, 0}));
        last = error;
    }
    EXPECT_EQ(missing_pair_error(system, run, {1, 0.9, 0, 0}), 0) << "a list that is made in every step needs no buffer";
}

TEST(PlanPairList, keeps_both_lists_below_the_tolerance)
{
    const System system = random_liquid({5, 5, 5}, 2000, 10, 1);
    RunParameters run = warm(0.9);
    double last = 0;
    for (const double tolerance : {0.005, 1e-5, 1e-7})
    {
        run.buffer_tolerance = tolerance;
        const ListPlan plan = plan_pair_list(system, run);
        EXPECT_GE(plan.interval, run.list_interval);
        EXPECT_LE(missing_pair_error(system, run, plan), std::min(tolerance, largest_buffer_tolerance));
        EXPECT_LE(missing_pair_error(system, run, {plan.prune_interval, plan.pruned_cutoff, 0, 0}),
                  std::min(tolerance, largest_buffer_tolerance));
        EXPECT_LT(plan.prune_interval, plan.interval);
        EXPECT_GE(plan.cutoff, last);
        last = plan.cutoff;
    }
}

TEST(PlanPairList, builds_lists_less_often_the_more_that_costs_and_more_often_the_faster_they_age)
{
    const System system = random_liquid({4, 4, 4}, 1900, 80, 3);
    const RunParameters run = warm(0.9);
    const auto interval = [&](double build, double aging) {
        return plan_pair_list(system, run, {0.25, build, 0.3, 0.4, true, aging}).interval;
    };
    EXPECT_LT(interval(0.5, 0), interval(20, 0));
    EXPECT_LT(interval(5, 0.01), interval(5, 0));
}

TEST(PlanPairList, takes_interval_and_cutoff_as_given_without_a_tolerance)
{
    const System system = random_liquid({3, 3, 3}, 300, 10, 1);
    RunParameters run = warm(0.9);
    run.buffer_tolerance = -1;
    run.list_interval = 7;
    run.list_cutoff = 1.03;
    const ListPlan plan = plan_pair_list(system, run);
    EXPECT_EQ(plan.interval, 7);
    EXPECT_EQ(plan.cutoff, 1.03);
    EXPECT_EQ(plan.prune_interval, 0) << "not pruned";
}

TEST(PlanPairList, rebuilds_more_often_where_the_box_leaves_little_room_for_a_buffer)
{
    RunParameters run = warm(0.9);
    for (const double edge : {1.8, 1.85, 2.0, 2.1})
    {
        const System system = random_liquid({edge, 3, 3}, 200, 10, 1);
        const ListPlan plan = plan_pair_list(system, run);
        EXPECT_LE(plan.cutoff, 0.5 * edge);
        EXPECT_GE(plan.cutoff, 0.9);
        EXPECT_LE(missing_pair_error(system, run, plan), largest_buffer_tolerance) << edge;
    }
    EXPECT_THROW(plan_pair_list(random_liquid({1.79, 3, 3}, 200, 10, 1), run), InputError);
}

TEST(PlanPairList, has_the_buffer_of_a_minimisation)
{
    RunParameters run = warm(0.9);
    run.integrator = Integrator::SteepestDescent;
    const ListPlan plan = plan_pair_list(random_liquid({3, 3, 3}, 200, 10, 1), run);
    EXPECT_EQ(plan.interval, 1);
    EXPECT_NEAR(plan.cutoff, 0.9 + minimisation_buffer, 1e-12);
    EXPECT_EQ(plan_pair_list(random_liquid({1.84, 3, 3}, 200, 10, 1), run).cutoff, 0.92) << "no more than half of the box";
}

// A list made at step 0 of the reference trajectories must hold at their step 10 (villin: 20).
TEST(PlanPairList, covers_the_pairs_of_a_real_trajectory)
{
    for (const std::string& name : refdata_systems)
    {
        const Refdata data = load_refdata(name);
        const RunParameters& run = data.parameters;
        const std::vector<Vec3<double>>& first = data.system.x;
        const std::vector<ReferenceState> states = refdata_states(name, "nve");
        const ReferenceState& last = name == "villin" ? states[0] : states[1];
        const auto interval = static_cast<int>(last.step) + 1; // the last step that a list of this interval serves
        ASSERT_GE(interval, 11);
        double cutoff = run.lj_cutoff;
        while (missing_pair_error(data.system, run, {interval, cutoff, 0, 0}) > largest_buffer_tolerance) { cutoff += 1e-3; }
        int missing = 0, in_range = 0;
        for (std::size_t i = 0; i < first.size(); ++i)
        {
            for (std::size_t j = i + 1; j < first.size(); ++j)
            {
                if (distance(last.box, last.x[i] - last.x[j]) >= run.lj_cutoff) { continue; }
                ++in_range;
                missing += distance(data.system.box, first[i] - first[j]) >= cutoff;
            }
        }
        EXPECT_GT(in_range, 100000);
        EXPECT_EQ(missing, 0) << name;
    }
}

TEST(PairListPlan, of_lists_that_miss_nothing_reaches_what_one_atom_in_a_million_moves)
{
    System system = random_liquid({6, 6, 6}, 1000, 10, 1);
    RunParameters run;
    run.lj_cutoff = run.coulomb_cutoff = 1;
    run.generate_velocities = true;
    run.generation_temperature = 300;
    const ListPlan plan = plan_complete_list(system, run);
    EXPECT_GT(plan.interval, 1);
    EXPECT_EQ(plan.prune_interval, 0);
    // Free flight of the lightest atom is the farthest an unconstrained one gets.
    double lightest = 1e9;
    for (std::int64_t a = 0; a < system.topology.atom_count(); ++a)
    {
        lightest = std::min(lightest, system.topology.atom(a).mass);
    }
    const double speed = std::sqrt(units::boltzmann * 300 / lightest); // one component, nm/ps
    EXPECT_LE(plan.cutoff - 1, 2 * 5.5 * speed * (plan.interval - 1) * run.dt + 1e-9);
    EXPECT_GE(plan.cutoff - 1, 2 * 3 * speed * (plan.interval - 1) * run.dt);
    system.box = {2.02, 6, 6}; // no room for a buffer
    EXPECT_LE(plan_complete_list(system, run).cutoff, 1.01);
}

TEST(ListPlan, is_made_at_once_for_an_interval_of_any_length)
{
    const System system = random_liquid({4, 4, 4}, 100, 300, 1);
    RunParameters run = warm(0.9);
    run.list_interval = 10'000;
    const ListPlan long_interval = plan_pair_list(system, run);
    run.list_interval = std::numeric_limits<int>::max(); // a plan for each number below it would take hours
    const ListPlan longest = plan_pair_list(system, run);
    EXPECT_EQ(longest.interval, long_interval.interval);
    EXPECT_EQ(longest.cutoff, long_interval.cutoff);
    EXPECT_GE(longest.interval, 1);
}

namespace {

// A molecule of so many bonded pairs, in each of which a light atom is held to a heavy one; charges and lengths by pair.
System fitted(int bonds, double (*charge)(int), double (*length)(int))
{
    System system = random_liquid({8, 8, 8}, 0, 1, 1);
    MoleculeType molecule = system.topology.molecule_types[1];
    const Atom atom = molecule.atoms[0];
    molecule.atoms.clear(), system.x.clear(), system.v.clear();
    for (int bond = 0; bond < bonds; ++bond)
    {
        for (const int end : {0, 1})
        {
            molecule.atoms.push_back(atom);
            molecule.atoms.back().mass = end == 0 ? 12 : 1;
            molecule.atoms.back().charge = (end == 0 ? 1 : -1) * charge(bond);
            system.x.push_back({0.3 * (bond % 26) + 0.1 * end, 0.3 * (bond / 26 % 26), 0.3 * (bond / 26 / 26)});
        }
        molecule.constraints.push_back({2 * bond, 2 * bond + 1, length(bond)});
    }
    molecule.exclusion_start.assign(molecule.atoms.size() + 1, 0);
    system.topology.molecule_types = {molecule};
    system.topology.blocks = {{0, 1, 0}};
    system.topology.finish();
    return system;
}

double usual_length(int) { return 0.1; }

} // namespace

TEST(MissingPairs, take_of_many_charges_only_their_sizes_in_sum)
{
    const auto many = [](int m) { return (m % 2 == 0 ? 1 : -1) * (0.1 + 1e-4 * m); };
    const auto mean = [](int) { return 0.1 + 1e-4 * 49.5; };
    const RunParameters run = warm(0.9);
    for (const double cutoff : {0.92, 0.95, 1.0})
    {
        const double expected = missing_pair_error(fitted(100, mean, usual_length), run, {10, cutoff, 0, 0});
        EXPECT_NEAR(missing_pair_error(fitted(100, many, usual_length), run, {10, cutoff, 0, 0}), expected, 1e-12 * expected);
    }
}

TEST(PlanPairList, is_made_at_once_for_ten_thousand_charges_or_lengths)
{
    const RunParameters run = warm(0.9);
    const auto charge = [](int m) { return 0.1 + 1e-5 * m; };
    const auto one_charge = [](int) { return 0.1 + 1e-5 * 4999.5; };
    const ListPlan many = plan_pair_list(fitted(10000, charge, usual_length), run), // pairs of kinds would take minutes
        one = plan_pair_list(fitted(10000, one_charge, usual_length), run);
    EXPECT_EQ(many.cutoff, one.cutoff);
    EXPECT_EQ(many.interval, one.interval);

    // Where there are so many motions, similar ones are planned as the one that moves farthest.
    const auto length = [](int m) { return 0.09 + 2e-6 * m; };
    const System fitted_lengths = fitted(10000, one_charge, length);
    const ListPlan plan{20, 1.0, 0, 0};
    const double error = missing_pair_error(fitted_lengths, run, plan);
    EXPECT_GE(error, missing_pair_error(fitted(10000, one_charge, [](int) { return 0.09; }), run, plan));
    EXPECT_LE(error, 1.05 * missing_pair_error(fitted(10000, one_charge, [](int) { return 0.11; }), run, plan)); // masses: 2 %
    EXPECT_GT(plan_pair_list(fitted_lengths, run).interval, 0);
}
