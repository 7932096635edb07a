// SPDX-License-Identifier: Apache-2.0
// Virtual sites of all kinds in a state: where they are, how fast, and what becomes of the forces on them.
#include "dynamics/virtual_sites.hpp"

#include "dynamics/toy_systems.hpp"
#include "model/virtual_sites.hpp"

#include <gtest/gtest.h>
#include <numeric>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr std::size_t first_site = 4, atoms_of_copy = 12;

System system_with_sites()
{
    System system = toy_system({{molecule_with_sites(), 20}, {rigid_water(), 10}}, {2.9, 2.7, 3.1}, 300, 3);
    place_sites(system.topology, system.box, system.x);
    return system;
}

// Springs between a site and the next one of a copy, of length 0: an energy of all sites, and their forces.
template <class N>
double pull_sites(std::size_t copies, ParticleState<N>& state, Mat3<double>& virial)
{
    using Sum = typename N::ForceSum;
    std::vector<Vec3<double>> f(state.slots());
    double energy = 0;
    for (std::size_t copy = 0; copy < copies; ++copy)
    {
        for (std::size_t a = first_site; a + 1 < atoms_of_copy; ++a)
        {
            const std::size_t i = copy * atoms_of_copy + a;
            const Vec3<double> r = state.box.difference(state.x.get(i), state.x.get(i + 1));
            const double k = 1000 + 100.0 * static_cast<double>(a);
            energy += 0.5 * k * norm2(r);
            f[i] -= k * r, f[i + 1] += k * r;
            virial += -0.5 * outer(r, -k * r);
        }
    }
    for (std::size_t i = 0; i < f.size(); ++i)
    {
        state.f.set(i, {to_sum<Sum>(f[i].x), to_sum<Sum>(f[i].y), to_sum<Sum>(f[i].z)});
    }
    return energy;
}

double energy_of(const System& system, std::size_t copies)
{
    System placed = system;
    place_sites(placed.topology, placed.box, placed.x);
    auto state = particles_in_input_order<Double>(placed);
    Mat3<double> ignored;
    return pull_sites(copies, state, ignored);
}

template <class F>
double derivative(F&& of, double h)
{
    return (8 * (of(h) - of(-h)) - (of(2 * h) - of(-2 * h))) / (12 * h);
}

template <class N>
class VirtualSitesIn : public ::testing::Test
{
};
using Policies = ::testing::Types<Mixed, Double, MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(VirtualSitesIn, Policies);

} // namespace

TYPED_TEST(VirtualSitesIn, a_state_are_where_the_model_has_them_whatever_the_threads)
{
    using N = TypeParam;
    const System system = system_with_sites();
    const VirtualSites sites(system.topology);
    const SiteAssignment all = sites.assign_all(system.topology);
    auto first = particles_in_input_order<N>(system);
    for (std::size_t atom = 0; atom < 20 * atoms_of_copy; ++atom)
    {
        if (atom % atoms_of_copy >= first_site) { first.x.set(atom, {}); }
    }
    auto second = first;
    CpuQueue one(1), three(3);
    sites.construct(one, all, first), sites.construct(three, all, second);
    EXPECT_EQ(first.x.values(), second.x.values());
    EXPECT_EQ(first.v.values(), second.v.values());
    const double rounding =
        N::precision == Precision::Mixed ? 1e-8 : 1e-14; // of fractions, in nm, over three generations of sites
    for (std::size_t atom = 0; atom < system.x.size(); ++atom)
    {
        EXPECT_LE(norm(first.box.difference(first.x.get(atom), first.box.to_fixed(system.x[atom]))), rounding) << atom;
    }
}

