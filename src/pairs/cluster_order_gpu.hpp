// SPDX-License-Identifier: Apache-2.0
// Cluster order on the GPU: see state/gpu_state.hpp for what it is.
//
// The idea: the box is cut into columns in x and y. One radix sort by (column, z) puts a column's atoms in a row, of which each
// 64 are a supercluster, about a cube; a warp halves each in y, x and z, so that every cluster of 8 is compact. Between
// superclusters' atoms nothing is exchanged, so a supercluster's last clusters may be fillers at a column's end.
//
// Cost: three passes of a radix sort and two gathers of all that an atom has; no copy to the host, no allocation after the first
// call, so that it can be part of a graph.
#pragma once

#include "state/gpu_state.hpp"

#include <cstddef>
#include <cstdint>

namespace parhelion {

// What reorder() needs beside the state; keep it from call to call.
template <class N>
struct ReorderScratch
{
    DeviceBuffer<std::uint32_t> key[2];
    DeviceBuffer<std::int32_t> slot[2];
    DeviceBuffer<unsigned char> sort;
    DeviceBuffer<std::int32_t> column_begin; // sorted atoms of a column, and the end
    DeviceBuffer<std::int32_t> first_atom;   // sorted atoms of a supercluster, and the end
    DeviceBuffer<PositionCharge<N>> xq;
    DeviceBuffer<VelocityMass<N>> v;
    DeviceBuffer<std::int32_t> lj_type, global_of_slot;
    DeviceBuffer<std::uint8_t> temperature_group;
};

// Sorts every per-slot array into cluster order for the present positions. state.f is left alone: it is to be zero, or read
// before. What depends on slots (pair list, bonded terms) must be resolved anew. The order is a function of the positions alone.
template <class N>
void reorder(GpuQueue& queue, GpuState<N>& state, ReorderScratch<N>& scratch);

} // namespace parhelion
