// SPDX-License-Identifier: Apache-2.0
// Motion of a system dealt out to ranks by update groups: home atoms move as with one rank, nobody moves the halo, and what ranks
// sum adds up, in reproducible policies to the same bits.
#include "dynamics/com.hpp"
#include "dynamics/constraints.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/minimise/points.hpp"
#include "dynamics/stochastic.hpp"
#include "dynamics/toy_systems.hpp"
#include "dynamics/virtual_sites.hpp"
#include "model/update_groups.hpp"
#include "support/ranks.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr double step_length = 0.002;
constexpr int ranks = 4; // and one more, who has nothing

System molecules_for_ranks()
{
    return toy_system(
        {{rigid_water(), 37}, {methyl(), 5}, {ring(), 4}, {molecule_with_sites(), 6}, {triangle(), 3}, {single_atom(40), 9}},
        {3.1, 2.9, 3.3}, 300, 7);
}

// Every atom goes where the reference atom of its update group goes.
std::vector<int> owners_of_groups(const Topology& topology)
{
    const UpdateGroups groups = make_update_groups(topology);
    const std::vector<int> draw = random_owners(topology.atom_count(), ranks, 12);
    std::vector<int> owner(draw.size());
    for (std::size_t atom = 0; atom < owner.size(); ++atom)
    {
        const AtomAddress address = topology.locate(static_cast<std::int64_t>(atom));
        const MoleculeUpdateGroups& type = groups.molecule_types[static_cast<std::size_t>(address.type)];
        owner[atom] = draw[static_cast<std::size_t>(address.molecule_first_atom +
                                                    type.reference_of_atom[static_cast<std::size_t>(address.local)])];
    }
    return owner;
}

// A system on one rank and on several.
template <class N>
class DealtOut
{
public:
    explicit DealtOut(System s) : system(std::move(s)), whole(particles_in_input_order<N>(system))
    {
        for (std::size_t slot = 0; slot < whole.slots(); ++slot)
        {
            if (whole.global_of_slot[slot] < 0) { continue; }
            whole.temperature_group[slot] = slot % 3 == 0;
            for (int d = 0; d < 3; ++d) { push(slot, d, 100 * std::sin(7.0 * static_cast<double>(slot) + d)); }
        }
        for (int rank = 0; rank <= ranks; ++rank)
        {
            parts.push_back(state_of_rank(whole, owner, rank));
            const MoleculeList molecules = molecules_of_rank(system.topology, owner, rank);
            const auto is_home = [&](std::int32_t atom) { return owner[static_cast<std::size_t>(atom)] == rank; };
            assignments.push_back(constraints.assign(molecules, is_home));
            site_assignments.push_back(sites.assign(molecules, is_home));
        }
    }
    // Calls act(state, assignment) for one rank, then for each of several; returns what the one says and a list of what they say.
    template <class Act>
    auto act(Act&& action)
    {
        auto expected = action(whole, everything);
        std::vector<decltype(expected)> results;
        for (std::size_t rank = 0; rank < parts.size(); ++rank) { results.push_back(action(parts[rank], assignments[rank])); }
        return std::pair(expected, results);
    }
    // Home atoms have the positions and velocities of one rank, halo atoms the positions of before.
    void expect_same_motion(const ParticleState<N>& before) const
    {
        for (const ParticleState<N>& part : parts)
        {
            for (std::size_t slot = 0; slot < part.slots(); ++slot)
            {
                if (part.global_of_slot[slot] < 0) { continue; }
                const auto atom = static_cast<std::size_t>(part.global_of_slot[slot]);
                const bool home = slot < part.home_slots();
                EXPECT_EQ(part.x.get(slot), (home ? whole : before).x.get(atom));
                if (home) { EXPECT_EQ(part.v.get(slot), whole.v.get(atom)); }
            }
        }
    }

    System system;
    ParticleState<N> whole;
    std::vector<int> owner = owners_of_groups(system.topology);
    Constraints constraints{system.topology, RunParameters()};
    ConstraintAssignment everything = constraints.assign_all(system.topology);
    std::vector<ParticleState<N>> parts;
    std::vector<ConstraintAssignment> assignments;
    VirtualSites sites{system.topology};
    std::vector<SiteAssignment> site_assignments;
    CpuQueue queue{2};

private:
    void push(std::size_t slot, int d, double force)
    {
        auto f = whole.f.get(slot);
        f[d] = to_sum<typename N::ForceSum>(force);
        whole.f.set(slot, f);
    }
};