TEST(VirtualSitesInMotion, have_the_velocity_of_their_place)
{
    const System system = system_with_sites();
    const VirtualSites sites(system.topology);
    CpuQueue queue(2);
    auto state = particles_in_input_order<Double>(system);
    sites.construct(queue, sites.assign_all(system.topology), state);
    const auto place_after = [&](double time) {
        System moved = system;
        for (std::size_t i = 0; i < moved.x.size(); ++i) { moved.x[i] += time * system.v[i]; }
        place_sites(moved.topology, moved.box, moved.x);
        return moved.x;
    };
    constexpr double h = 2e-4; // ps
    const auto before = place_after(-h), after = place_after(h), before2 = place_after(-2 * h), after2 = place_after(2 * h);
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        const Vec3<double> v = (1 / (12 * h)) * (8.0 * (after[i] - before[i]) - (after2[i] - before2[i]));
        EXPECT_LE(norm(state.v.get(i) - v), 1e-6 * (1 + norm(v))) << i;
    }
}

// Energies of springs between sites, as a function of the atoms alone.
TEST(VirtualSitesInMotion, hand_over_forces_that_are_the_gradient_and_a_virial_that_is_the_strain_derivative)
{
    constexpr std::size_t copies = 20;
    const System system = system_with_sites();
    const VirtualSites sites(system.topology);
    CpuQueue queue(2);
    auto state = particles_in_input_order<Double>(system);
    Mat3<double> virial;
    pull_sites(copies, state, virial);
    std::vector<EnergySums<Double>> correction(2);
    sites.spread_forces(queue, sites.assign_all(system.topology), state, std::span(correction));
    for (const EnergySums<Double>& part : correction)
    {
        for (int k = 0; k < 9; ++k) { virial[k / 3][k % 3] += part.virial[static_cast<std::size_t>(k)]; }
    }
    double scale = 0;
    const std::vector<Vec3<double>> forces = forces_of(state);
    for (const Vec3<double>& f : forces) { scale = std::max(scale, norm(f)); }
    for (std::size_t i = 0; i < copies * atoms_of_copy; i += 5)
    {
        if (i % atoms_of_copy >= first_site)
        {
            EXPECT_EQ(forces[i], Vec3<double>{});
            continue;
        }
        for (int d = 0; d < 3; ++d)
        {
            const double gradient = derivative(
                [&](double by) {
                    System moved = system;
                    moved.x[i][d] += by;
                    return energy_of(moved, copies);
                },
                1e-5);
            EXPECT_NEAR(forces[i][d], -gradient, 1e-8 * scale) << i << " " << d;
        }
    }
    for (int a = 0; a < 3; ++a)
    {
        for (int b = 0; b < 3; ++b)
        {
            // x_a + strain x_b within each copy: its springs know no more of the box.
            const double slope = derivative(
                [&](double strain) {
                    System strained = system;
                    for (Vec3<double>& x : strained.x) { x[a] += strain * x[b]; }
                    strained.box = Box<double>(100, 100, 100);
                    return energy_of(strained, copies);
                },
                1e-5);
            EXPECT_NEAR(2 * virial[a][b], slope, 1e-7 * 2 * std::abs(trace(virial))) << a << b;
        }
    }
}

TYPED_TEST(VirtualSitesIn, hand_over_all_of_a_force)
{
    using N = TypeParam;
    const System system = system_with_sites();
    const VirtualSites sites(system.topology);
    CpuQueue queue(3);
    auto state = particles_in_input_order<N>(system);
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        const double s = static_cast<double>(i);
        state.f.set(i, {to_sum<typename N::ForceSum>(100 * std::sin(s)), to_sum<typename N::ForceSum>(70 * std::sin(2 * s)),
                        to_sum<typename N::ForceSum>(90 * std::cos(s))});
    }
    const auto total = [&] {
        const std::vector<Vec3<double>> forces = forces_of(state);
        return std::accumulate(forces.begin(), forces.end(), Vec3<double>{});
    };
    const Vec3<double> before = total();
    sites.spread_forces(queue, sites.assign_all(system.topology), state);
    if (N::summation == Summation::Reproducible) { EXPECT_EQ(total(), before); }
    else { EXPECT_LE(norm(total() - before), N::precision == Precision::Mixed ? 1e-2 : 1e-10); }
}
