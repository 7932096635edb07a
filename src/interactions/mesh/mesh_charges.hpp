// SPDX-License-Identifier: Apache-2.0
// The numbers that a mesh spreads for atoms: their charges or, on the mesh of dispersion, the strengths of their types.
#pragma once

#include "interactions/mesh/mesh_parameters.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

template <class N>
class MeshCharges
{
public:
    using Real = typename N::Real;

    MeshCharges() = default; // takes the charges of atoms
    explicit MeshCharges(const MeshParameters& parameters)
        : of_type_(parameters.strength_of_type.begin(), parameters.strength_of_type.end())
    {
    }

    bool are_of_types() const { return !of_type_.empty(); }
    Real operator()(const ParticleState<N>& state, std::size_t slot) const
    {
        if (!are_of_types()) { return state.charge[slot]; }
        return state.global_of_slot[slot] < 0 ? 0 : of_type_[static_cast<std::size_t>(state.lj_type[slot])];
    }

private:
    std::vector<Real> of_type_;
};

} // namespace parhelion
