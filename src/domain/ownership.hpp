// SPDX-License-Identifier: Apache-2.0
// Decides which terms of several atoms a rank computes. The rule is the one that also decides pairs (state/territory.hpp).
#pragma once

#include "model/topology.hpp"
#include "state/molecules.hpp"
#include "state/particle_state.hpp"

#include <cstdint>

namespace parhelion {

// Returns the molecules of which the rank holds an atom, home or halo.
template <class N>
MoleculeList molecules_here(const Topology& topology, const ParticleState<N>& state);

// Returns true if this rank computes the term of these global atoms. Exactly one rank does: the one whose cell is at
// the lower corner of the atoms (state/territory.hpp). It holds all of them if they are within reach of each other.
template <class N>
bool is_mine(const ParticleState<N>& state, const std::int32_t* atoms, int count);

} // namespace parhelion
