// SPDX-License-Identifier: Apache-2.0
// What a rank of several computes besides pairs: the same rule for terms of more atoms.
#pragma once

#include "model/topology.hpp"
#include "state/molecules.hpp"
#include "state/particle_state.hpp"

#include <cstdint>

namespace parhelion {

// The copies of molecules of which the rank holds an atom, home or halo.
template <class N>
MoleculeList molecules_here(const Topology& topology, const ParticleState<N>& state);

// Is the term of these global atoms this rank's? True on one rank alone, the one whose cell is at the lower corner of the atoms
// (state/territory.hpp), which holds them all if they are within reach of each other.
template <class N>
bool is_mine(const ParticleState<N>& state, const std::int32_t* atoms, int count);

} // namespace parhelion
