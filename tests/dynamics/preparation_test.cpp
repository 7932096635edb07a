// SPDX-License-Identifier: Apache-2.0
// What happens before the first step: groups, degrees of freedom and generated velocities.
#include "base/error.hpp"
#include "base/units.hpp"
#include "dynamics/com.hpp"
#include "dynamics/degrees_of_freedom.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/toy_systems.hpp"
#include "dynamics/velocities.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

const Vec3<double> large_box{4, 4, 4};

std::string error_id(const std::vector<std::string>& names, const std::map<std::string, std::vector<std::int64_t>>& groups,
                     Coverage coverage = Coverage::Every)
{
    try
    {
        make_atom_groups("tc-grps", names, groups, 6, coverage);
        return "none";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.where().file, "tc-grps");
        return error.id();
    }
}

} // namespace

TEST(AtomGroups, cover_all_atoms_once_or_say_which_does_not)
{
    const std::map<std::string, std::vector<std::int64_t>> groups{{"A", {0, 1, 2}}, {"B", {3, 4, 5}}, {"C", {2, 3}}};
    const AtomGroups both = make_atom_groups("tc-grps", {"B", "A"}, groups, 6, Coverage::Every);
    EXPECT_EQ(both.count, 2);
    EXPECT_EQ(both.group(0), 1);
    EXPECT_EQ(both.group(5), 0);
    EXPECT_TRUE(make_atom_groups("tc-grps", {"System"}, {}, 6, Coverage::Every).of_atom.empty());
    EXPECT_EQ(make_atom_groups("comm-grps", {"A"}, groups, 6, Coverage::Some).group(4), AtomGroups::none);
    EXPECT_EQ(error_id({"A"}, groups), "E612");
    EXPECT_EQ(error_id({"A", "C"}, groups), "E611");
    EXPECT_EQ(error_id({"A", "D"}, groups), "E610");
    EXPECT_EQ(error_id(std::vector<std::string>(255, "A"), groups), "E613");
}

TEST(DegreesOfFreedom, are_three_per_atom_less_constraints_and_centre_of_mass_motion)
{
    const System system = toy_system({{rigid_water(), 10}, {methyl(), 2}, {ring(), 1}}, large_box, 0, 1);
    const double atoms = 30 + 8 + 12, constraints = 30 + 6 + 12;
    EXPECT_DOUBLE_EQ(degrees_of_freedom(system.topology, ComMode::None, {}, {})[0], 3 * atoms - constraints);
    EXPECT_DOUBLE_EQ(degrees_of_freedom(system.topology, ComMode::Linear, {}, {})[0], 3 * atoms - constraints - 3);
    EXPECT_DOUBLE_EQ(degrees_of_freedom(system.topology, ComMode::Angular, {}, {})[0], 3 * atoms - constraints - 6);
}

TEST(DegreesOfFreedom, are_shared_out_over_groups)
{
    const System system = toy_system({{rigid_water(), 10}, {methyl(), 5}}, large_box, 0, 1);
    AtomGroups halves;
    halves.count = 2;
    for (int atom = 0; atom < 50; ++atom) { halves.of_atom.push_back(atom < 30 ? 0 : 1); }
    // Waters 60, methyl 45: a common centre of mass costs each its share of 3, one of its own costs each 3.
    std::vector<double> dof = degrees_of_freedom(system.topology, ComMode::Linear, halves, {});
    EXPECT_NEAR(dof[0], 60 - 3 * 60.0 / 105, 1e-12);
    EXPECT_NEAR(dof[1], 45 - 3 * 45.0 / 105, 1e-12);
    dof = degrees_of_freedom(system.topology, ComMode::Linear, halves, halves);
    EXPECT_NEAR(dof[0], 57, 1e-12);
    EXPECT_NEAR(dof[1], 42, 1e-12);
    // A methyl carbon loses 3/2 to its three bonds, a hydrogen 1/2 each.
    AtomGroups carbons = halves;
    for (std::size_t atom = 0; atom < 50; ++atom) { carbons.of_atom[atom] = atom >= 30 && (atom - 30) % 4 == 0 ? 1 : 0; }
    dof = degrees_of_freedom(system.topology, ComMode::None, carbons, {});
    EXPECT_NEAR(dof[1], 5 * 1.5, 1e-12);
    EXPECT_NEAR(dof[0], 60 + 5 * 7.5, 1e-12);
}

TEST(Velocities, are_drawn_at_the_exact_temperature_without_drift_or_stretching)
{
    const System system = toy_system({{rigid_water(), 300}, {ring(), 10}, {single_atom(40), 33}}, large_box, 0, 3);
    auto state = particles_in_input_order<Double>(system);
    CpuQueue queue(2);
    const Constraints constraints(system.topology, RunParameters());
    const ConstraintAssignment assignment = constraints.assign_all(system.topology);
    const double dof = degrees_of_freedom(system.topology, ComMode::Linear, {}, {})[0];
    generate_velocities(queue, {310, 20231, dof}, constraints, assignment, state);
    EXPECT_NEAR(temperature(compute_kinetic(queue, state, 1).energy(), dof), 310, 1e-9);
    EXPECT_LT(norm(finish_com_motion(sum_com_motion(queue, {}, state))[0].velocity), 1e-12);
    auto projected = state.v;
    constraints.project(queue, assignment, state, projected);
    for (std::size_t i = 0; i < system.x.size(); ++i) { EXPECT_LT(norm(projected.get(i) - state.v.get(i)), 1e-12); }
    // Free atoms: 99 components with variance kT / m, less the common scaling.
    double squares = 0;
    for (std::size_t i = 300 * 3 + 10 * 12; i < system.x.size(); ++i)
    {
        squares += norm2(state.v.get(i)) * 40 / (units::boltzmann * 310);
    }
    EXPECT_NEAR(squares / 99, 1, 4 * std::sqrt(2.0 / 99));
}

TEST(Velocities, depend_on_the_seed_and_not_on_threads)
{
    const System system = toy_system({{rigid_water(), 50}}, large_box, 0, 3);
    const Constraints constraints(system.topology, RunParameters());
    const auto draw = [&](int threads, std::uint64_t seed) {
        auto state = particles_in_input_order<MixedReproducible>(system);
        CpuQueue queue(threads);
        generate_velocities(queue, {300, seed, 300}, constraints, constraints.assign_all(system.topology), state);
        return state.v.values();
    };
    EXPECT_TRUE(draw(1, 8) == draw(3, 8));
    EXPECT_FALSE(draw(1, 8) == draw(1, 9));
}
