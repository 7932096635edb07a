// SPDX-License-Identifier: Apache-2.0
#include "engine/snapshot_gpu.hpp"

#include "device/block_trace.cuh"
#include "device/launch.cuh"
#include "state/gpu_view.cuh"

namespace parhelion {

namespace {

constexpr int threads = 256;

__device__ std::int64_t my_index() { return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; }

// The coupling's part of a snapshot, on one side or the other.
struct CouplingPart
{
    DeviceScalars* scalars;
    CouplingState* coupling;
    CouplingGroup* groups;
    int count;
};

__device__ void copy_coupling(const CouplingPart& from, const CouplingPart& to)
{
    for (int g = 0; g < from.count; ++g) { to.groups[g] = from.groups[g]; }
    *to.coupling = *from.coupling;
    *to.scalars = *from.scalars;
}

// Purpose        positions, velocities and coupling in input order
// Work           a thread per slot; one more copies what is not per atom
// Reads/Writes   state / snapshot
// Orders         nothing: stream order alone
// Requires       -
// Cost           64 bytes per atom
template <class N>
__global__ void __launch_bounds__(threads)
    take_snapshot_kernel(BlockTrace tracing, GpuView<N> state, std::int64_t slots, Vec3<typename N::Fixed>* x,
                         Vec3<typename N::Real>* v, CouplingPart from, CouplingPart to)
{
    const BlockSpan span(tracing);

    if (state.scalars->flags != 0) { return; }
    const std::int64_t slot = my_index();
    if (slot == 0) { copy_coupling(from, to); }
    if (slot >= slots) { return; }
    const std::int32_t global = state.global_of_slot[slot];
    if (global < 0) { return; }
    const VelocityMass<N> velocity = state.v[slot];
    x[global] = state.position(static_cast<std::int32_t>(slot));
    v[global] = {velocity.x, velocity.y, velocity.z};
}

// Purpose        the opposite of take_snapshot_kernel
// Work           a thread per slot; one more copies what is not per atom
// Reads/Writes   snapshot / state
// Orders         nothing: stream order alone
// Requires       a snapshot of the same system
// Cost           80 bytes per atom
template <class N>
__global__ void __launch_bounds__(threads)
    put_back_kernel(BlockTrace tracing, GpuView<N> state, std::int64_t slots, const Vec3<typename N::Fixed>* x,
                    const Vec3<typename N::Real>* v, CouplingPart from, CouplingPart to)
{
    const BlockSpan span(tracing);

    const std::int64_t slot = my_index();
    if (slot == 0)
    {
        copy_coupling(from, to);
        to.scalars->flags = 0;
    }
    if (slot >= slots) { return; }
    const std::int32_t global = state.global_of_slot[slot];
    if (global < 0) { return; }
    state.xq[slot].x = x[global].x, state.xq[slot].y = x[global].y, state.xq[slot].z = x[global].z;
    state.v[slot].x = v[global].x, state.v[slot].y = v[global].y, state.v[slot].z = v[global].z;
}

// Purpose        forces in input order
// Work           a thread per slot
// Reads/Writes   forces, global numbers / forces by global atom
// Orders         nothing: stream order alone
// Requires       complete forces
// Cost           44 bytes per atom
template <class N>
__global__ void __launch_bounds__(threads)
    gather_forces_kernel(BlockTrace tracing, GpuView<N> state, std::int64_t slots, Vec3<typename N::ForceSum>* f)
{
    const BlockSpan span(tracing);

    const std::int64_t slot = my_index();
    if (slot >= slots || state.global_of_slot[slot] < 0) { return; }
    const ForceSlot<N> sum = state.f[slot];
    f[state.global_of_slot[slot]] = {sum.x, sum.y, sum.z};
}

// Purpose        the step that the next replayed interval begins with
// Work           one thread
// Reads/Writes   the step (both)
// Orders         nothing: stream order alone
// Requires       -
// Cost           a launch
__global__ void advance_step_kernel(BlockTrace tracing, DeviceScalars* scalars, std::int64_t steps)
{
    const BlockSpan span(tracing);
    scalars->step += steps;
}

template <class N>
CouplingPart part_of(const GpuSnapshot<N>& s)
{
    auto& snapshot = const_cast<GpuSnapshot<N>&>(s); // read in one direction, written in the other
    return {snapshot.scalars.data(), snapshot.coupling.data(), snapshot.groups.data(), static_cast<int>(snapshot.groups.size())};
}
template <class N>
CouplingPart part_of(GpuState<N>& state, GpuCoupling<N>& coupling)
{
    return {state.scalars.data(), coupling.state().data(), coupling.groups().data(), static_cast<int>(coupling.groups().size())};
}

} // namespace

template <class N>
void GpuSnapshot<N>::resize(GpuQueue& queue, std::size_t atoms, std::size_t coupling_groups)
{
    x.resize(atoms), v.resize(atoms);
    scalars.resize(1), coupling.resize(1), groups.resize(coupling_groups);
    scalars.clear(queue), coupling.clear(queue); // their padding is read by the host, but not written by kernels
}

template <class N>
void take_snapshot(GpuQueue& queue, GpuState<N>& state, GpuCoupling<N>& coupling, GpuSnapshot<N>& snapshot)
{
    launch(queue, Phase::Output, take_snapshot_kernel<N>, one_thread_each(state.slots, threads), GpuView<N>(state),
           static_cast<std::int64_t>(state.slots), snapshot.x.data(), snapshot.v.data(), part_of(state, coupling),
           part_of(snapshot));
}

template <class N>
void put_back(GpuQueue& queue, const GpuSnapshot<N>& snapshot, GpuState<N>& state, GpuCoupling<N>& coupling)
{
    state.f.clear(queue);
    state.energies.clear(queue);
    coupling.clear_sums(queue);
    launch(queue, Phase::Output, put_back_kernel<N>, one_thread_each(state.slots, threads), GpuView<N>(state),
           static_cast<std::int64_t>(state.slots), snapshot.x.data(), snapshot.v.data(), part_of(snapshot),
           part_of(state, coupling));
}

template <class N>
void gather_forces(GpuQueue& queue, GpuState<N>& state, DeviceBuffer<Vec3<typename N::ForceSum>>& f)
{
    launch(queue, Phase::Output, gather_forces_kernel<N>, one_thread_each(state.slots, threads), GpuView<N>(state),
           static_cast<std::int64_t>(state.slots), f.data());
}

template <class N>
void advance_step(GpuQueue& queue, std::int64_t steps, GpuState<N>& state)
{
    launch(queue, Phase::Output, advance_step_kernel, {1, 1, 0}, state.scalars.data(), steps);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template struct GpuSnapshot<N>;                                                                                              \
    template void take_snapshot<N>(GpuQueue&, GpuState<N>&, GpuCoupling<N>&, GpuSnapshot<N>&);                                   \
    template void put_back<N>(GpuQueue&, const GpuSnapshot<N>&, GpuState<N>&, GpuCoupling<N>&);                                  \
    template void gather_forces<N>(GpuQueue&, GpuState<N>&, DeviceBuffer<Vec3<typename N::ForceSum>>&);                          \
    template void advance_step<N>(GpuQueue&, std::int64_t, GpuState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
