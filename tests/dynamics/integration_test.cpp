// SPDX-License-Identifier: Apache-2.0
// Leap-frog and stochastic dynamics on oscillators tied to points of the box, whose solutions are known.
#include "base/units.hpp"
#include "dynamics/com.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/stochastic.hpp"
#include "dynamics/toy_systems.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

const Vec3<double> oscillator_box{3, 3, 3};
const Vec3<double> centre{1.5, 1.5, 1.5};

// f = -k (x - centre) on every atom. Returns the energy.
template <class N>
double pull_to_centre(double k, ParticleState<N>& state)
{
    using Sum = typename N::ForceSum;
    double energy = 0;
    for (std::size_t slot = 0; slot < state.slots(); ++slot)
    {
        if (state.global_of_slot[slot] < 0) { continue; }
        const Vec3<double> r = state.box.difference(state.x.get(slot), state.box.to_fixed(centre));
        state.f.set(slot, {to_sum<Sum>(-k * r.x), to_sum<Sum>(-k * r.y), to_sum<Sum>(-k * r.z)});
        energy += 0.5 * k * norm2(r);
    }
    return energy;
}

System oscillators(int count, double mass, unsigned seed)
{
    System system = toy_system({{single_atom(mass), count}}, oscillator_box, 300, seed);
    for (std::size_t i = 0; i < system.x.size(); ++i) { system.x[i] = centre + 0.1 * (system.x[i] - centre); }
    return system;
}

template <class N>
void step(CpuQueue& queue, double k, double dt, ParticleState<N>& state)
{
    pull_to_centre(k, state);
    kick(queue, kick_coefficients(dt, 1, {}), state);
    drift(queue, dt, state);
}

} // namespace

TEST(LeapFrog, follows_a_harmonic_oscillator_with_an_error_of_second_order)
{
    const double k = 1000, mass = 10, omega = std::sqrt(k / mass), end = 1;
    System system = oscillators(1, mass, 1);
    const Vec3<double> x0 = system.x[0] - centre, v0 = system.v[0];
    const Vec3<double> exact = std::cos(omega * end) * x0 + (std::sin(omega * end) / omega) * v0;
    CpuQueue queue(1);
    std::vector<double> errors;
    for (const double dt : {0.01, 0.005, 0.0025})
    {
        System start = system;
        // v(-dt/2) to second order in dt.
        start.v[0] = v0 + (0.5 * dt * k / mass) * x0;
        auto state = particles_in_input_order<Double>(start);
        for (int s = 0; s < std::lround(end / dt); ++s) { step(queue, k, dt, state); }
        errors.push_back(norm(state.box.difference(state.x.get(0), state.box.to_fixed(centre + exact))));
    }
    EXPECT_NEAR(errors[0] / errors[1], 4, 0.2);
    EXPECT_NEAR(errors[1] / errors[2], 4, 0.1);
}

TEST(LeapFrog, returns_to_its_start_when_time_is_reversed)
{
    const System system = oscillators(50, 10, 2);
    const auto error_after = [&]<class N>(ParticleState<N> state) {
        const auto start = state.x;
        CpuQueue queue(1);
        const double k = 300, dt = 0.002;
        for (int s = 0; s < 1000; ++s) { step(queue, k, dt, state); }
        drift(queue, -dt, state); // v belongs half a step back from here
        for (auto& v : state.v.values()) { v = -v; }
        for (int s = 0; s < 999; ++s) { step(queue, k, dt, state); }
        double largest = 0;
        for (std::size_t i = 0; i < 50; ++i)
        {
            largest = std::max(largest, norm(state.box.difference(state.x.get(i), start.get(i))));
        }
        return largest;
    };
    EXPECT_LT(error_after(particles_in_input_order<Double>(system)), 1e-12);
    EXPECT_LT(error_after(particles_in_input_order<Mixed>(system)), 1e-5);
}

