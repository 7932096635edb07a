// SPDX-License-Identifier: Apache-2.0
#include "interactions/field/gpu/acceleration_gpu.hpp"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "state/gpu/view.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

constexpr int acceleration_threads = 256;

// Purpose        adds the forces of constant accelerations
// Work           by a thread per slot
// Reads/Writes   masses, groups / forces of home atoms (atomic additions, since other branches add to them meanwhile)
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           33 bytes per slot
template <class N>
__global__ void __launch_bounds__(acceleration_threads)
    acceleration_kernel(BlockTrace tracing, GpuView<N> state, std::int64_t slots, const VelocityMass<N>* v,
                        const std::uint8_t* group_of_atom, const Vec3<double>* of_group)
{
    const BlockSpan span(tracing);

    using Sum = typename N::ForceSum;
    const auto slot = static_cast<std::int32_t>(static_cast<std::int64_t>(blockIdx.x) * acceleration_threads + threadIdx.x);
    if (slot >= slots || state.global_of_slot[slot] < 0 || state.zone(slot) != 0) { return; }
    const auto inverse_mass = static_cast<double>(v[slot].inverse_mass);
    if (!(inverse_mass > 0)) { return; } // virtual sites have no mass
    const Vec3<double> f = 1 / inverse_mass * of_group[group_of_atom[state.global_of_slot[slot]]];
    state.add_force(slot, {to_sum<Sum>(f.x), to_sum<Sum>(f.y), to_sum<Sum>(f.z)});
}

} // namespace

GpuAcceleration::GpuAcceleration(GpuQueue& queue, const GroupAcceleration& acceleration)
{
    group_of_atom.upload(queue, acceleration.group_of_atom), of_group.upload(queue, acceleration.of_group);
    queue.synchronize();
}

template <class N>
void add_acceleration(GpuQueue& queue, const GpuAcceleration& acceleration, GpuState<N>& state)
{
    if (acceleration.of_group.size() == 0 || state.slots == 0) { return; }
    launch(queue, Phase::SumForces, acceleration_kernel<N>, one_thread_each(state.slots, acceleration_threads), GpuView<N>(state),
           static_cast<std::int64_t>(state.slots), state.v.data(), acceleration.group_of_atom.data(),
           acceleration.of_group.data());
}

#define PARHELION_INSTANTIATE(N) template void add_acceleration<N>(GpuQueue&, const GpuAcceleration&, GpuState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
