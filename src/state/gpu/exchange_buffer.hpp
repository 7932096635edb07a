// SPDX-License-Identifier: Apache-2.0
// Atoms in input order, on every GPU, from which a rank learns at a repartition its new home and halo atoms.
//
// The idea: every rank knows the cells of all ranks. It writes each home atom, with plain stores, to the exchange buffers of
// the ranks that need it, and marks it there with its zone. Most atoms are needed by their own rank alone, few by another's
// halo; fewer change owner. When all ranks have written (the caller provides a barrier), a rank takes the marked atoms of
// its exchange buffer and clears the marks (pairs/gpu/cluster_order_gpu.hpp). So no messages announce atoms, and ranks need
// not agree on a plan, however far an atom has moved. Only owners get velocities. A state with a flag is not published.
//
// A *complete* exchange buffer has all atoms. It is complete at the beginning of a run, after going back to saved atoms
// (fill_exchange_buffer(), find_zones()), and always on the collectors: ranks where atoms are collected to be kept or read.
//
// Cost: 33 bytes per atom of the system in Mixed, on every GPU; traffic between GPUs of 17 bytes per halo atom once a
// list interval.
#pragma once

#include "model/topology.hpp"
#include "model/update_groups.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

// The exchange buffer of one rank, indexed by global number. GPUs of all ranks can write to it. It is an argument of kernels.
template <class N>
struct GpuExchangeBuffer
{
    static constexpr std::uint8_t not_here = 255;

    GpuCell cell;
    PositionCharge<N>* x = nullptr;
    VelocityMass<N>* v = nullptr;
    std::uint8_t* zone = nullptr; // zones of atoms; not_here: other data are outdated. Null on a lone rank, with all atoms
};

// Data of atoms that never change, indexed by global number.
struct GpuAtomTable
{
    DeviceBuffer<std::int32_t> lj_type;
    DeviceBuffer<std::uint8_t> temperature_group;
    DeviceBuffer<std::int32_t> reference; // reference atom of its update group, whose position determines the owner
};

// `whole` has all atoms of the system. The next two functions wait for the GPU. They mark no atom.
template <class N>
GpuAtomTable make_atom_table(GpuQueue& queue, const ParticleState<N>& whole, const Topology& topology,
                             const UpdateGroups& groups);
template <class N>
void fill_exchange_buffer(GpuQueue& queue, const ParticleState<N>& whole, const GpuExchangeBuffer<N>& exchange_buffer);

// Marks those atoms of a complete exchange buffer that its rank needs, in the box of the state.
template <class N>
void find_zones(GpuQueue& queue, const GpuState<N>& state, const GpuAtomTable& table,
                const GpuExchangeBuffer<N>& exchange_buffer);

// Writes this rank's home atoms to the exchange buffers (in device memory) of the ranks that need them, and marks them.
// Does nothing if the state has a flag. Precondition: no atom is marked; several ranks have atoms (else: collect_atoms()).
template <class N>
void publish_atoms(GpuQueue& queue, const GpuState<N>& state, const GpuAtomTable& table,
                   const DeviceBuffer<GpuExchangeBuffer<N>>& exchange_buffers);
// Writes all home atoms to the exchange buffers of the collectors, without marks. Does nothing if the state has a flag.
template <class N>
void collect_atoms(GpuQueue& queue, const GpuState<N>& state, const DeviceBuffer<GpuExchangeBuffer<N>>& collectors);

} // namespace parhelion
