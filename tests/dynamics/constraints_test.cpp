// SPDX-License-Identifier: Apache-2.0
#include "dynamics/constraints.hpp"

#include "base/error.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/toy_systems.hpp"
#include "support/constraint_deviation.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr double dt = 0.002;
const Vec3<double> box{3.1, 2.9, 3.3};

System mixed_molecules(unsigned seed = 7)
{
    return toy_system({{rigid_water(), 37}, {methyl(), 5}, {ring(), 4}, {triangle(), 3}, {single_atom(40), 2}}, box, 300, seed);
}

// Enough for rings, triangles and velocities that pull at the bonds as hard as they pull across.
RunParameters converged_lincs()
{
    RunParameters parameters;
    parameters.lincs_order = 12;
    parameters.lincs_iterations = 6;
    return parameters;
}

// SHAKE (Ryckaert, Ciccotti, Berendsen 1977) iterated to convergence: the independent reference. Positions need not be wrapped,
// molecules are whole. Returns the constrained velocities and the constraint virial.
struct Shaken
{
    std::vector<Vec3<double>> v;
    Mat3<double> virial;
};
Shaken shake(const System& system, const std::vector<Vec3<double>>& v, double step)
{
    std::vector<Vec3<double>> moved(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) { moved[i] = system.x[i] + step * v[i]; }
    Shaken result{v, {}};
    const auto constraints = all_constraints(system.topology);
    for (int sweep = 0; sweep < 5000; ++sweep)
    {
        double worst = 0;
        for (const Constraint& c : constraints)
        {
            const auto a = static_cast<std::size_t>(c.a), b = static_cast<std::size_t>(c.b);
            const double wa = 1 / system.topology.atom(c.a).mass, wb = 1 / system.topology.atom(c.b).mass;
            const Vec3<double> old_bond = system.x[a] - system.x[b], bond = moved[a] - moved[b];
            const double error = c.length * c.length - norm2(bond);
            worst = std::max(worst, std::abs(error) / (c.length * c.length));
            const Vec3<double> shift = (error / (2 * (wa + wb) * dot(bond, old_bond))) * old_bond;
            moved[a] += wa * shift;
            moved[b] -= wb * shift;
            result.virial += (-0.5 / (step * step)) * outer(old_bond, shift);
        }
        if (worst < 1e-15) { break; }
    }
    for (std::size_t i = 0; i < v.size(); ++i) { result.v[i] = (1 / step) * (moved[i] - system.x[i]); }
    return result;
}

template <class N>
double largest_velocity_difference(const ParticleState<N>& state, const std::vector<Vec3<double>>& v)
{
    double largest = 0;
    for (std::size_t i = 0; i < v.size(); ++i)
    {
        largest = std::max(largest, norm(static_cast<Vec3<double>>(state.v.get(i)) - v[i]));
    }
    return largest;
}

double largest_element(const Mat3<double>& m)
{
    double largest = 0;
    for (int d = 0; d < 3; ++d)
    {
        for (int e = 0; e < 3; ++e) { largest = std::max(largest, std::abs(m[d][e])); }
    }
    return largest;
}

} // namespace

TEST(Constraints, give_the_velocities_and_virial_of_converged_shake)
{
    const System system = mixed_molecules();
    const Shaken reference = shake(system, system.v, dt);
    auto state = particles_in_input_order<Double>(system);
    CpuQueue queue(1);
    const Constraints constraints(system.topology, converged_lincs());
    const auto result = constraints.apply(queue, constraints.assign_all(system.topology), state, dt, Virial::Compute);
    EXPECT_EQ(result.failures, 0);
    EXPECT_LT(largest_velocity_difference(state, reference.v), 2e-11); // nm/ps: 4e-14 nm in the displacement
    EXPECT_GT(largest_velocity_difference(state, system.v), 0.1);
    EXPECT_LT(largest_element(result.virial() + -1.0 * reference.virial), 1e-9 * largest_element(reference.virial));
}

TEST(Constraints, hold_lengths_to_the_precision_of_the_policy)
{
    const System system = mixed_molecules();
    CpuQueue queue(2);
    const Constraints constraints(system.topology, converged_lincs());
    const ConstraintAssignment assignment = constraints.assign_all(system.topology);
    const auto deviation_after_steps = [&]<class N>(ParticleState<N> state) {
        for (int step = 0; step < 200; ++step)
        {
            constraints.apply(queue, assignment, state, dt, Virial::Skip);
            drift(queue, dt, state);
        }
        return deviation_of_constraints(system.topology, state).max;
    };
    EXPECT_LT(deviation_after_steps(particles_in_input_order<Double>(system)), 1e-12);
    EXPECT_LT(deviation_after_steps(particles_in_input_order<Mixed>(system)), 2e-7);
}

