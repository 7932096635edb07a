// SPDX-License-Identifier: Apache-2.0
// Forces of a system dealt out to ranks atom by atom, far more torn than any domain would: each term once, and all together the
// very bits of one rank.
#include "interactions/bonded/bonded.hpp"
#include "interactions/bonded/restraints.hpp"
#include "interactions/pair/nonbonded.hpp"
#include "interactions/random_molecules.hpp"
#include "support/particles.hpp"
#include "support/ranks.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>
#include <set>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr int ranks = 5;

// A term is computed where its first atom is at home.
BondedAssignment assignment_of_rank(const BondedTables& tables, const Topology& topology, const std::vector<int>& owner, int rank)
{
    return assign_terms(tables, molecules_of_rank(topology, owner, rank),
                        [&](const std::int32_t* atoms, int) { return owner[static_cast<std::size_t>(atoms[0])] == rank; });
}

using Place = std::tuple<std::size_t, std::size_t, std::int32_t, std::int32_t>; // type, kind, copy, term
std::multiset<Place> places(const BondedAssignment& assignment)
{
    std::multiset<Place> all;
    for (std::size_t type = 0; type < assignment.molecule_types.size(); ++type)
    {
        for (std::size_t kind = 0; kind < bonded_kinds; ++kind)
        {
            for (const TermPlace& p : assignment.molecule_types[type][kind]) { all.insert({type, kind, p.first_atom, p.term}); }
        }
    }
    return all;
}

class Assignment : public ::testing::TestWithParam<std::string>
{
protected:
    const Refdata data = load_refdata(GetParam());
    const Topology& topology = data.system.topology;
    const BondedTables tables = make_bonded(topology, data.parameters);
};

// Adds a rank's forces, home and halo, to those by global atom.
template <class N>
void add_forces(const ForceBuffers<N>& buffers, const ParticleState<N>& state, std::vector<Vec3<typename N::ForceSum>>& total)
{
    for (const auto& forces : buffers.forces)
    {
        for (std::size_t slot = 0; slot < state.slots(); ++slot)
        {
            if (state.global_of_slot[slot] >= 0)
            {
                total[static_cast<std::size_t>(state.global_of_slot[slot])] += forces.get(slot);
            }
        }
    }
}

template <class N>
void expect_the_bits_of_one_rank(const System& system, const BondedTables& tables, unsigned seed)
{
    CpuQueue queue(2);
    const auto whole = particles_in_input_order<N>(system);
    const auto evaluate = [&](const ParticleState<N>& state, const BondedAssignment& assignment, auto& forces) {
        ForceBuffers<N> buffers;
        clear_forces(queue, buffers, state.slots());
        compute_bonded(queue, tables, assignment, state, buffers, Compute::ForcesEnergiesVirial);
        add_forces(buffers, state, forces);
        return sum_energies(buffers);
    };
    std::vector<Vec3<std::int64_t>> expected(system.x.size()), total(system.x.size());
    const EnergySums<N> expected_energies = evaluate(whole, all_terms(tables, system.topology), expected);
    EnergySums<N> energies;
    const std::vector<int> owner = random_owners(system.topology.atom_count(), ranks, seed);
    for (int rank = 0; rank < ranks; ++rank)
    {
        energies += evaluate(state_of_rank(whole, owner, rank), assignment_of_rank(tables, system.topology, owner, rank), total);
    }
    EXPECT_TRUE(total == expected);
    EXPECT_EQ(energies.energy, expected_energies.energy);
    EXPECT_EQ(energies.virial, expected_energies.virial);
    EXPECT_NE(expected_energies.result().potential(), 0);
}

} // namespace

TEST_P(Assignment, of_a_single_rank_is_every_term_of_every_copy)
{
    std::int64_t terms = 0;
    for (int kind = 0; kind < bonded_kinds; ++kind) { terms += topology.interaction_count(static_cast<InteractionKind>(kind)); }
    const BondedAssignment all = all_terms(tables, topology);
    EXPECT_GT(terms, 0);
    EXPECT_EQ(all.terms(), terms);
    const std::multiset<Place> listed = places(all);
    EXPECT_EQ(std::set<Place>(listed.begin(), listed.end()).size(), listed.size());
}

TEST_P(Assignment, to_ranks_gives_each_term_to_one)
{
    const std::multiset<Place> everything = places(all_terms(tables, topology));
    for (unsigned seed = 1; seed <= 3; ++seed)
    {
        const std::vector<int> owner = random_owners(topology.atom_count(), ranks, seed);
        std::multiset<Place> together;
        std::int64_t terms = 0;
        for (int rank = 0; rank < ranks; ++rank)
        {
            const BondedAssignment assignment = assignment_of_rank(tables, topology, owner, rank);
            together.merge(places(assignment));
            terms += assignment.terms();
        }
        EXPECT_EQ(together, everything);
        EXPECT_EQ(terms, static_cast<std::int64_t>(everything.size()));
    }
}

