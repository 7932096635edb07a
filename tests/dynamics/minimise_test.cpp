// SPDX-License-Identifier: Apache-2.0
// Minimisers on surfaces whose minimum is known.
#include "dynamics/minimise/minimiser.hpp"
#include "dynamics/minimise/points.hpp"
#include "dynamics/toy_systems.hpp"
#include "support/constraint_deviation.hpp"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

using namespace parhelion;
using namespace parhelion::test;

namespace {

const Vec3<double> box_of_springs{4, 4, 4};

// Springs of different stiffness from the atoms of a system to the points of `home`.
class Springs final : public EnergySurface
{
public:
    Springs(const System& system, std::vector<Vec3<double>> home, const RunParameters& parameters = {})
        : state(particles_in_input_order<Double>(system)), home_(std::move(home)),
          constraints_(system.topology, parameters, ConstraintMasses::Equal),
          assignment_(constraints_.assign_all(system.topology))
    {
    }

    double energy()
    {
        double energy = 0;
        for (std::size_t i = 0; i < home_.size(); ++i)
        {
            const double k = 100 + 50 * static_cast<double>(i % 4);
            const Vec3<double> r = state.box.difference(state.x.get(i), state.box.to_fixed(home_[i]));
            state.f.set(i, -k * r);
            energy += 0.5 * k * norm2(r);
        }
        return energy;
    }
    std::optional<SurfacePoint> evaluate() override
    {
        if (!holds_) { return SurfacePoint{.potential = std::nan("")}; }
        ++evaluations;
        const bool is_bad = evaluations == bad_evaluation || evaluations > last_good_evaluation;
        const double potential = is_bad ? std::nan("") : energy();
        const ForcesAtRest<Double> at_rest = forces_at_rest(queue_, constraints_, assignment_, state, ConstraintMasses::Equal);
        return points_.take(queue_, potential, at_rest.free, state);
    }
    void accept() override
    {
        points_.accept(queue_, state);
        base_ = state.x;
    }
    void move(double factor) override
    {
        holds_ = points_.move(queue_, constraints_, assignment_, factor, state);
        moves.push_back(farthest_moved());
    }
    void return_to_base() override { points_.return_to_base(queue_, state); }
    void combine(int into, const Term& a, const Term& b) override { points_.combine(queue_, into, a, b); }
    double product(int a, int b) override { return points_.product(queue_, a, b); }
    double largest(int vector) override { return points_.largest(vector); }

    // Returns the longest way of an atom from the base, nm.
    double farthest_moved() const
    {
        double farthest = 0;
        for (std::size_t slot = 0; slot < state.slots(); ++slot)
        {
            if (state.global_of_slot[slot] < 0) { continue; }
            farthest = std::max(farthest, norm(state.box.difference(state.x.get(slot), base_.get(slot))));
        }
        return farthest;
    }

    ParticleState<Double> state;
    int evaluations = 0;
    int bad_evaluation = -1, last_good_evaluation = 1 << 30; // the energies of others are not numbers
    std::vector<double> moves;                               // nm

private:
    CpuQueue queue_{1};
    const std::vector<Vec3<double>> home_;
    const Constraints constraints_;
    const ConstraintAssignment assignment_;
    MinimiserPoints<Double> points_;
    ClusterArray<std::uint64_t> base_;
    bool holds_ = true;
};

// Keeps what a minimiser tells, and ends it after a number of evaluations.
struct Listener final : MinimiserListener
{
    int left = 2000;
    std::vector<SurfacePoint> bases;
    std::function<void()> at_base = [] {};

    void accepted(const SurfacePoint& base) override
    {
        bases.push_back(base);
        at_base();
    }
    bool goes_on() override { return left-- > 0; }
};

std::vector<Vec3<double>> displaced_homes(std::vector<Vec3<double>> x, double by)
{
    for (std::size_t i = 0; i < x.size(); ++i) { x[i] += by * Vec3<double>{std::sin(i + 1.0), std::cos(3.0 * i), 0.5}; }
    return x;
}

// Rigid water and methyl groups; constraints hold to 1e-10.
struct ConstrainedSprings
{
    System system = toy_system({{rigid_water(), 5}, {methyl(), 3}}, box_of_springs, 300, 4);

    Springs displaced() const
    {
        RunParameters parameters;
        parameters.lincs_order = 8, parameters.lincs_iterations = 4;
        return Springs(system, displaced_homes(system.x, 0.05), parameters);
    }
};

} // namespace

