// SPDX-License-Identifier: Apache-2.0
// From the cluster order of every rank to input order: the configuration that users and checkpoints see.
#pragma once

#include "comm/communicator.hpp"
#include "device/cpu_queue.hpp"
#include "engine/observer.hpp"
#include "model/frame.hpp"
#include "model/topology.hpp"
#include "state/particle_state.hpp"

#include <vector>

namespace parhelion {

// A rank's home atoms as plain data, with what was asked for; the other arrays are empty.
template <class N>
struct AtomData
{
    std::vector<std::int32_t> global;
    std::vector<Vec3<typename N::Fixed>> x;
    std::vector<Vec3<typename N::Real>> v;
    std::vector<Vec3<typename N::ForceSum>> f;
};

// x with due.x or due.compressed_x, v, f.
template <class N>
AtomData<N> atom_data(const ParticleState<N>& state, const OutputDue& due);

inline OutputDue positions_and_velocities()
{
    OutputDue due;
    due.x = due.v = true;
    return due;
}

// Every rank's data on rank 0; nothing on the others. Collective.
template <class N>
std::vector<AtomData<N>> gather(Communicator& comm, AtomData<N>&& own);

// values[global] of all atoms; parts and member: whose, and which array of them.
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

// Step and time are left to the caller. The first atom of each molecule is in the box, each other atom is the image nearest to
// the one before it.
template <class N>
Frame make_frame(CpuQueue& queue, const Topology& topology, const PeriodicBox<N>& box, const std::vector<AtomData<N>>& parts);

} // namespace parhelion
