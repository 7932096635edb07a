// SPDX-License-Identifier: Apache-2.0
// A system on the GPU, in the GPU's cluster order.
#pragma once

#include "pairs/gpu/cluster_order_gpu.hpp"
#include "support/particles.hpp"

namespace parhelion::test {

template <class N>
GpuState<N> sorted_gpu_state(GpuQueue& queue, const ParticleState<N>& particles)
{
    GpuState<N> state;
    upload(queue, particles, state);
    ReorderScratch<N> scratch;
    reorder(queue, state, scratch);
    queue.synchronize(); // before the scratch goes
    return state;
}
template <class N>
GpuState<N> sorted_gpu_state(GpuQueue& queue, const System& system)
{
    return sorted_gpu_state(queue, particles_in_input_order<N>(system));
}

} // namespace parhelion::test
