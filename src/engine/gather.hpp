// SPDX-License-Identifier: Apache-2.0
// Gathers atoms from the cluster order of every rank into input order, for users and checkpoints.
#pragma once

#include "comm/world/communicator.hpp"
#include "device/cpu_queue.hpp"
#include "engine/observer.hpp"
#include "model/frame.hpp"
#include "model/topology.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

// The data of a rank's home atoms as plain arrays. Arrays that were not asked for are empty.
template <class N>
struct AtomData
{
    std::vector<std::int32_t> global;
    std::vector<Vec3<typename N::Fixed>> x;
    std::vector<Vec3<typename N::Real>> v;
    std::vector<Vec3<typename N::ForceSum>> f;
};

// Returns the arrays that are due: positions x for due.x or due.compressed_x, velocities v, and forces f.
template <class N>
AtomData<N> atom_data(const ParticleState<N>& state, const OutputDue& due);

inline OutputDue positions_and_velocities()
{
    OutputDue due;
    due.x = due.v = true;
    return due;
}

// Returns the data of every rank on rank 0, and an empty list on the others. Collective.
template <class N>
std::vector<AtomData<N>> gather(Communicator& comm, AtomData<N>&& own);

// Returns the array `member` of all ranks in input order: result[global atom]. `parts` has the data of each rank.
template <class N, class T>
std::vector<Vec3<T>> in_input_order(const std::vector<AtomData<N>>& parts, std::vector<Vec3<T>> AtomData<N>::*member)
{
    std::size_t atoms = 0;
    for (const AtomData<N>& part : parts) { atoms += (part.*member).size(); }
    std::vector<Vec3<T>> ordered(atoms);
    for (const AtomData<N>& part : parts)
    {
        const std::vector<Vec3<T>>& values = part.*member;
        for (std::size_t i = 0; i < values.size(); ++i) { ordered[static_cast<std::size_t>(part.global[i])] = values[i]; }
    }
    return ordered;
}

// Returns a frame of the ranks' data; the caller sets step and time. The first atom of each
// molecule is in the box, and each other atom is the image nearest to the atom before it.
template <class N>
Frame make_frame(CpuQueue& queue, const Topology& topology, const PeriodicBox<N>& box, const std::vector<AtomData<N>>& parts);

} // namespace parhelion
