// SPDX-License-Identifier: Apache-2.0
// Minimisers on surfaces whose minimum is known.
#include "dynamics/minimise/minimiser.hpp"
#include "dynamics/minimise/points.hpp"
#include "dynamics/toy_systems.hpp"
#include "support/constraint_deviation.hpp"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>

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
    void combine(std::span<const Term> terms, int into) override { points_.combine(queue_, terms, into); }

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
    const System system = toy_system({{rigid_water(), 5}, {methyl(), 3}}, box_of_springs, 300, 4);
    RunParameters parameters;
    parameters.lincs_order = 8;
    parameters.lincs_iterations = 4;
    Springs springs(system, displaced_homes(system.x, 0.05), parameters);
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
