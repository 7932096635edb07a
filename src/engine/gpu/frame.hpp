// SPDX-License-Identifier: Apache-2.0
// Makes frames of data on a GPU: a snapshot is copied to the host and becomes a frame. Cost: one copy of the arrays that are due.
#pragma once

#include "device/cpu_queue.hpp"
#include "engine/gpu/snapshot_gpu.hpp"
#include "engine/observer.hpp"

namespace parhelion {

// A snapshot in host memory. Arrays that were not asked for hold data of an older snapshot.
template <class N>
struct HostSnapshot
{
    PinnedBuffer<Vec3<typename N::Fixed>> x;
    PinnedBuffer<Vec3<typename N::Real>> v;
    PinnedBuffer<Vec3<typename N::ForceSum>> f;
    PinnedBuffer<DeviceScalars> scalars{1};
};

// Queues copies to the host of the arrays that are due. If forces are due, they are copied from `f`.
template <class N>
void copy_to_host(GpuQueue& queue, const GpuSnapshot<N>& from, const Vec3<typename N::ForceSum>* f, const OutputDue& due,
                  HostSnapshot<N>& to);

// Returns a frame with the arrays that are due; the caller sets step and time.
template <class N>
Frame make_frame(CpuQueue& queue, const Topology& topology, const HostSnapshot<N>& from, const OutputDue& due);

} // namespace parhelion