TEST(SteepestDescent, finds_the_minimum_and_never_accepts_a_higher_energy)
{
    const System system = toy_system({{single_atom(10), 20}}, box_of_springs, 300, 4);
    const std::vector<Vec3<double>> home = displaced_homes(system.x, 0.3);
    Springs springs(system, home);
    Listener listener;
    EXPECT_EQ(steepest_descent(springs, {0.01, 0.01}, listener), MinimisationEnd::Converged);
    ASSERT_GT(listener.bases.size(), 10u);
    for (std::size_t i = 1; i < listener.bases.size(); ++i)
    {
        EXPECT_LT(listener.bases[i].potential, listener.bases[i - 1].potential);
    }
    EXPECT_LE(listener.bases.back().largest_force, 0.01);
    EXPECT_NEAR(springs.energy(), listener.bases.back().potential, 1e-12);
    for (std::size_t i = 0; i < home.size(); ++i)
    {
        EXPECT_LT(norm(springs.state.box.difference(springs.state.x.get(i), springs.state.box.to_fixed(home[i]))), 1e-4);
        EXPECT_EQ(norm(springs.state.v.get(i)), 0);
    }
}

TEST(SteepestDescent, lets_steps_grow_by_a_fifth_and_shrink_to_a_fifth)
{
    const System system = toy_system({{single_atom(10), 20}}, box_of_springs, 300, 4);
    Springs springs(system, displaced_homes(system.x, 0.3));
    Listener listener;
    std::vector<bool> is_base(1, true);
    listener.at_base = [&] {
        is_base.resize(static_cast<std::size_t>(springs.evaluations));
        is_base.back() = true;
    };
    steepest_descent(springs, {0.01, 0.01}, listener);
    ASSERT_GT(springs.moves.size(), 10u);
    EXPECT_NEAR(springs.moves[0], 0.01, 1e-12);
    bool have_shrunk = false;
    for (std::size_t i = 1; i < springs.moves.size(); ++i)
    {
        const double factor = is_base[i] ? 1.2 : 0.2;
        have_shrunk |= !is_base[i];
        EXPECT_NEAR(springs.moves[i], factor * springs.moves[i - 1], 1e-11 * springs.moves[i]) << "move " << i;
    }
    EXPECT_TRUE(have_shrunk);
}

TEST(SteepestDescent, keeps_constraints_and_balances_the_forces_along_them)
{
    const ConstrainedSprings constrained;
    const System& system = constrained.system;
    Springs springs = constrained.displaced();
    Listener listener;
    listener.left = 5000;
    EXPECT_EQ(steepest_descent(springs, {0.01, 0.1}, listener), MinimisationEnd::Converged);
    EXPECT_LT(deviation_of_constraints(system.topology, springs.state).max, 1e-10);
    double unprojected = 0;
    for (std::size_t i = 0; i < system.x.size(); ++i) { unprojected = std::max(unprojected, norm(springs.state.f.get(i))); }
    EXPECT_GT(unprojected, 1); // forces along the constraints remain
}

TEST(SteepestDescent, takes_back_a_point_whose_energy_is_not_finite)
{
    const System system = toy_system({{single_atom(10), 3}}, box_of_springs, 300, 4);
    Springs springs(system, displaced_homes(system.x, 0.2));
    springs.bad_evaluation = 2;
    Listener listener;
    listener.left = 2;
    EXPECT_EQ(steepest_descent(springs, {0.01, 1e-6}, listener), MinimisationEnd::Stopped);
    ASSERT_EQ(springs.moves.size(), 2u);
    EXPECT_NEAR(springs.moves[1], 0.2 * 0.01, 1e-12);
    ASSERT_EQ(listener.bases.size(), 2u); // the first point and the third
    EXPECT_LT(listener.bases[1].potential, listener.bases[0].potential);
}

TEST(SteepestDescent, ends_at_the_base_when_no_position_changes_any_more)
{
    const System system = toy_system({{single_atom(10), 3}}, box_of_springs, 300, 4);
    Springs springs(system, displaced_homes(system.x, 0.2));
    springs.last_good_evaluation = 3;
    Listener listener;
    EXPECT_EQ(steepest_descent(springs, {0.01, 1e-6}, listener), MinimisationEnd::MachinePrecision);
    EXPECT_EQ(listener.bases.size(), 3u);
    EXPECT_EQ(springs.energy(), listener.bases.back().potential);
}

