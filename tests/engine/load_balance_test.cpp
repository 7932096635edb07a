// SPDX-License-Identifier: Apache-2.0
// Borders of cells that move in a run: a box of which 60 % are empty gets thinner cells where its atoms are. With reproducible
// sums no bit depends on the borders, nor on where a run is stopped.
#include "run_helpers.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::HasSubstr;

namespace {

constexpr std::int64_t whole = 100; // steps: the times of ranks are compared once in ten lists, and each step has one

// The system at the lower end of a box that is 2.5 times as long along dimension d. Energies and a list in every step.
Refdata slab_of(const std::string& name, int d)
{
    Refdata data = load_nve(name);
    const Topology& topology = data.system.topology;
    for (std::int64_t atom = 0; atom < topology.atom_count(); ++atom) // molecules are made whole before the box gets longer
    {
        const auto first = static_cast<std::size_t>(topology.locate(static_cast<std::int32_t>(atom)).molecule_first_atom);
        const Vec3<double>& of_first = data.system.x[first];
        Vec3<double>& x = data.system.x[static_cast<std::size_t>(atom)];
        x = of_first + data.system.box.image(x - of_first);
    }
    Vec3<double> edges = data.system.box.diagonal();
    edges[d] *= 2.5;
    data.system.box = Box<double>(edges);
    data.parameters.dispersion_correction = DispersionCorrection::None;
    return data;
}

SimulationOptions options_for(const Grid& grid, Balancing balancing, Summation summation = Summation::Reproducible)
{
    SimulationOptions options;
    options.summation = summation;
    options.threads = 1;
    options.grid = grid;
    options.balancing = balancing;
    return options;
}

struct Outcome
{
    Frame frame;
    std::vector<Observables> observables;
    RunSummary summary;
    std::vector<std::string> messages;
};

Outcome run(const Refdata& data, const SimulationOptions& options, std::int64_t steps = whole, const SavedState* saved = nullptr)
{
    Simulation simulation(data.system, data.parameters, options, saved);
    Recorder recorder;
    RunSummary summary = simulation.run(steps, recorder, never);
    return {simulation.frame(), recorder.observables, std::move(summary), recorder.messages};
}

void expect_same_bits(const Outcome& a, const Outcome& b)
{
    EXPECT_EQ(a.frame.step, b.frame.step);
    EXPECT_EQ(a.frame.x, b.frame.x);
    EXPECT_EQ(a.frame.v, b.frame.v);
    ASSERT_FALSE(b.observables.empty());
    EXPECT_EQ(a.observables.back().forces.energy, b.observables.back().forces.energy);
    EXPECT_EQ(a.observables.back().virial, b.observables.back().virial);
}

// The slab is below 0.4: half of it is below 0.2.
void expect_borders_moved(const Outcome& outcome, std::size_t d)
{
    ASSERT_TRUE(outcome.summary.balance);
    const Balance& balance = *outcome.summary.balance;
    EXPECT_GT(balance.moves, 0);
    EXPECT_GT(balance.first_imbalance, 0.1);
    ASSERT_FALSE(balance.borders[d].empty());
    EXPECT_LT(balance.borders[d][0], 0.9 / static_cast<double>(balance.borders[d].size() + 1));
}

} // namespace

TEST(LoadBalanceOfRanks, moves_borders_and_changes_no_bit_of_reproducible_sums)
{
    const Refdata data = slab_of("spce", 2);
    const Outcome one = run(data, options_for({1, 1, 1}, Balancing::On));
    EXPECT_FALSE(one.summary.balance);
    for (const Grid& grid : {Grid{1, 1, 2}, Grid{1, 1, 3}, Grid{2, 1, 2}})
    {
        const Outcome still = run(data, options_for(grid, Balancing::Off));
        EXPECT_FALSE(still.summary.balance);
        expect_same_bits(still, one);
        const Outcome moving = run(data, options_for(grid, Balancing::Auto));
        expect_borders_moved(moving, 2);
        expect_same_bits(moving, one);
        EXPECT_THAT(moving.messages, ::testing::Contains(HasSubstr("Borders of cells move")));
    }
}

TEST(LoadBalanceOfRanks, shares_the_mesh_whatever_the_borders_are)
{
    Refdata data = slab_of("spce", 0);
    data.parameters.coulomb = CoulombKind::Pme;
    data.parameters.mesh_nx = 36, data.parameters.mesh_ny = data.parameters.mesh_nz = 18;
    const Outcome one = run(data, options_for({1, 1, 1}, Balancing::Off));
    for (const MeshMethod method : {MeshMethod::Shared, MeshMethod::Bricks, MeshMethod::Dedicated})
    {
        SimulationOptions options = options_for({2, 1, 1}, Balancing::Auto);
        options.pme = method;
        options.mesh_ranks = method == MeshMethod::Dedicated ? 1 : 0;
        const Outcome moving = run(data, options);
        expect_borders_moved(moving, 0);
        expect_same_bits(moving, one);
    }
}

TEST(LoadBalanceOfRanks, goes_on_from_a_checkpoint_with_other_borders)
{
    const Refdata data = slab_of("spce", 2);
    const Outcome through = run(data, options_for({1, 1, 2}, Balancing::Off));
    Simulation before(data.system, data.parameters, options_for({1, 1, 2}, Balancing::Auto));
    Recorder recorder;
    const RunSummary summary = before.run(60, recorder, never);
    ASSERT_TRUE(summary.balance);
    EXPECT_GT(summary.balance->moves, 0);
    const SavedState saved = before.saved_state();
    for (const Grid& grid : {Grid{1, 1, 2}, Grid{2, 1, 1}})
    {
        expect_same_bits(run(data, options_for(grid, Balancing::Auto), whole - saved.step, &saved), through);
    }
    // The same simulation goes on, too, with the borders that it has found, and says what it had to do in all.
    const RunSummary rest = before.run(40, recorder, never);
    EXPECT_EQ(before.frame().x, through.frame.x);
    EXPECT_GE(rest.balance->moves, summary.balance->moves);
}

TEST(LoadBalanceOfRanks, says_that_sums_depend_on_times_unless_they_are_reproducible)
{
    const Refdata data = slab_of("spce", 2);
    const Outcome fast = run(data, options_for({1, 1, 2}, Balancing::Auto, Summation::Fast));
    expect_borders_moved(fast, 2);
    EXPECT_THAT(fast.messages, ::testing::Contains(HasSubstr("--dlb off")));
    const Outcome reproducible = run(data, options_for({1, 1, 2}, Balancing::Auto));
    EXPECT_THAT(reproducible.messages, ::testing::Not(::testing::Contains(HasSubstr("--dlb off"))));
}