template <class N>
class Ranks : public ::testing::Test
{
};
using Policies = ::testing::Types<Mixed, Double, MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(Ranks, Policies);

// Bitwise in reproducible policies, else to rounding.
template <class N, class Sums>
void expect_sums(const std::pair<Sums, std::vector<Sums>>& result)
{
    Sums total{};
    if constexpr (requires { total.resize(0); }) { total.resize(result.first.size()); }
    for (const Sums& part : result.second) { add_elements(total, part); }
    bool some = false;
    for (std::size_t i = 0; i < total.size(); ++i)
    {
        some = some || result.first[i] != 0;
        if (N::summation == Summation::Reproducible) { EXPECT_EQ(total[i], result.first[i]); }
        else { EXPECT_NEAR(from_sum(total[i]), from_sum(result.first[i]), 1e-10 * (1 + std::abs(from_sum(result.first[i])))); }
    }
    EXPECT_TRUE(some);
}

} // namespace

TYPED_TEST(Ranks, kick_constrain_and_drift_as_one)
{
    using N = TypeParam;
    DealtOut<N> dealt(molecules_for_ranks());
    const auto before = dealt.whole;
    const auto result = dealt.act([&](auto& state, const auto& assignment) {
        kick(dealt.queue, kick_coefficients(step_length, 2, {}), state);
        const auto constrained = dealt.constraints.apply(dealt.queue, assignment, state, step_length, Virial::Compute);
        drift(dealt.queue, step_length, state);
        return constrained.virial_sum;
    });
    dealt.expect_same_motion(before);
    expect_sums<N>(result);
}

TYPED_TEST(Ranks, start_on_the_constraints_as_one)
{
    using N = TypeParam;
    System system = molecules_for_ranks();
    for (std::size_t i = 0; i < system.x.size(); ++i) { system.x[i].x += 0.001 * std::sin(static_cast<double>(i)); }
    DealtOut<N> dealt(std::move(system));
    const auto before = dealt.whole;
    dealt.act([&](auto& state, const auto& assignment) {
        return constrain_start(dealt.queue, dealt.constraints, assignment, state, step_length).failures;
    });
    dealt.expect_same_motion(before);
}

TYPED_TEST(Ranks, construct_sites_and_spread_their_forces_as_one)
{
    using N = TypeParam;
    using Sums = std::vector<EnergySums<N>>;
    DealtOut<N> dealt(molecules_for_ranks());
    const auto before = dealt.whole;
    const auto act = [&](ParticleState<N>& state, const SiteAssignment& assignment) {
        dealt.sites.construct(dealt.queue, assignment, state);
        Sums virial(static_cast<std::size_t>(dealt.queue.threads()));
        dealt.sites.spread_forces(dealt.queue, assignment, state, std::span(virial));
        EnergySums<N> sum;
        for (const EnergySums<N>& part : virial) { sum += part; }
        return sum.virial;
    };
    std::pair result(act(dealt.whole, dealt.sites.assign_all(dealt.system.topology)), std::vector<std::array<ScalarSum<N>, 9>>());
    for (std::size_t rank = 0; rank < dealt.parts.size(); ++rank)
    {
        result.second.push_back(act(dealt.parts[rank], dealt.site_assignments[rank]));
    }
    dealt.expect_same_motion(before);
    expect_sums<N>(result);
    for (const ParticleState<N>& part : dealt.parts)
    {
        for (std::size_t slot = 0; slot < part.home_slots(); ++slot)
        {
            if (part.global_of_slot[slot] < 0) { continue; }
            EXPECT_EQ(part.f.get(slot), dealt.whole.f.get(static_cast<std::size_t>(part.global_of_slot[slot])));
        }
    }
}

TYPED_TEST(Ranks, share_out_every_water_and_group_once)
{
    DealtOut<TypeParam> dealt(molecules_for_ranks());
    const auto places_of = [](const std::vector<ConstraintAssignment>& assignments) {
        std::vector<std::array<std::int64_t, 4>> places; // molecule type, water or group, first atom, index
        for (const ConstraintAssignment& assignment : assignments)
        {
            for (std::size_t type = 0; type < assignment.molecule_types.size(); ++type)
            {
                const auto& [waters, groups] = assignment.molecule_types[type];
                const auto t = static_cast<std::int64_t>(type);
                for (const ConstraintPlace& place : waters) { places.push_back({t, 0, place.first_atom, place.index}); }
                for (const ConstraintPlace& place : groups) { places.push_back({t, 1, place.first_atom, place.index}); }
            }
        }
        std::sort(places.begin(), places.end());
        return places;
    };
    EXPECT_EQ(places_of({dealt.everything}).size(), 37u + 5 + 4 + 6 + 3);
    EXPECT_EQ(places_of(dealt.assignments), places_of({dealt.everything}));
}

