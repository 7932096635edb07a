// SPDX-License-Identifier: Apache-2.0
// Bonded forces: every InteractionKind but the position restraints (restraints.hpp), for the terms assigned to a rank.
//
// Tables are made once per molecule type, parameters next to the atoms they act on. Which terms of which copies a rank computes
// is a list, its *assignment*: a molecule may straddle ranks, but every term is assigned to one. The loop runs over the list of
// one kind and type after the other, so that a kind's law is inlined in a loop of its own. Lists are in the order of copies; each
// thread takes the same share of every list and meets atoms that its cache holds already. All arithmetic is in double in every
// numeric policy. Cost: 8 bytes for each term assigned; time: bench/forces. The laws: bonded_body.hpp; which kind is which law:
// bonded_kinds.hpp.
#pragma once

#include "interactions/bonded/bonded_kinds.hpp"
#include "interactions/bonded/joint_distances_body.hpp"
#include "interactions/force_buffers.hpp"
#include "state/molecules.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace parhelion {

template <class Body>
struct BondedTerm
{
    std::array<std::int32_t, Body::atoms> atoms; // local to the molecule
    Body body;
};

template <class Kinds>
struct TermsByKind;
template <int... kinds>
struct TermsByKind<std::integer_sequence<int, kinds...>>
{
    using Type = std::tuple<std::vector<BondedTerm<typename BondedKind<static_cast<InteractionKind>(kinds)>::Body>>...>;
};

// The bonded terms of one molecule type: std::get<kind>(...) is the list of that kind.
using MoleculeTerms = TermsByKind<std::make_integer_sequence<int, bonded_kinds>>::Type;

// A distance restraint of several pairs: as many atoms as it takes, and so no kind of its own.
struct JointDistance
{
    JointDistanceLaw law;
    std::vector<std::int32_t> atoms; // local to the molecule; two of each pair

    std::int64_t pairs() const { return static_cast<std::int64_t>(atoms.size() / 2); }
};

struct BondedTables
{
    std::vector<MoleculeTerms> molecule_types;
    std::vector<double> tables;                    // of the kinds that read one, one after another
    std::vector<std::vector<JointDistance>> joint; // by molecule type
};

// A term of a copy: atom i is global atom first_atom + terms[term].atoms[i].
struct TermPlace
{
    std::int32_t first_atom, term;
};

struct BondedAssignment
{
    using ByKind = std::array<std::vector<TermPlace>, bonded_kinds>;
    std::vector<ByKind> molecule_types;
    std::vector<std::vector<TermPlace>> joint; // by molecule type
    std::int64_t joint_pairs = 0;              // of all of these

    std::int64_t terms() const; // of every type and kind; of joint distances each pair counts, as in the topology
};

// Uses epsilon_r, disre-fc and disre-weighting of the run parameters.
BondedTables make_bonded(const Topology& topology, const RunParameters& parameters);

// Every term of the system: the assignment of a single rank.
BondedAssignment all_terms(const BondedTables& tables, const Topology& topology);

// The terms of `copies` that are `mine(global atoms of the term, how many)`. If copies are all of which the rank holds an atom,
// and mine() is true on exactly one of the ranks that hold an atom of the term, then every term of the system is computed once:
// the sum of terms() over the ranks is that of all_terms().
BondedAssignment assign_terms(const BondedTables& tables, const MoleculeList& copies,
                              const std::function<bool(const std::int32_t* atoms, int count)>& mine);

// The terms of one kind alone: what finds the term behind a force.
BondedAssignment of_kind(const BondedAssignment& assignment, InteractionKind kind);

// Adds forces to buffers.forces[thread] and, if asked for, energies and virial to buffers.energies[thread].
// Differences are minimum images: a term must span less than half a box edge. Requires clear_forces() before, and every atom of
// the terms assigned on this rank, home or halo.
template <class N>
void compute_bonded(CpuQueue& queue, const BondedTables& tables, const BondedAssignment& assignment,
                    const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute);

} // namespace parhelion
