// SPDX-License-Identifier: Apache-2.0
// The repartition on a GPU: puts this rank's atoms, home and halo, into cluster order.
//
// The idea: a rank takes the atoms that are marked on its exchange buffer (state/gpu/exchange_buffer.hpp). Home atoms are
// those whose update group has its reference atom in the cell. Halo atoms are all atoms of higher cells that may be within reach
// of an atom in the cell. Atoms are counted into columns, and a thread block sorts each column by z. Each 64 consecutive
// atoms form a supercluster, about a cube. A warp halves it in y, x and z, so every cluster of 8 is compact. Superclusters
// share no atoms, so the last clusters of a column may be fillers. A lone rank takes all atoms by the same code.
//
// Cost: a byte per atom of the system is read twice, each block sorts some hundred atoms, and all data of an atom are gathered
// once. There is no copy to the host, and no allocation after the first call, so that it can be part of a graph.
#pragma once

#include "state/gpu/exchange_buffer.hpp"

#include <cstddef>
#include <cstdint>

namespace parhelion {

// The column of an atom, and its place there before the column is sorted.
struct alignas(8) ColumnPlace
{
    std::int32_t column, place;
};
// An atom as the key by which its column is sorted: unrolled z in the upper half, global number in the lower half.
using ColumnAtom = unsigned long long;

// The memory that take_atoms() needs besides the state. Keep it from call to call.
struct TakeScratch
{
    DeviceBuffer<std::uint32_t> taken;       // a bit per global atom: the atom is on this rank; unused on a lone rank
    DeviceBuffer<ColumnPlace> place;         // indexed by global number, for atoms of this rank
    DeviceBuffer<std::int32_t> in_column;    // number of atoms by column; zero between calls
    DeviceBuffer<std::int32_t> column_begin; // index in by_column of each column's first atom; at the end, the number of atoms
    DeviceBuffer<ColumnAtom> by_column, by_bucket;
    DeviceBuffer<std::int32_t> first_atom; // index in by_column of each supercluster's first atom; then the number of atoms
};

// Fills every per-slot and per-supercluster array except state.f with the atoms marked on the exchange buffer, in cluster
// order: zone by zone, home first. Clears the marks. state.f must be zero, or have been read. Data that refer to slots (pair
// list, bonded terms) must then be computed anew. The order depends on positions alone. Raises gpu_flag_slot_overflow if
// there are more atoms than reserve_slots() has planned for. Raises gpu_flag_ambiguous if an atom is farther from its
// owner's cell than allowed, or if the box has shrunk so that atoms of more cells ahead would be needed.
template <class N>
void take_atoms(GpuQueue& queue, const GpuExchangeBuffer<N>& exchange_buffer, const GpuAtomTable& table, TakeScratch& scratch,
                GpuState<N>& state);

// The memory for reorder(): the exchange buffer and the atom table of a lone rank.
template <class N>
struct ReorderScratch
{
    DeviceBuffer<PositionCharge<N>> x;
    DeviceBuffer<VelocityMass<N>> v;
    DeviceBuffer<GpuExchangeBuffer<N>> exchange_buffers;
    GpuAtomTable table;
    TakeScratch take;
};

// Sorts a lone rank's atoms into cluster order for their present positions, by collect_atoms() and
// take_atoms(). If a flag is raised in the state, restores the state as it was after the last call.
template <class N>
void reorder(GpuQueue& queue, GpuState<N>& state, ReorderScratch<N>& scratch);

} // namespace parhelion
