// SPDX-License-Identifier: Apache-2.0
// Bonded forces of the terms assigned to a rank: every InteractionKind but the position restraints (restraints.hpp).
//
// Tables of terms are made once per molecule type, with the parameters next to the atoms. A rank's *assignment*
// lists the terms of each copy that the rank computes. A molecule may straddle ranks, but every term is
// assigned to one rank. The loop runs over lists of one kind and one molecule type, so the law of a kind is
// inlined in its own loop. Lists are in the order of copies. A thread takes the same share of every list, so it
// meets atoms that are in its cache. Arithmetic is in double in every policy. The laws are in bonded_body.hpp;
// bonded_kinds.hpp maps kinds to laws. Cost: 8 bytes per assigned term; time measured in bench/forces.
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
    std::array<std::int32_t, Body::atoms> atoms; // indices in the molecule
    Body body;
};

template <class Kinds>
struct TermsByKind;
template <int... kinds>
struct TermsByKind<std::integer_sequence<int, kinds...>>
{
    using Type = std::tuple<std::vector<BondedTerm<typename BondedKind<static_cast<InteractionKind>(kinds)>::Body>>...>;
};

// The bonded terms of one molecule type. std::get<kind>(...) is the list of that kind.
using MoleculeTerms = TermsByKind<std::make_integer_sequence<int, bonded_kinds>>::Type;

// A distance restraint of several pairs of atoms. Its number of atoms varies, so it is not an InteractionKind of its own.
struct JointDistance
{
    JointDistanceLaw law;
    std::vector<std::int32_t> atoms; // indices in the molecule, two for each pair

    std::int64_t pairs() const { return static_cast<std::int64_t>(atoms.size() / 2); }
};

struct BondedTables
{
    std::vector<MoleculeTerms> molecule_types;
    std::vector<double> tables;                    // tables of all kinds that read a table, concatenated
    std::vector<std::vector<JointDistance>> joint; // indexed by molecule type
};

// A term of one copy of a molecule. Its atom i is global atom first_atom + terms[term].atoms[i].
struct TermPlace
{
    std::int32_t first_atom, term;
};

struct BondedAssignment
{
    using ByKind = std::array<std::vector<TermPlace>, bonded_kinds>;
    std::vector<ByKind> molecule_types;
    std::vector<std::vector<TermPlace>> joint; // indexed by molecule type
    std::int64_t joint_pairs = 0;              // number of pairs in all joint restraints

    std::int64_t terms() const; // returns the number over all types and kinds; each pair of a joint restraint counts
};

// Makes the tables from the topology and from epsilon_r, disre-fc and disre-weighting of the run parameters.
BondedTables make_bonded(const Topology& topology, const RunParameters& parameters);

// Returns the assignment of a single rank: every term of the system.
BondedAssignment all_terms(const BondedTables& tables, const Topology& topology);

// Returns the terms of `copies` for which mine(global atoms of the term, their number) is true. Every term of the system
// is assigned once if two conditions hold: `copies` are all copies of which this rank holds an atom, and mine() is true
// on exactly one of the ranks that hold an atom of the term. terms(), summed over ranks, is then that of all_terms().
BondedAssignment assign_terms(const BondedTables& tables, const MoleculeList& copies,
                              const std::function<bool(const std::int32_t* atoms, int count)>& mine);

// Returns the terms of one kind in an assignment. It serves to find the term that exerts a force.
BondedAssignment of_kind(const BondedAssignment& assignment, InteractionKind kind);

// Adds forces to buffers.forces[thread] and, if asked for, energies and virial to buffers.energies[thread].
// Differences of positions are minimum images, so a term must span less than half a box edge. Requires that
// clear_forces() was called and that every atom of the assigned terms is on this rank, as a home or halo atom.
template <class N>
void compute_bonded(CpuQueue& queue, const BondedTables& tables, const BondedAssignment& assignment,
                    const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute);

} // namespace parhelion