TEST(Constraints, of_hydrogens_keep_6_digits_by_default_and_12_with_order_8_and_4_iterations)
{
    const System system = toy_system({{methyl(), 200}}, box, 300, 11);
    CpuQueue queue(1);
    const auto largest_after_steps = [&](const RunParameters& parameters) {
        const Constraints constraints(system.topology, parameters);
        const ConstraintAssignment assignment = constraints.assign_all(system.topology);
        auto state = particles_in_input_order<Double>(system);
        for (int step = 0; step < 50; ++step)
        {
            constraints.apply(queue, assignment, state, dt, Virial::Skip);
            drift(queue, dt, state);
        }
        return deviation_of_constraints(system.topology, state).max;
    };
    RunParameters parameters;
    EXPECT_LT(largest_after_steps(parameters), 1e-6 * (1 + 1e-3));
    parameters.lincs_order = 8;
    parameters.lincs_iterations = 4;
    EXPECT_LT(largest_after_steps(parameters), 5e-12);
}

TEST(Constraints, do_not_depend_on_threads_or_slots_in_any_policy)
{
    const System system = mixed_molecules();
    const Constraints constraints(system.topology, RunParameters());
    const ConstraintAssignment assignment = constraints.assign_all(system.topology);
    const auto check = [&]<class N>(ParticleState<N> one) {
        ParticleState<N> three = one;
        CpuQueue single(1), team(3);
        const auto a = constraints.apply(single, assignment, one, dt, Virial::Compute);
        const auto b = constraints.apply(team, assignment, three, dt, Virial::Compute);
        EXPECT_TRUE(one.v.values() == three.v.values());
        if (N::summation == Summation::Reproducible) { EXPECT_EQ(a.virial(), b.virial()); }
    };
    check(particles_in_input_order<Double>(system));
    check(particles_in_input_order<Mixed>(system));
    check(particles_in_input_order<DoubleReproducible>(system));
    check(particles_in_input_order<MixedReproducible>(system));
}

TEST(Constraints, conserve_momentum_and_angular_momentum_of_each_molecule)
{
    const System system = toy_system({{ring(), 1}}, box, 300, 3);
    auto state = particles_in_input_order<Double>(system);
    CpuQueue queue(1);
    const Constraints constraints(system.topology, converged_lincs());
    constraints.apply(queue, constraints.assign_all(system.topology), state, dt, Virial::Skip);
    Vec3<double> momentum, angular;
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        const double mass = system.topology.atom(static_cast<std::int64_t>(i)).mass;
        const Vec3<double> change = mass * (state.v.get(i) - system.v[i]);
        momentum += change;
        angular += cross(system.x[i] - system.x[0], change);
    }
    EXPECT_LT(norm(momentum), 1e-10);
    EXPECT_LT(norm(angular), 1e-11);
}

TEST(Constraints, projected_vectors_do_not_stretch_any_bond)
{
    const System system = mixed_molecules();
    auto state = particles_in_input_order<Double>(system);
    CpuQueue queue(2);
    const Constraints constraints(system.topology, RunParameters());
    constraints.project(queue, constraints.assign_all(system.topology), state, state.v);
    double largest = 0;
    for (const Constraint& c : all_constraints(system.topology))
    {
        const auto a = static_cast<std::size_t>(c.a), b = static_cast<std::size_t>(c.b);
        largest = std::max(largest, std::abs(dot(state.v.get(a) - state.v.get(b), system.x[a] - system.x[b]) / c.length));
    }
    EXPECT_LT(largest, 1e-12);
    const auto once = state.v;
    constraints.project(queue, constraints.assign_all(system.topology), state, state.v);
    EXPECT_LT(largest_velocity_difference(state,
                                          [&] {
                                              std::vector<Vec3<double>> v;
                                              for (std::size_t i = 0; i < system.v.size(); ++i) { v.push_back(once.get(i)); }
                                              return v;
                                          }()),
              1e-12);
}

TEST(Constraints, with_equal_masses_leave_no_force_at_a_constrained_equilibrium)
{
    // Forces along the bonds, equal and opposite, are balanced by constraint forces whatever the masses.
    const System system = mixed_molecules();
    auto state = particles_in_input_order<Double>(system);
    ClusterArray<double> f;
    f.resize(state.slots());
    double strength = 100;
    for (const Constraint& c : all_constraints(system.topology))
    {
        const auto a = static_cast<std::size_t>(c.a), b = static_cast<std::size_t>(c.b);
        const Vec3<double> along = (strength / c.length) * (system.x[a] - system.x[b]);
        f.add(a, along);
        f.add(b, -along);
        strength += 7;
    }
    CpuQueue queue(1);
    const Constraints constraints(system.topology, RunParameters(), ConstraintMasses::Equal);
    constraints.project(queue, constraints.assign_all(system.topology), state, f);
    for (std::size_t slot = 0; slot < state.slots(); ++slot) { EXPECT_LT(norm(f.get(slot)), 1e-9); }
}

