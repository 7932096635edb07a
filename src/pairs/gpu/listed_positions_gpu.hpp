// SPDX-License-Identifier: Apache-2.0
// Where the home atoms of a rank on a GPU were when its pair lists were built, and whether one has moved so far since that a pair
// may have come into range unlisted: listed_positions.hpp for GPUs, where nobody waits for the answer.
//
// The idea: the check runs beside the pair forces of the same positions and raises a flag, as an overflow does; the host sees it
// at the segment's end, before anything has left, and has the interval done again with newer lists. Cost: 28 bytes read an atom
// and step (Mixed), in a kernel off the critical path; once a list interval as much again.
#pragma once

#include "base/box.hpp"
#include "device/gpu/device_buffer.hpp"
#include "pairs/listed_positions.hpp"
#include "state/gpu/particle_state_gpu.hpp"

namespace parhelion {

template <class N>
class GpuListedPositions
{
public:
    // Of lists that reach `list_cutoff` and must not miss a pair within `cutoff`, nm.
    GpuListedPositions(double list_cutoff, double cutoff) : list_cutoff_(list_cutoff), cutoff_(cutoff) {}

    // Call when lists are built. Allocates if the state has more slots than ever before.
    void keep(GpuQueue& queue, const GpuState<N>& state);
    // Raises gpu_flag_list_stale if a home atom has moved more than half of what lists reach beyond the cut-off, the shrinking of
    // the box included. Requires keep() since the last repartition.
    void check(GpuQueue& queue, GpuState<N>& state) const;

private:
    double list_cutoff_, cutoff_;
    DeviceBuffer<Vec3<typename N::Fixed>> x_; // by slot
    DeviceBuffer<Box<double>> box_;           // one
};

} // namespace parhelion
