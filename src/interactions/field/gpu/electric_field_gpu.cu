// SPDX-License-Identifier: Apache-2.0
#include "interactions/field/gpu/electric_field_gpu.hpp"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "state/gpu/view.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

constexpr int field_threads = 256;

// Purpose        adds the forces of an electric field
// Work           by a thread per slot
// Reads/Writes   charges / forces of home atoms (atomic additions, since other branches add to them meanwhile)
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           28 bytes per slot
template <class N>
__global__ void __launch_bounds__(field_threads)
    field_kernel(BlockTrace tracing, GpuView<N> state, std::int64_t slots, UniformField field, std::int64_t step_offset)
{
    const BlockSpan span(tracing);

    using Sum = typename N::ForceSum;
    const auto slot = static_cast<std::int32_t>(static_cast<std::int64_t>(blockIdx.x) * field_threads + threadIdx.x);
    if (slot >= slots || state.global_of_slot[slot] < 0 || state.zone(slot) != 0) { return; }
    const double charge = static_cast<double>(state.xq[slot].charge);
    const Vec3<double> f = charge * field.at(state.scalars->step + step_offset);
    state.add_force(slot, {to_sum<Sum>(f.x), to_sum<Sum>(f.y), to_sum<Sum>(f.z)});
}

} // namespace

template <class N>
void add_electric_field(GpuQueue& queue, const UniformField& field, std::int64_t step_offset, GpuState<N>& state)
{
    if (!field.acts() || state.slots == 0) { return; }
    launch(queue, Phase::SumForces, field_kernel<N>, one_thread_each(state.slots, field_threads), GpuView<N>(state),
           static_cast<std::int64_t>(state.slots), field, step_offset);
}

#define PARHELION_INSTANTIATE(N) template void add_electric_field<N>(GpuQueue&, const UniformField&, std::int64_t, GpuState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
