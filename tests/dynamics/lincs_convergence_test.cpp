// SPDX-License-Identifier: Apache-2.0
// LINCS keeps what it promises or says that it has not: groups that converge slowly, and such as do not converge at all.
#include "dynamics/constraints.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/minimise/points.hpp"
#include "dynamics/toy_systems.hpp"
#include "support/constraint_deviation.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

const Vec3<double> box_of_molecules{3.1, 2.9, 3.3};

template <class N>
ConstraintResult<N> constrain_step(const System& system, ParticleState<N>& state, double dt, int threads = 1)
{
    CpuQueue queue(threads);
    const Constraints constraints(system.topology, RunParameters());
    return constraints.apply(queue, constraints.assign_all(system.topology), state, dt, Virial::Compute);
}

} // namespace

TEST(LincsConvergence, keeps_six_digits_of_rings_diamonds_triangles_and_chains_at_long_steps)
{
    CpuQueue queue(1);
    for (const ToyMolecule& molecule :
         {diamond(), ring_of_heavy_atoms(), triangle(), chain(12), light_centre(1.0), tetrahedron(), bipyramid()})
    {
        for (const double dt : {0.004, 0.01, 0.02, 0.03})
        {
            SCOPED_TRACE(molecule.type.name + " " + std::to_string(dt));
            System system = toy_system({{molecule, 40}}, box_of_molecules, 50, 3);
            auto state = particles_in_input_order<Double>(system);
            for (int step = 0; step < 3; ++step)
            {
                const auto result = constrain_step(system, state, dt);
                ASSERT_EQ(result.failures, 0) << result.worst_angle << " degrees, " << result.worst_deviation;
                drift(queue, dt, state);
                // The criterion is of squares of lengths, and so to first order.
                EXPECT_LE(deviation_of_constraints(system.topology, state).max, 1e-6 * (1 + 1e-5));
            }
        }
    }
}

TEST(LincsConvergence, of_mixed_precision_is_that_of_its_positions)
{
    const System system = toy_system({{diamond(), 40}, {chain(12), 10}}, box_of_molecules, 100, 3);
    auto state = particles_in_input_order<Mixed>(system);
    CpuQueue queue(1);
    for (int step = 0; step < 5; ++step)
    {
        EXPECT_EQ(constrain_step(system, state, 0.02).failures, 0);
        drift(queue, 0.02, state);
    }
    // Besides: 24 bits of moves of up to 0.03 nm, and positions of 2^-32 of the box, of bonds of 0.1 nm and more.
    EXPECT_LE(deviation_of_constraints(system.topology, state).max, 1e-6 + 2 * (0.03 * 6e-8 + 3.3 / 0x1p32) / 0.1);
}

// Bonds of a light atom within a narrow cone: the largest eigenvalue of A is below -1, and its series diverges for any step.
TEST(LincsConvergence, that_fails_is_a_failure_with_the_atoms_and_how_far_they_are_off)
{
    const System system = toy_system({{single_atom(40), 3}, {methyl(), 2}, {light_centre(0.2), 1}}, box_of_molecules, 100, 3);
    auto state = particles_in_input_order<Double>(system);
    const auto result = constrain_step(system, state, 0.004);
    EXPECT_EQ(result.failures, 4);
    EXPECT_EQ(result.worst_atom_a, 3 + 2 * 4);
    EXPECT_GT(std::abs(result.worst_deviation), 1e-4);
    EXPECT_GE(result.largest_deviation, 1e-4);
}

// Near an eigenvalue of -1 the error falls by little each time.
TEST(LincsConvergence, that_is_slow_says_how_far_it_has_come)
{
    CpuQueue queue(1);
    int slow = 0;
    for (double angle = 0.6; angle > 0.58; angle -= 0.0005)
    {
        SCOPED_TRACE(angle);
        const System system = toy_system({{light_centre(angle), 1}}, box_of_molecules, 100, 3);
        auto state = particles_in_input_order<Double>(system);
        const auto result = constrain_step(system, state, 0.004);
        drift(queue, 0.004, state);
        const double deviation = deviation_of_constraints(system.topology, state).max;
        EXPECT_NEAR(result.largest_deviation, deviation, deviation * (1e-6 + deviation)); // to first order
        EXPECT_EQ(result.failures > 0, deviation > LincsSettings::failed);
        slow += deviation > 2 * LincsSettings::tolerance && result.failures == 0;
    }
    EXPECT_GE(slow, 1);
}

TEST(LincsConvergence, has_a_root_mean_square_with_the_same_bits_for_any_number_of_threads)
{
    const System system = toy_system({{methyl(), 60}, {ring(), 30}, {triangle(), 10}}, box_of_molecules, 300, 5);
    auto state = particles_in_input_order<DoubleReproducible>(system);
    const auto start = state;
    CpuQueue queue(1);
    const auto sum = constrain_step(system, state, 0.002).deviation_squares;
    drift(queue, 0.002, state);
    const double rms = rms_deviation(from_sum(sum), lincs_constraint_count(system.topology));
    const double expected = deviation_of_constraints(system.topology, state).rms;
    EXPECT_GT(expected, 1e-9);
    EXPECT_NEAR(rms, expected, 1e-6 * expected);
    for (const int threads : {2, 3})
    {
        auto again = start;
        EXPECT_EQ(constrain_step(system, again, 0.002, threads).deviation_squares, sum);
    }
}

// Forces along the bonds are taken up whole: their virial is the negative of that of the forces, whatever the masses.
TEST(ForcesAtRest, have_the_virial_of_what_constraints_take_up)
{
    const System system =
        toy_system({{rigid_water(), 20}, {methyl(), 5}, {ring(), 4}, {triangle(), 3}}, box_of_molecules, 300, 7);
    auto state = particles_in_input_order<Double>(system);
    Mat3<double> along_bonds;
    double strength = 100;
    for (const Constraint& c : all_constraints(system.topology))
    {
        const auto a = static_cast<std::size_t>(c.a), b = static_cast<std::size_t>(c.b);
        const Vec3<double> bond = system.x[a] - system.x[b], force = (strength / c.length) * bond;
        state.f.add(a, force);
        state.f.add(b, -force);
        along_bonds += -0.5 * outer(bond, force);
        strength += 7;
    }
    CpuQueue queue(2);
    for (const ConstraintMasses masses : {ConstraintMasses::Equal, ConstraintMasses::Physical})
    {
        const Constraints constraints(system.topology, RunParameters(), masses);
        const auto forces = forces_at_rest(queue, constraints, constraints.assign_all(system.topology), state, masses);
        for (std::size_t slot = 0; slot < state.slots(); ++slot) { EXPECT_LT(norm(forces.free.get(slot)), 1e-9); }
        const Mat3<double> virial = forces.of_constraints.virial();
        for (int i = 0; i < 9; ++i) { EXPECT_NEAR(virial[i / 3][i % 3], -along_bonds[i / 3][i % 3], 1e-9); }
    }
    EXPECT_GT(std::abs(along_bonds[0][0]), 100);
}
