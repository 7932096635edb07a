// SPDX-License-Identifier: Apache-2.0
// Atoms in input order, on every GPU: where a rank learns at a repartition which atoms are its own or its halo from now on.
//
// The idea: every rank knows the cells of all. It writes each of its home atoms, with plain stores, to the exchange buffers of
// those ranks that need it, and marks it there with its zone: most atoms stay where they are, few are in another's halo, and
// fewer still move on. When all have (a barrier, not here), every rank takes what is marked on its exchange buffer, and with it
// the marks (pairs/gpu/cluster_order_gpu.hpp): no messages about who goes where, no plan to agree on, however far an atom has
// moved. Velocities go to owners alone. A state with a flag is not published.
//
// A *complete* exchange buffer has all atoms: those that the run begins with or goes back to (fill_exchange_buffer(),
// find_zones()), and those of the collectors, where atoms are collected to be kept or read.
//
// Cost: 33 bytes an atom of the system in Mixed, on every GPU; traffic between GPUs of 17 bytes an atom of the halo once a list
// interval.
#pragma once

#include "model/topology.hpp"
#include "model/update_groups.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

// Of one rank, by global number; memory that the GPUs of all ranks can write. A kernel's argument.
template <class N>
struct GpuExchangeBuffer
{
    static constexpr std::uint8_t not_here = 255;

    GpuCell cell;
    PositionCharge<N>* x = nullptr;
    VelocityMass<N>* v = nullptr;
    std::uint8_t* zone = nullptr; // not_here: what else there is of the atom is old. A lone rank's has none: every atom is here
};

// What of an atom never changes, by global number.
struct GpuAtomTable
{
    DeviceBuffer<std::int32_t> lj_type;
    DeviceBuffer<std::uint8_t> temperature_group;
    DeviceBuffer<std::int32_t> reference; // the reference atom of its update group, by whose place its owner is known
};

// `whole` has all atoms of the system. Both wait. Marks nothing.
template <class N>
GpuAtomTable make_atom_table(GpuQueue& queue, const ParticleState<N>& whole, const Topology& topology,
                             const UpdateGroups& groups);
template <class N>
void fill_exchange_buffer(GpuQueue& queue, const ParticleState<N>& whole, const GpuExchangeBuffer<N>& exchange_buffer);

// Marks those atoms of a complete exchange buffer that its rank needs, in the box of the state.
template <class N>
void find_zones(GpuQueue& queue, const GpuState<N>& state, const GpuAtomTable& table,
                const GpuExchangeBuffer<N>& exchange_buffer);

// Writes this rank's home atoms to those of `exchange buffers` (in device memory) whose ranks need them, and marks them, unless
// its state has a flag. Precondition: nothing is marked; several ranks have atoms. A lone rank collects.
template <class N>
void publish_atoms(GpuQueue& queue, const GpuState<N>& state, const GpuAtomTable& table,
                   const DeviceBuffer<GpuExchangeBuffer<N>>& exchange_buffers);
// Writes all of them to the exchange buffers of the collectors, and marks none, unless its state has a flag.
template <class N>
void collect_atoms(GpuQueue& queue, const GpuState<N>& state, const DeviceBuffer<GpuExchangeBuffer<N>>& collectors);

} // namespace parhelion
