// SPDX-License-Identifier: Apache-2.0
// The positions of a rank's home atoms when its pair lists were built, and the check whether an unlisted
// pair may have come into range. It is listed_positions.hpp for GPUs, where no thread waits for the result.
//
// The idea: the check runs beside the pair forces of the same positions, and raises a flag if it fails, as an overflow
// does. The host sees the flag at the segment's end, before any output, and repeats the interval with newer lists. Cost:
// 28 bytes read per atom and step (Mixed), in a kernel off the critical path; 28 bytes written per atom and list interval.
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
    // The lists reach `list_cutoff` and must not miss a pair within `cutoff`; both are in nm.
    GpuListedPositions(double list_cutoff, double cutoff) : list_cutoff_(list_cutoff), cutoff_(cutoff) {}

    // Stores positions and box. Call it when lists are built. It allocates if the state has more slots than before.
    void keep(GpuQueue& queue, GpuState<N>& state);
    // Raises gpu_flag_list_stale if a home atom has moved by more than half the buffer of the
    // lists. The buffer shrinks with the box. Requires keep() since the last repartition.
    void check(GpuQueue& queue, GpuState<N>& state) const;

private:
    double list_cutoff_, cutoff_;
    DeviceBuffer<Vec3<typename N::Fixed>> x_; // indexed by slot
    DeviceBuffer<Box<double>> box_;           // has one element
};

} // namespace parhelion
