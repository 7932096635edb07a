// SPDX-License-Identifier: Apache-2.0
// Frames from a GPU: a snapshot is copied to the host, where a frame is made of it. Cost: one copy of what is due.
#pragma once

#include "device/cpu_queue.hpp"
#include "engine/gpu/snapshot_gpu.hpp"
#include "engine/observer.hpp"

namespace parhelion {

// A snapshot where the host can read it; arrays that were not asked for are of an older one.
template <class N>
struct HostSnapshot
{
    PinnedBuffer<Vec3<typename N::Fixed>> x;
    PinnedBuffer<Vec3<typename N::Real>> v;
    PinnedBuffer<Vec3<typename N::ForceSum>> f;
    PinnedBuffer<DeviceScalars> scalars{1};
};

// Queues the copies of what is due; forces, if they are, from `f`.
template <class N>
void copy_to_host(GpuQueue& queue, const GpuSnapshot<N>& from, const Vec3<typename N::ForceSum>* f, const OutputDue& due,
                  HostSnapshot<N>& to);

// All but step and time.
template <class N>
Frame make_frame(CpuQueue& queue, const Topology& topology, const HostSnapshot<N>& from, const OutputDue& due);

} // namespace parhelion