TEST(Constraints, that_depend_on_each_other_are_refused_with_their_molecule)
{
    ToyMolecule line = triangle();
    line.type.name = "LINE";
    line.x[1] = {0.1, 0, 0}, line.x[2] = {0.2, 0, 0};
    line.type.constraints.clear();
    for (const auto& [a, b] : {std::pair(0, 1), std::pair(1, 2), std::pair(0, 2)}) { constrain(line, a, b); }
    const System system = toy_system({{rigid_water(), 2}, {line, 1}}, box, 300, 7);
    auto state = particles_in_input_order<Double>(system);
    for (std::size_t i = 0; i < 3; ++i) // whichever way it was turned; on a line but for rounding, so that no solution is exact
    {
        const Vec3<double> along{0.1 * static_cast<double>(i), i == 1 ? 1e-10 : 0, 0};
        state.x.set(6 + i, state.box.to_fixed(system.x[6] + along));
    }
    CpuQueue queue(1);
    const Constraints constraints(system.topology, RunParameters());
    try
    {
        constraints.project(queue, constraints.assign_all(system.topology), state, state.v);
        ADD_FAILURE() << "accepted";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E158");
        EXPECT_NE(error.message().find("molecule type LINE the constraints of atoms 1 to 3 (in the system 7 to 9)"),
                  std::string::npos)
            << error.message();
    }
}

TEST(Constraints, start_configurations_are_moved_onto_the_constraints)
{
    System system = mixed_molecules();
    for (std::size_t i = 0; i < system.x.size(); ++i) { system.x[i].x += 0.001 * std::sin(static_cast<double>(i)); }
    auto state = particles_in_input_order<Double>(system);
    CpuQueue queue(2);
    const Constraints constraints(system.topology, converged_lincs());
    const ConstraintAssignment assignment = constraints.assign_all(system.topology);
    EXPECT_GT(deviation_of_constraints(system.topology, state).max, 1e-3);
    EXPECT_EQ(constrain_start(queue, constraints, assignment, state, dt).failures, 0);
    EXPECT_LT(deviation_of_constraints(system.topology, state).max, 1e-9);
    drift(queue, -dt, state);
    EXPECT_LT(deviation_of_constraints(system.topology, state).max, 1e-9);
}

TEST(Constraints, name_the_atoms_of_the_bond_that_turned_too_far)
{
    System system = toy_system({{rigid_water(), 20}, {methyl(), 20}}, box, 300, 5);
    const std::size_t carbon = 20 * 3 + 4 * 7, hydrogen = carbon + 2;
    const Vec3<double> bond = system.x[hydrogen] - system.x[carbon];
    system.v[hydrogen] += (0.2 / dt / norm(cross(bond, {0, 0, 1}))) * cross(bond, {0, 0, 1});
    auto state = particles_in_input_order<Mixed>(system);
    CpuQueue queue(2);
    const Constraints constraints(system.topology, RunParameters());
    const auto result = constraints.apply(queue, constraints.assign_all(system.topology), state, dt, Virial::Skip);
    EXPECT_GE(result.failures, 1);
    EXPECT_EQ(result.worst_atom_a, static_cast<std::int64_t>(carbon));
    EXPECT_EQ(result.worst_atom_b, static_cast<std::int64_t>(hydrogen));
    EXPECT_GT(result.worst_angle, 30);
}

TEST(Constraints, report_a_water_that_moved_too_far_and_numbers_that_are_not_finite)
{
    System system = toy_system({{rigid_water(), 9}, {methyl(), 2}}, box, 300, 5);
    CpuQueue queue(1);
    const Constraints constraints(system.topology, RunParameters());
    const ConstraintAssignment assignment = constraints.assign_all(system.topology);
    System torn = system;
    torn.v[3 * 6] += {0, 0, 500}; // 1 nm in a step
    auto state = particles_in_input_order<Double>(torn);
    auto result = constraints.apply(queue, assignment, state, dt, Virial::Skip);
    EXPECT_EQ(result.failures, 1);
    EXPECT_EQ(result.worst_atom_a, 18);
    for (const std::size_t atom : {std::size_t{4}, std::size_t{28}})
    {
        System broken = system;
        broken.v[atom].y = std::nan("");
        state = particles_in_input_order<Double>(broken);
        EXPECT_GE(constraints.apply(queue, assignment, state, dt, Virial::Skip).failures, 1) << atom;
    }
}

TEST(Constraints, need_masses)
{
    ToyMolecule molecule = methyl();
    molecule.type.atoms[2].mass = 0;
    const System system = toy_system({{molecule, 1}}, box, 0, 1);
    try
    {
        const Constraints constraints(system.topology, RunParameters());
        FAIL();
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E620");
        EXPECT_EQ(error.where().file, "molecule type CH3");
    }
}