TEST(SteepestDescent, ends_at_the_base_if_the_listener_says_so)
{
    const System system = toy_system({{single_atom(10), 3}}, box_of_springs, 300, 4);
    Springs springs(system, displaced_homes(system.x, 0.2));
    springs.bad_evaluation = 2;
    Listener listener;
    listener.left = 1;
    EXPECT_EQ(steepest_descent(springs, {0.01, 1e-6}, listener), MinimisationEnd::Stopped);
    EXPECT_EQ(springs.energy(), listener.bases.back().potential);
}

namespace {

// A surface of coordinates that belong to no atoms: a function of x gives the energy and sets the forces. Each coordinate counts
// as an atom.
class Coordinates final : public EnergySurface
{
public:
    using Values = std::vector<double>;
    using Function = std::function<double(const Values& x, Values& forces)>;
    Coordinates(Values start, Function function) : x(std::move(start)), function_(std::move(function)) {}

    std::optional<SurfacePoint> evaluate() override
    {
        ++evaluations;
        SurfacePoint point{.potential = function_(x, vector(minimiser_vector::new_force)), .has_moved = x != base_};
        for (const double f : vector(minimiser_vector::new_force))
        {
            point.largest_force = std::max(point.largest_force, std::abs(f));
        }
        return point;
    }
    void accept() override
    {
        base_ = x;
        std::swap(vector(minimiser_vector::force), vector(minimiser_vector::new_force));
    }
    void move(double factor) override
    {
        const Values& search = vector(minimiser_vector::search);
        for (std::size_t i = 0; i < x.size(); ++i) { x[i] = base_[i] + factor * search[i]; }
    }
    void return_to_base() override { x = base_; }
    void combine(int into, const Term& a, const Term& b) override
    {
        const Values of_a = vector(a.vector), of_b = vector(b.vector);
        Values& sum = vector(into);
        for (std::size_t i = 0; i < x.size(); ++i) { sum[i] = a.factor * of_a[i] + b.factor * of_b[i]; }
    }
    double product(int a, int b) override
    {
        return std::inner_product(vector(a).begin(), vector(a).end(), vector(b).begin(), 0.0);
    }
    double largest(int number) override
    {
        double largest = 0;
        for (const double value : vector(number)) { largest = std::max(largest, std::abs(value)); }
        return largest;
    }

    Values x;
    int evaluations = 0;

private:
    Values& vector(int number)
    {
        Values& values = vectors_[number];
        values.resize(x.size());
        return values;
    }
    Function function_;
    Values base_;
    std::map<int, Values> vectors_;
};

using Minimiser = MinimisationEnd (*)(EnergySurface&, const MinimiserSettings&, MinimiserListener&);
constexpr Minimiser along_lines[] = {conjugate_gradients, l_bfgs};

// Wells of five curvatures (condition number 100), six coordinates of each.
Coordinates wells()
{
    Coordinates::Values start;
    for (int i = 0; i < 30; ++i) { start.push_back(0.01 * std::sin(i + 1.0)); }
    return Coordinates(start, [](const Coordinates::Values& x, Coordinates::Values& forces) {
        constexpr double curvatures[] = {100, 300, 1000, 3000, 10000};
        double energy = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
        {
            energy += 0.5 * curvatures[i % 5] * x[i] * x[i];
            forces[i] = -curvatures[i % 5] * x[i];
        }
        return energy;
    });
}

// Rosenbrock's valley, which bends. Its minimum is at 1.
Coordinates valleys()
{
    return Coordinates({-1.2, 1}, [](const Coordinates::Values& x, Coordinates::Values& forces) {
        double energy = 0;
        for (std::size_t i = 0; i < x.size(); i += 2)
        {
            const double a = 1 - x[i], b = x[i + 1] - x[i] * x[i];
            energy += a * a + 100 * b * b;
            forces[i] = 2 * a + 400 * x[i] * b;
            forces[i + 1] = -200 * b;
        }
        return energy;
    });
}

} // namespace

TEST(AlongLines, a_surface_of_five_curvatures_takes_few_lines)
{
    Coordinates slow = wells();
    Listener listener;
    listener.left = 100'000;
    EXPECT_EQ(steepest_descent(slow, {0.01, 1e-6}, listener), MinimisationEnd::Converged);
    for (const Minimiser minimiser : along_lines)
    {
        Coordinates surface = wells();
        Listener fast;
        EXPECT_EQ(minimiser(surface, {0.001, 1e-6}, fast), MinimisationEnd::Converged);
        // Conjugate gradients take a line for each curvature.
        EXPECT_LE(fast.bases.size(), 1u + (minimiser == conjugate_gradients ? 5u : 25u));
        EXPECT_LT(surface.evaluations, slow.evaluations / 4);
        for (const double x : surface.x) { EXPECT_NEAR(x, 0, 1e-8); }
    }
}

