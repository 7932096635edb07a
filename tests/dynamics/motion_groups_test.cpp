// SPDX-License-Identifier: Apache-2.0
// Atoms that are frozen along some axes: their kicks, degrees of freedom, centre of mass, and constraints.
#include "base/error.hpp"
#include "dynamics/com.hpp"
#include "dynamics/constraints.hpp"
#include "dynamics/degrees_of_freedom.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/motion_groups.hpp"
#include "dynamics/velocities.hpp"
#include "model/frozen_atoms.hpp"
#include "toy_systems.hpp"

#include <algorithm>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr std::uint8_t x_axis = 1, z_axis = 4;

// Ten atoms, of which the first three are frozen along x, x and z, and all axes.
System partly_frozen()
{
    System system = toy_system({{single_atom(10), 10}}, {3, 3, 3}, 300, 4);
    std::vector<std::uint8_t> axes(10);
    axes[0] = x_axis, axes[1] = x_axis | z_axis, axes[2] = every_axis;
    freeze_atoms(system.topology, axes);
    return system;
}

ParticleState<Double> grouped(const System& system, const std::vector<std::uint8_t>& groups)
{
    auto state = particles_in_input_order<Double>(system);
    std::ranges::copy(groups, state.temperature_group.begin());
    return state;
}

// Two temperature groups: even and odd atoms.
AtomGroups even_and_odd()
{
    AtomGroups groups{2, {}};
    for (std::uint8_t atom = 0; atom < 10; ++atom) { groups.of_atom.push_back(atom % 2); }
    return groups;
}

} // namespace

TEST(MotionGroups, are_the_temperature_groups_where_nothing_is_frozen)
{
    const System system = toy_system({{single_atom(10), 10}}, {3, 3, 3}, 300, 4);
    const MotionGroups motion = make_motion_groups(even_and_odd(), system.topology);
    EXPECT_EQ(motion.groups.of_atom, even_and_odd().of_atom);
    EXPECT_EQ(motion.mobility, Mobility(2, {1, 1, 1}));
    EXPECT_TRUE(make_motion_groups({}, system.topology).groups.of_atom.empty());
}

TEST(MotionGroups, split_temperature_groups_by_frozen_axes)
{
    const System system = partly_frozen();
    const MotionGroups motion = make_motion_groups(even_and_odd(), system.topology);
    ASSERT_EQ(motion.groups.count, 8); // two groups, four sets of axes
    const Vec3<double> expected[] = {{0, 1, 1}, {0, 1, 0}, {0, 0, 0}, {1, 1, 1}};
    for (std::size_t atom = 0; atom < 10; ++atom)
    {
        const std::uint8_t group = motion.groups.of_atom[atom];
        EXPECT_EQ(group % 2, atom % 2);
        EXPECT_EQ(motion.mobility[group], expected[std::min<std::size_t>(atom, 3)]) << atom;
    }
    AtomGroups many{100, std::vector<std::uint8_t>(10)};
    EXPECT_THROW(make_motion_groups(many, system.topology), InputError);
}

TEST(MotionGroups, are_kicked_along_the_axes_that_they_move_along)
{
    const System system = partly_frozen();
    const MotionGroups motion = make_motion_groups(even_and_odd(), system.topology);
    CpuQueue queue(2);
    auto state = grouped(system, motion.groups.of_atom);
    auto free = grouped(system, even_and_odd().of_atom);
    for (auto* s : {&state, &free})
    {
        for (std::size_t atom = 0; atom < 10; ++atom)
        {
            s->f.set(static_cast<std::size_t>(s->slot_of_global[atom]), {1.0 + static_cast<double>(atom), -2, 3});
        }
    }
    VelocityCoupling coupling;
    coupling.scale = {0.9, 1.1}, coupling.friction = {0.01, 0}, coupling.drag = {0.001, 0.002, 0.003};
    kick(queue, kick_coefficients(0.002, 2, coupling, motion.mobility), state);
    kick(queue, kick_coefficients(0.002, 2, coupling), free);
    for (std::size_t atom = 0; atom < 10; ++atom)
    {
        const Vec3<double> all = free.v.get(static_cast<std::size_t>(free.slot_of_global[atom]));
        EXPECT_EQ(state.v.get(static_cast<std::size_t>(state.slot_of_global[atom])),
                  along(motion.mobility[motion.groups.of_atom[atom]], all))
            << atom;
    }
    const KineticEnergies split = compute_kinetic(queue, state, 8), whole = joined(split, 2);
    EXPECT_EQ(whole.group.size(), 2u);
    EXPECT_NEAR(whole.energy(), split.energy(), 1e-14 * split.energy());
}