TYPED_TEST(Ranks, agree_on_the_worst_of_all_failures)
{
    using N = TypeParam;
    System system = molecules_for_ranks();
    for (std::size_t i = 0; i < system.v.size(); i += 5) { system.v[i] *= 100; }
    DealtOut<N> dealt(std::move(system));
    const auto [expected, parts] = dealt.act([&](auto& state, const auto& assignment) {
        return dealt.constraints.apply(dealt.queue, assignment, state, step_length, Virial::Skip);
    });
    ConstraintResult<N> total;
    for (const auto& part : parts) { total += part; }
    EXPECT_GT(expected.failures, 5);
    EXPECT_EQ(total.failures, expected.failures);
    EXPECT_EQ(total.worst_angle, expected.worst_angle);
    EXPECT_EQ(total.worst_atom_a, expected.worst_atom_a);
    EXPECT_EQ(total.worst_atom_b, expected.worst_atom_b);
}

TYPED_TEST(Ranks, add_up_kinetic_energies_and_momenta)
{
    using N = TypeParam;
    DealtOut<N> dealt(molecules_for_ranks());
    expect_sums<N>(dealt.act([&](auto& state, const auto&) { return sum_kinetic(dealt.queue, state, 2); }));
    AtomGroups groups;
    groups.count = 2;
    for (std::size_t atom = 0; atom < dealt.owner.size(); ++atom)
    {
        groups.of_atom.push_back(atom % 5 == 0 ? AtomGroups::none : static_cast<std::uint8_t>(atom % 2));
    }
    expect_sums<N>(dealt.act([&](auto& state, const auto&) { return sum_com_motion(dealt.queue, groups, state); }));
    const auto motions = finish_com_motion(sum_com_motion(dealt.queue, groups, dealt.whole));
    const auto before = dealt.whole;
    dealt.act([&](auto& state, const auto&) {
        remove_com_motion(dealt.queue, groups, motions, state);
        return 0;
    });
    dealt.expect_same_motion(before);
}

TYPED_TEST(Ranks, feel_the_same_noise)
{
    using N = TypeParam;
    DealtOut<N> dealt(molecules_for_ranks());
    RunParameters parameters;
    parameters.dt = step_length;
    parameters.temperature_groups = {{"A", 0.5, 300}, {"B", 0.1, 350}};
    const StochasticDynamics dynamics = make_stochastic_dynamics(parameters, 99);
    const auto before = dealt.whole;
    expect_sums<N>(dealt.act([&](auto& state, const auto&) {
        ClusterArray<typename N::Real> velocities;
        friction_and_noise(dealt.queue, dynamics, 17, state, velocities);
        return std::array{finish_stochastic_step(dealt.queue, velocities, state)};
    }));
    dealt.expect_same_motion(before);
}

TEST(MinimiserPointsOfARank, move_home_atoms_only)
{
    DealtOut<Double> dealt(molecules_for_ranks());
    const Constraints constraints(dealt.system.topology, RunParameters(), ConstraintMasses::Equal);
    ParticleState<Double>& state = dealt.parts[0];
    const auto x = state.x;
    const ClusterArray<double> forces =
        forces_at_rest(dealt.queue, constraints, dealt.assignments[0], state, ConstraintMasses::Equal).free;
    MinimiserPoints<Double> points;
    const SurfacePoint point = points.take(dealt.queue, 0, forces, state);
    EXPECT_EQ(dealt.owner[static_cast<std::size_t>(point.largest_force_atom)], 0);
    points.accept(dealt.queue, state);
    points.combine(dealt.queue, minimiser_vector::search, {minimiser_vector::force, 1}, {minimiser_vector::force, 0});
    EXPECT_TRUE(points.move(dealt.queue, constraints, dealt.assignments[0], 0.01 / point.largest_force, state));
    int moved = 0;
    for (std::size_t slot = 0; slot < state.slots(); ++slot)
    {
        const bool moves = state.x.get(slot) != x.get(slot);
        moved += moves;
        if (slot >= state.home_slots()) { EXPECT_FALSE(moves); }
    }
    EXPECT_GT(moved, 20);
}