TEST(LeapFrog, does_not_depend_on_threads_and_leaves_fillers_at_rest)
{
    const System system = oscillators(29, 10, 3);
    const auto check = [&]<class N>(ParticleState<N> one) {
        ParticleState<N> three = one;
        CpuQueue single(1), team(3);
        for (int s = 0; s < 20; ++s)
        {
            step(single, 500, 0.002, one);
            step(team, 500, 0.002, three);
        }
        EXPECT_TRUE(one.x.values() == three.x.values());
        EXPECT_TRUE(one.v.values() == three.v.values());
        EXPECT_EQ(norm2(static_cast<Vec3<double>>(one.v.get(31))), 0);
        if (N::summation == Summation::Reproducible)
        {
            EXPECT_EQ(compute_kinetic(single, one, 1).group[0], compute_kinetic(team, one, 1).group[0]);
            EXPECT_EQ(sum_com_motion(single, {}, one), sum_com_motion(team, {}, one));
        }
    };
    check(particles_in_input_order<Mixed>(system));
    check(particles_in_input_order<Double>(system));
    check(particles_in_input_order<MixedReproducible>(system));
    check(particles_in_input_order<DoubleReproducible>(system));
}

TEST(LeapFrog, applies_scale_friction_and_drag_by_group)
{
    const System system = oscillators(16, 10, 4);
    auto state = particles_in_input_order<Double>(system);
    for (std::size_t i = 0; i < 16; ++i) { state.temperature_group[i] = i % 3 == 0 ? 1 : 0; }
    pull_to_centre(100, state);
    VelocityCoupling coupling;
    coupling.scale = {1.1, 0.9};
    coupling.friction = {0.02, -0.03};
    coupling.drag = {0.001, 0.002, 0.003};
    const double dt = 0.004;
    const auto f = state.f;
    CpuQueue queue(1);
    kick(queue, kick_coefficients(dt, 2, coupling), state);
    for (std::size_t i = 0; i < 16; ++i)
    {
        const std::size_t g = i % 3 == 0 ? 1 : 0;
        for (int d = 0; d < 3; ++d)
        {
            // Friction acts on the mean of the old and new velocity: the definition, not the formula under test.
            const double v0 = system.v[i][d], v1 = state.v.get(i)[d];
            const double expected =
                coupling.scale[g] * v0 + dt * f.get(i)[d] / 10 - coupling.friction[g] * (v0 + v1) - coupling.drag[d] * v0;
            EXPECT_NEAR(v1, expected, 1e-14);
        }
    }
}

TEST(Kinetic, sums_tensors_by_group)
{
    System system = oscillators(11, 4, 5);
    auto state = particles_in_input_order<Double>(system);
    for (std::size_t i = 0; i < 11; ++i) { state.temperature_group[i] = i < 4 ? 0 : 1; }
    CpuQueue queue(2);
    const KineticEnergies kinetic = compute_kinetic(queue, state, 2);
    for (int g = 0; g < 2; ++g)
    {
        Mat3<double> expected;
        for (std::size_t i = g == 0 ? 0 : 4; i < (g == 0 ? 4u : 11u); ++i) { expected += 2.0 * outer(system.v[i], system.v[i]); }
        for (int a = 0; a < 3; ++a)
        {
            for (int b = 0; b < 3; ++b) { EXPECT_NEAR(kinetic.group[static_cast<std::size_t>(g)][a][b], expected[a][b], 1e-12); }
        }
    }
    EXPECT_NEAR(kinetic.energy(), kinetic.energy(0) + kinetic.energy(1), 1e-12);
    EXPECT_NEAR(temperature(0.5 * 33 * units::boltzmann * 321, 33), 321, 1e-10);
    EXPECT_EQ(temperature(1, 0), 0);
}