TEST(AlongLines, follow_a_valley_that_bends)
{
    for (const Minimiser minimiser : along_lines)
    {
        Coordinates surface = valleys();
        Listener listener;
        EXPECT_EQ(minimiser(surface, {0.01, 1e-6}, listener), MinimisationEnd::Converged);
        EXPECT_LT(surface.evaluations, 150);
        for (const double x : surface.x) { EXPECT_NEAR(x, 1, 1e-5); }
        for (std::size_t i = 1; i < listener.bases.size(); ++i)
        {
            EXPECT_LE(listener.bases[i].potential, listener.bases[i - 1].potential * (1 + 1e-12));
        }
    }
}

TEST(AlongLines, take_back_points_without_an_energy)
{
    for (const Minimiser minimiser : along_lines)
    {
        const Coordinates::Values start{0.5};
        // There is no energy beyond 0.56; the minimum is at 0.55.
        Coordinates surface(start, [](const Coordinates::Values& x, Coordinates::Values& forces) {
            forces[0] = -100 * (x[0] - 0.55);
            return x[0] > 0.56 ? std::nan("") : 50 * (x[0] - 0.55) * (x[0] - 0.55);
        });
        Listener listener;
        EXPECT_EQ(minimiser(surface, {0.09, 1e-6}, listener), MinimisationEnd::Converged);
        EXPECT_NEAR(surface.x[0], 0.55, 1e-8);
    }
}

TEST(AlongLines, end_at_the_base_if_no_energy_is_lower)
{
    for (const Minimiser minimiser : along_lines)
    {
        const Coordinates::Values start{0.5, 0.25};
        Coordinates surface(start, [](const Coordinates::Values& x, Coordinates::Values& forces) {
            forces[0] = 100, forces[1] = 0; // the energy rises along this force
            return 100 * x[0];
        });
        Listener listener;
        EXPECT_EQ(minimiser(surface, {0.01, 1e-6}, listener), MinimisationEnd::NoLowerEnergy);
        EXPECT_EQ(surface.x, start);
    }
}

TEST(AlongLines, end_at_the_base_if_the_listener_says_so)
{
    for (const Minimiser minimiser : along_lines)
    {
        for (const int evaluations : {0, 1, 2, 3, 4, 7})
        {
            Coordinates surface = valleys();
            Listener listener;
            listener.left = evaluations;
            EXPECT_EQ(minimiser(surface, {0.01, 1e-6}, listener), MinimisationEnd::Stopped);
            EXPECT_EQ(surface.evaluations, 1 + evaluations);
            EXPECT_EQ(surface.evaluate()->potential, listener.bases.back().potential);
        }
    }
}

TEST(AlongLines, move_atoms_to_their_homes)
{
    const System system = toy_system({{single_atom(10), 20}}, box_of_springs, 300, 4);
    const std::vector<Vec3<double>> home = displaced_homes(system.x, 0.3);
    for (const Minimiser minimiser : along_lines)
    {
        Springs springs(system, home);
        Listener listener;
        EXPECT_EQ(minimiser(springs, {0.01, 1e-3}, listener), MinimisationEnd::Converged);
        EXPECT_LT(springs.evaluations, 60);
        for (std::size_t i = 0; i < home.size(); ++i)
        {
            EXPECT_LT(norm(springs.state.box.difference(springs.state.x.get(i), springs.state.box.to_fixed(home[i]))), 1e-5);
        }
    }
}

TEST(AlongLines, conjugate_gradients_keep_constraints)
{
    const ConstrainedSprings constrained;
    const System& system = constrained.system;
    Springs springs = constrained.displaced();
    Listener listener;
    EXPECT_EQ(conjugate_gradients(springs, {0.01, 1e-3}, listener), MinimisationEnd::Converged);
    EXPECT_LT(deviation_of_constraints(system.topology, springs.state).max, 1e-10);
    Springs slow = constrained.displaced();
    Listener other;
    other.left = 20'000;
    EXPECT_EQ(steepest_descent(slow, {0.01, 1e-3}, other), MinimisationEnd::Converged);
    EXPECT_NEAR(listener.bases.back().potential, other.bases.back().potential, 1e-6 * other.bases.back().potential);
    EXPECT_LT(listener.bases.size(), other.bases.size());
    EXPECT_LE(2000 - listener.left, 3 * static_cast<int>(listener.bases.size())); // two or three evaluations a line
}
