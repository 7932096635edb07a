// SPDX-License-Identifier: Apache-2.0
// The repartition on a GPU: the cluster order of the atoms that are this rank's, home or halo.
//
// The idea: a rank takes what is marked on its exchange buffer (state/gpu/exchange_buffer.hpp): its home atoms, of whose update
// group the reference atom is in its cell, and every atom ahead that may be within reach of one in the cell. Atoms are counted
// into columns, each of which is then sorted by z, by a block of threads; each 64 in a row are a supercluster, about a cube. A
// warp halves it in y, x and z, so that every cluster of 8 is compact. Between superclusters' atoms nothing is exchanged, so a
// supercluster's last clusters may be fillers at a column's end. A lone rank takes everything: the same code without the choice.
//
// Cost: two looks at a byte of every atom of the system, a sort of some hundred atoms a block and one gather of all that an atom
// has; no copy to the host, no allocation after the first call, so that it can be part of a graph.
#pragma once

#include "state/gpu/exchange_buffer.hpp"

#include <cstddef>
#include <cstdint>

namespace parhelion {

// Where an atom is before its column is sorted.
struct alignas(8) ColumnPlace
{
    std::int32_t column, place;
};
// An atom as its column sorts it: unrolled z in the upper half, global number in the lower.
using ColumnAtom = unsigned long long;

// What take_atoms() needs beside the state; keep it from call to call.
struct TakeScratch
{
    DeviceBuffer<std::uint32_t> taken;       // by global number, a bit each: is the atom here? Not of a lone rank
    DeviceBuffer<ColumnPlace> place;         // by global number, of atoms that are here
    DeviceBuffer<std::int32_t> in_column;    // atoms of a column; zero between calls
    DeviceBuffer<std::int32_t> column_begin; // where they are in by_column, and the end
    DeviceBuffer<ColumnAtom> by_column, by_bucket;
    DeviceBuffer<std::int32_t> first_atom; // of a supercluster in by_column, and the end
};

// Fills every per-slot and per-supercluster array but state.f with the atoms marked on the exchange buffer, in cluster order:
// zone by zone, home first. Nothing is marked afterwards. state.f is to be zero, or read before. What depends on slots (pair
// list, bonded terms) must be resolved anew. The order is a function of the positions alone. Raises gpu_flag_slot_overflow if
// there are more atoms than reserve_slots() has made room for, and gpu_flag_ambiguous if an atom is farther from its owner's cell
// than it may stray, or the box has shrunk so that atoms would be needed from cells farther ahead.
template <class N>
void take_atoms(GpuQueue& queue, const GpuExchangeBuffer<N>& exchange_buffer, const GpuAtomTable& table, TakeScratch& scratch,
                GpuState<N>& state);

// The exchange buffer and the table of a lone rank.
template <class N>
struct ReorderScratch
{
    DeviceBuffer<PositionCharge<N>> x;
    DeviceBuffer<VelocityMass<N>> v;
    DeviceBuffer<GpuExchangeBuffer<N>> exchange_buffers;
    GpuAtomTable table;
    TakeScratch take;
};

// Sorts a lone rank's atoms into cluster order for their present positions: collect_atoms() and take_atoms(). Does not choose: a
// state with a flag goes back to where the last call found it.
template <class N>
void reorder(GpuQueue& queue, GpuState<N>& state, ReorderScratch<N>& scratch);

} // namespace parhelion