TEST(Com, motion_of_each_group_is_removed_and_nothing_else)
{
    const System system = toy_system({{single_atom(2), 10}, {single_atom(30), 10}, {single_atom(5), 3}}, oscillator_box, 300, 6);
    auto state = particles_in_input_order<Double>(system);
    AtomGroups groups;
    groups.count = 2;
    for (int i = 0; i < 23; ++i) { groups.of_atom.push_back(i >= 20 ? AtomGroups::none : static_cast<std::uint8_t>(i % 2)); }
    CpuQueue queue(2);
    const std::vector<ComMotion> before = finish_com_motion(sum_com_motion(queue, groups, state));
    const double energy = compute_kinetic(queue, state, 1).energy();
    remove_com_motion(queue, groups, before, state);
    const double removed = kinetic_energy(before);
    EXPECT_NEAR(energy - compute_kinetic(queue, state, 1).energy(), removed, 1e-12 * energy);
    EXPECT_GT(removed, 0);
    for (const ComMotion& after : finish_com_motion(sum_com_motion(queue, groups, state)))
    {
        EXPECT_LT(norm(after.velocity), 1e-15);
    }
    for (std::size_t i = 0; i < 23; ++i)
    {
        const Vec3<double> change = system.v[i] - state.v.get(i);
        EXPECT_LT(norm(change - (i >= 20 ? Vec3<double>{} : before[i % 2].velocity)), 1e-14);
    }
}

// Of two clusters, after which their momentum and angular momentum about any point are 0.
TEST(Com, rotation_of_each_group_is_removed_and_nothing_else)
{
    const System system = toy_system({{single_atom(2), 10}, {single_atom(30), 10}}, oscillator_box, 300, 6);
    auto state = particles_in_input_order<Double>(system);
    AtomGroups groups;
    groups.count = 2;
    for (int i = 0; i < 20; ++i) { groups.of_atom.push_back(static_cast<std::uint8_t>(i % 2)); }
    CpuQueue queue(2);
    const auto motions = [&] {
        return finish_com_motion(sum_com_motion(queue, groups, state, ComMode::Angular), {}, ComMode::Angular);
    };
    const std::vector<ComMotion> before = motions();
    const double energy = compute_kinetic(queue, state, 1).energy();
    remove_com_motion(queue, groups, before, state);
    EXPECT_NEAR(energy - compute_kinetic(queue, state, 1).energy(), kinetic_energy(before), 1e-12 * energy);
    Vec3<double> momentum[2], angular[2];
    for (std::size_t i = 0; i < 20; ++i)
    {
        const double mass = 1 / state.inverse_mass[i];
        momentum[i % 2] += mass * state.v.get(i);
        angular[i % 2] += mass * cross(state.box.to_nm(state.x.get(i)), state.v.get(i));
        const ComMotion& of_group = before[i % 2];
        const Vec3<double> rigid =
            of_group.velocity + cross(of_group.rotation.rate, state.box.to_nm(state.x.get(i)) - of_group.rotation.centre);
        EXPECT_LT(norm(system.v[i] - state.v.get(i) - rigid), 1e-13);
    }
    for (int g = 0; g < 2; ++g)
    {
        EXPECT_LT(norm(momentum[g]), 1e-12);
        EXPECT_LT(norm(angular[g]), 1e-12);
        EXPECT_GT(norm(before[static_cast<std::size_t>(g)].rotation.rate), 1e-3);
        EXPECT_LT(norm(motions()[static_cast<std::size_t>(g)].rotation.rate), 1e-12);
    }
}

TEST(Com, atoms_on_a_line_keep_their_rotation)
{
    for (const int atoms : {1, 2})
    {
        const System system = toy_system({{single_atom(2), atoms}}, oscillator_box, 300, 6);
        const auto state = particles_in_input_order<Double>(system);
        CpuQueue queue(1);
        const auto sums = sum_com_motion(queue, {}, state, ComMode::Angular);
        EXPECT_EQ(finish_com_motion(sums, {}, ComMode::Angular)[0].rotation.rate, Vec3<double>{});
    }
}