TEST(MotionGroups, have_the_degrees_of_freedom_that_move)
{
    const System system = partly_frozen();
    const ComGroups com = make_com_groups({}, system.topology);
    EXPECT_EQ(com.groups.of_atom[2], AtomGroups::none);
    EXPECT_EQ(com.frozen[0], (Vec3<double>{20, 0, 10}));
    // 30 axes, of which 6 are frozen; three go with the centre of mass.
    EXPECT_NEAR(degrees_of_freedom(system.topology, ComMode::None, {}, com.groups)[0], 24, 1e-12);
    EXPECT_NEAR(degrees_of_freedom(system.topology, ComMode::Linear, {}, com.groups)[0], 21, 1e-12);

    // A constraint of a frozen atom takes a degree of freedom of the other, as GROMACS counts; of two frozen ones none is left.
    for (const auto& [frozen, expected] : {std::pair(0, 12 - 3), {1, 12 - 3 - 3}, {4, 0}})
    {
        System methyls = toy_system({{methyl(), 1}}, {3, 3, 3}, 300, 4);
        std::vector<std::uint8_t> axes(4);
        std::fill_n(axes.begin(), frozen, every_axis);
        freeze_atoms(methyls.topology, axes);
        EXPECT_EQ(degrees_of_freedom(methyls.topology, ComMode::None, {}, {})[0], expected) << frozen;
    }
}

TEST(MotionGroups, lose_the_motion_of_the_centre_of_mass_along_the_axes_that_they_move_along)
{
    const System system = partly_frozen();
    const MotionGroups motion = make_motion_groups({}, system.topology);
    const ComGroups com = make_com_groups({}, system.topology);
    CpuQueue queue(2);
    auto state = grouped(system, motion.groups.of_atom);
    stop_frozen(queue, motion.mobility, state);
    const double before = compute_kinetic(queue, state, motion.groups.count).energy();
    const auto motions = finish_com_motion(sum_com_motion(queue, com.groups, state), com.frozen);
    remove_com_motion(queue, com.groups, motions, state, motion.mobility);
    EXPECT_NEAR(before - compute_kinetic(queue, state, motion.groups.count).energy(), kinetic_energy(motions), 1e-12 * before);
    Vec3<double> momentum;
    for (std::size_t atom = 0; atom < 10; ++atom)
    {
        const Vec3<double> v = state.v.get(static_cast<std::size_t>(state.slot_of_global[atom]));
        momentum += 10.0 * v;
        EXPECT_EQ(v, along(motion.mobility[motion.groups.of_atom[atom]], v)) << atom;
    }
    EXPECT_LT(norm(momentum), 1e-12);
}

// A hydrogen at a frozen carbon turns about it: its distance is kept, and the carbon stays.
TEST(MotionGroups, hold_others_by_constraints)
{
    System system = toy_system({{methyl(), 20}}, {3, 3, 3}, 300, 4);
    std::vector<std::uint8_t> axes(80);
    for (std::size_t atom = 0; atom < 80; atom += 4) { axes[atom] = every_axis; }
    freeze_atoms(system.topology, axes);
    const MotionGroups motion = make_motion_groups({}, system.topology);
    CpuQueue queue(2);
    auto state = grouped(system, motion.groups.of_atom);
    stop_frozen(queue, motion.mobility, state);
    const auto x = state.x;
    const Constraints constraints(system.topology, RunParameters());
    const auto result = constraints.apply(queue, constraints.assign_all(system.topology), state, 0.002, Virial::Skip);
    EXPECT_EQ(result.failures, 0);
    drift(queue, 0.002, state);
    for (std::size_t carbon = 0; carbon < 80; carbon += 4)
    {
        const auto slot = [&](std::size_t atom) { return static_cast<std::size_t>(state.slot_of_global[atom]); };
        EXPECT_EQ(state.x.get(slot(carbon)), x.get(slot(carbon)));
        for (std::size_t h = 1; h <= 3; ++h)
        {
            const double length = norm(state.box.difference(state.x.get(slot(carbon + h)), state.x.get(slot(carbon))));
            EXPECT_NEAR(length, system.topology.molecule_types[0].constraints[h - 1].length, 1e-7); // LINCS' tolerance
        }
    }
}
