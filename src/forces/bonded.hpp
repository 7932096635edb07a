// SPDX-License-Identifier: Apache-2.0
// Bonded forces: every InteractionKind but position restraints (restraints.hpp), for the molecules a rank holds.
//
// Tables are made once per molecule type, parameters next to the atoms they act on; the loop runs over (copy, term) of one kind
// and type after the other, so that a kind's law is inlined in a loop of its own. Each thread takes the same share of the copies
// in every loop and meets atoms that its cache holds already. All arithmetic is in double in every numeric policy. Cost:
// bench/bonded.cpp. The laws: bonded_body.hpp; which kind is which law: bonded_kinds.hpp.
#pragma once

#include "forces/bonded_kinds.hpp"
#include "forces/force_buffers.hpp"
#include "state/molecules.hpp"

#include <array>
#include <cstdint>
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

struct BondedTables
{
    std::vector<MoleculeTerms> molecule_types;
};

// Uses epsilon_r of the run parameters (0 = infinite: no Coulomb).
BondedTables make_bonded(const Topology& topology, const RunParameters& parameters);

// The tables with the terms of one kind alone: what finds the term behind a force.
BondedTables of_kind(const BondedTables& tables, InteractionKind kind);

// Adds forces to buffers.forces[thread] and, if asked for, energies and virial to buffers.energies[thread].
// Differences are minimum images: a term must span less than half a box edge. Requires clear_forces() before, and every atom of
// the molecules listed on this rank.
template <class N>
void compute_bonded(CpuQueue& queue, const BondedTables& tables, const MoleculeList& molecules, const ParticleState<N>& state,
                    ForceBuffers<N>& buffers, Compute compute);

} // namespace parhelion