namespace {

struct Stochastic
{
    double mean_kinetic, mean_potential, conserved_spread;
};

// Langevin oscillators at 300 K from a cold start; averages per degree of freedom in units of kT / 2 after equilibration.
template <class N>
Stochastic run_stochastic(double dt, double tau, int steps, ParticleState<N>& state, CpuQueue& queue)
{
    const double k = 2000, kt = units::boltzmann * 300;
    RunParameters parameters;
    parameters.dt = dt;
    parameters.temperature_groups = {{"System", tau, 300}};
    const StochasticDynamics dynamics = make_stochastic_dynamics(parameters, 4711);
    ClusterArray<typename N::Real> before;
    const double dof = 3.0 * static_cast<double>(state.slot_of_global.size());
    double heat = 0, kinetic_before = compute_kinetic(queue, state, 1).energy(), first = 0;
    Stochastic result{};
    const int warm = steps / 6;
    for (int s = 0; s < steps; ++s)
    {
        const double potential = pull_to_centre(k, state);
        kick(queue, kick_coefficients(dt, 1, {}), state);
        friction_and_noise(queue, dynamics, s, state, before);
        drift(queue, dt, state);
        const double gained = from_sum(finish_stochastic_step(queue, before, state));
        const double kinetic_after = compute_kinetic(queue, state, 1).energy();
        const double conserved = potential + 0.5 * (kinetic_before + kinetic_after) - heat - 0.5 * gained;
        heat += gained;
        kinetic_before = kinetic_after;
        if (s == warm) { first = conserved; }
        if (s >= warm)
        {
            result.mean_kinetic += kinetic_after / (0.5 * kt * dof * (steps - warm));
            result.mean_potential += potential / (0.5 * kt * dof * (steps - warm));
            result.conserved_spread = std::max(result.conserved_spread, std::abs(conserved - first) / (kt * dof));
        }
    }
    return result;
}

} // namespace

TEST(StochasticDynamics, sample_the_canonical_distribution_of_an_oscillator)
{
    const System system = oscillators(100, 10, 7);
    auto state = particles_in_input_order<Mixed>(system);
    CpuQueue queue(1);
    const Stochastic result = run_stochastic(0.005, 0.5, 12000, state, queue);
    // 300 degrees of freedom for 50 ps with memory 0.5 ps: standard error of the energies sqrt(2 / (300 * 50)) = 1.2 %. In the
    // impulse form positions sample their distribution exactly; velocities are half a step old.
    EXPECT_NEAR(result.mean_potential, 1, 0.04);
    EXPECT_NEAR(result.mean_kinetic, 1, 0.04);
}

TEST(StochasticDynamics, account_for_the_heat_of_the_bath)
{
    const System system = oscillators(20, 10, 8);
    auto state = particles_in_input_order<Double>(system);
    CpuQueue queue(1);
    EXPECT_LT(run_stochastic(0.001, 0.5, 6000, state, queue).conserved_spread, 2e-3);
}

TEST(StochasticDynamics, do_not_depend_on_threads_or_the_order_of_slots)
{
    const System system = oscillators(24, 10, 9);
    auto straight = particles_in_input_order<MixedReproducible>(system);
    auto reversed = straight;
    for (std::size_t i = 0; i < 24; ++i)
    {
        reversed.x.set(i, straight.x.get(23 - i));
        reversed.v.set(i, straight.v.get(23 - i));
        reversed.global_of_slot[i] = static_cast<std::int32_t>(23 - i);
        reversed.slot_of_global[i] = static_cast<std::int32_t>(23 - i);
    }
    CpuQueue single(1), team(3);
    const Stochastic a = run_stochastic(0.005, 0.1, 60, straight, single);
    const Stochastic b = run_stochastic(0.005, 0.1, 60, reversed, team);
    for (std::size_t i = 0; i < 24; ++i)
    {
        EXPECT_EQ(straight.x.get(i), reversed.x.get(23 - i));
        EXPECT_EQ(straight.v.get(i), reversed.v.get(23 - i));
    }
    EXPECT_EQ(a.mean_kinetic, b.mean_kinetic);
}