TEST_P(Assignment, shows_by_its_count_that_terms_are_lost)
{
    // Ranks that only take what they own entirely.
    const std::vector<int> owner = random_owners(topology.atom_count(), ranks, 1);
    std::int64_t terms = 0;
    for (int rank = 0; rank < ranks; ++rank)
    {
        const auto owns = [&](const std::int32_t* atoms, int count) {
            return std::all_of(atoms, atoms + count, [&](std::int32_t a) { return owner[static_cast<std::size_t>(a)] == rank; });
        };
        terms += assign_terms(tables, molecules_of_rank(topology, owner, rank), owns).terms();
    }
    EXPECT_LT(terms, all_terms(tables, topology).terms());
}

TEST_P(Assignment, adds_up_to_the_forces_energies_and_virial_of_one_rank)
{
    expect_the_bits_of_one_rank<MixedReproducible>(data.system, tables, 1);
    expect_the_bits_of_one_rank<DoubleReproducible>(data.system, tables, 2);
}

INSTANTIATE_TEST_SUITE_P(Refdata, Assignment, ::testing::Values("etoh", "villin"), [](const auto& test) { return test.param; });

TEST(RankForces, are_those_of_one_rank_for_every_kind_of_term)
{
    for (int kind = 0; kind < bonded_kinds; ++kind)
    {
        SCOPED_TRACE(kind);
        const System system = random_chains(static_cast<InteractionKind>(kind), 20, 77);
        expect_the_bits_of_one_rank<MixedReproducible>(system, make_bonded(system.topology, {}), 5);
    }
}

class RankRestraints : public ::testing::TestWithParam<InteractionKind>
{
};

TEST_P(RankRestraints, restrain_and_charge_home_atoms_only)
{
    using N = MixedReproducible;
    System system = random_chains(GetParam(), 20, 78);
    Random random(79);
    for (const auto& x : system.x) { system.restraint_reference.push_back(x + random.vector(0.02)); }
    system.restraint_reference_box = system.box;
    const PositionRestraints restraints = make_position_restraints(system, {});
    RunParameters run;
    run.coulomb = CoulombKind::ReactionField;
    run.coulomb_cutoff = run.lj_cutoff = 1.0;
    CpuQueue queue(2);
    const auto whole = particles_in_input_order<N>(system);
    const auto evaluate = [&](const ParticleState<N>& state, auto& forces) {
        ForceBuffers<N> buffers;
        NonbondedTables<N> tables(make_nonbonded(system.topology, run));
        const PairList no_pairs; // leaves the self energy
        clear_forces(queue, buffers, state.slots());
        compute_position_restraints(queue, restraints, state, buffers, Compute::ForcesEnergiesVirial);
        compute_nonbonded(queue, tables, no_pairs, state, buffers, Compute::ForcesEnergiesVirial);
        add_forces(buffers, state, forces);
        return sum_energies(buffers);
    };
    std::vector<Vec3<std::int64_t>> expected(system.x.size()), total(system.x.size());
    const EnergySums<N> expected_energies = evaluate(whole, expected);
    EnergySums<N> energies;
    const std::vector<int> owner = random_owners(system.topology.atom_count(), ranks, 3);
    for (int rank = 0; rank < ranks; ++rank) { energies += evaluate(state_of_rank(whole, owner, rank), total); }
    EXPECT_TRUE(total == expected);
    EXPECT_EQ(energies.energy, expected_energies.energy);
    EXPECT_EQ(energies.virial, expected_energies.virial);
    EXPECT_NE(expected_energies.result()[*row_of(GetParam()).energy.begin()], 0);
    EXPECT_NE(expected_energies.result()[EnergyTerm::CoulombSr], 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RankRestraints,
                         ::testing::Values(InteractionKind::PositionRestraint, InteractionKind::FlatBottomRestraint));

TEST(RankForces, of_home_atoms_are_summed_into_the_state)
{
    using N = Double;
    const System system = random_chains(InteractionKind::HarmonicBond, 20, 80);
    const std::vector<int> owner = random_owners(system.topology.atom_count(), ranks, 4);
    auto state = state_of_rank(particles_in_input_order<N>(system), owner, 0);
    ASSERT_LT(state.home_slots(), state.slots());
    const BondedTables tables = make_bonded(system.topology, {});
    CpuQueue queue(3);
    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_bonded(queue, tables, assignment_of_rank(tables, system.topology, owner, 0), state, buffers, Compute::Forces);
    sum_forces(queue, buffers, state);
    ASSERT_EQ(state.f.slots(), state.home_slots());
    for (std::size_t slot = 0; slot < state.home_slots(); ++slot)
    {
        Vec3<double> sum;
        for (const auto& forces : buffers.forces) { sum += forces.get(slot); }
        EXPECT_EQ(state.f.get(slot), sum);
    }
}
