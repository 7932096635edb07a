// SPDX-License-Identifier: Apache-2.0
// The atoms of the whole system in input order, on every GPU: where ranks learn at a repartition who is where.
//
// The idea: every rank writes its home atoms into the boards of all ranks, with plain stores. When all have (a barrier, not
// here), each rank knows everybody's positions and decides by itself, as all others would, which atoms are its own, which are its
// halo, and in which order (pairs/cluster_order_gpu.hpp): no messages about who goes where, no plan to agree on. A board is also
// the state to go back to, which a state with a flag is not written to.
//
// Cost: 32 bytes an atom in Mixed, on every GPU, and as much traffic to each of them once a list interval.
#pragma once

#include "model/topology.hpp"
#include "model/update_groups.hpp"
#include "state/gpu_state.hpp"

#include <cstdint>

namespace parhelion {

// By global number; memory that the GPUs of all ranks can write. A kernel's argument.
template <class N>
struct GpuBoard
{
    PositionCharge<N>* x = nullptr;
    VelocityMass<N>* v = nullptr;
};

// What of an atom never changes, by global number.
struct GpuAtomTable
{
    DeviceBuffer<std::int32_t> lj_type;
    DeviceBuffer<std::uint8_t> temperature_group;
    DeviceBuffer<std::int32_t> reference; // the reference atom of its update group, by whose place its owner is known
};

// `whole` has all atoms of the system. Both wait.
template <class N>
GpuAtomTable make_atom_table(GpuQueue& queue, const ParticleState<N>& whole, const Topology& topology,
                             const UpdateGroups& groups);
template <class N>
void fill_board(GpuQueue& queue, const ParticleState<N>& whole, const GpuBoard<N>& board);

// Writes this rank's home atoms into `boards` (in device memory, one of each rank), unless its state has a flag.
template <class N>
void publish_atoms(GpuQueue& queue, const GpuState<N>& state, const DeviceBuffer<GpuBoard<N>>& boards);

} // namespace parhelion
