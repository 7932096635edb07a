// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/snapshot_gpu.hpp"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "state/gpu/view.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

constexpr int threads = 256;

__device__ std::int64_t my_index() { return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; }

// The part of a snapshot that is not per atom. It is the source or the destination of a copy.
struct ScalarsAndCoupling
{
    DeviceScalars* scalars;
    CouplingView coupling;
};

__device__ void copy(const ScalarsAndCoupling& from, const ScalarsAndCoupling& to)
{
    for (int g = 0; g < from.coupling.groups; ++g)
    {
        to.coupling.thermostat[g] = from.coupling.thermostat[g];
        to.coupling.half_step[g] = from.coupling.half_step[g];
    }
    *to.coupling.system = *from.coupling.system;
    *to.scalars = *from.scalars;
}

// Purpose        copies positions, velocities and coupling from an exchange buffer to a snapshot, in input order
// Work           by a thread per atom; one more thread copies the values that are not per atom
// Reads/Writes   exchange buffer, coupling / snapshot
// Orders         no memory accesses; the order of the stream suffices
// Requires       the exchange buffer complete, i.e. a publication and its barrier before
// Cost           56 bytes per atom
template <class N>
__global__ void __launch_bounds__(threads)
    keep_kernel(BlockTrace tracing, GpuExchangeBuffer<N> exchange_buffer, std::int64_t atoms, const DeviceScalars* scalars,
                Vec3<typename N::Fixed>* x, Vec3<typename N::Real>* v, ScalarsAndCoupling from, ScalarsAndCoupling to)
{
    const BlockSpan span(tracing);

    if (scalars->flags != 0) { return; }
    const std::int64_t g = my_index();
    if (g == 0) { copy(from, to); }
    if (g >= atoms) { return; }
    const PositionCharge<N> p = exchange_buffer.x[g];
    const VelocityMass<N> u = exchange_buffer.v[g];
    x[g] = {p.x, p.y, p.z};
    v[g] = {u.x, u.y, u.z};
}

// Purpose        copies a snapshot to the exchange buffers of all ranks
// Work           by a thread per atom
// Reads/Writes   snapshot / exchange buffers, except charges and masses
// Orders         no memory accesses: the host waits for this kernel before it queues readers of the exchange buffers
// Requires       no kernel reads or publishes meanwhile
// Cost           24 bytes per atom and exchange buffer
template <class N>
__global__ void __launch_bounds__(threads)
    put_back_kernel(BlockTrace tracing, const Vec3<typename N::Fixed>* x, const Vec3<typename N::Real>* v, std::int64_t atoms,
                    const GpuExchangeBuffer<N>* exchange_buffers, int buffer_count)
{
    const BlockSpan span(tracing);

    const std::int64_t g = my_index();
    if (g >= atoms) { return; }
    for (int b = 0; b < buffer_count; ++b)
    {
        PositionCharge<N>& p = exchange_buffers[b].x[g];
        VelocityMass<N>& u = exchange_buffers[b].v[g];
        p.x = x[g].x, p.y = x[g].y, p.z = x[g].z;
        u.x = v[g].x, u.y = v[g].y, u.z = v[g].z;
    }
}

// Purpose        copies a snapshot to the slots of its atoms
// Work           by a thread per slot
// Reads/Writes   snapshot, global numbers / positions and velocities, except charges and masses
// Orders         no memory accesses; the order of the stream suffices
// Requires       no halo atoms, and no reader of the state on another stream
// Cost           76 bytes per atom
template <class N>
__global__ void __launch_bounds__(threads)
    put_back_in_place_kernel(BlockTrace tracing, GpuView<N> state, std::int64_t slots, const Vec3<typename N::Fixed>* x,
                             const Vec3<typename N::Real>* v)
{
    const BlockSpan span(tracing);

    const std::int64_t slot = my_index();
    if (slot >= slots) { return; }
    const std::int32_t g = state.global_of_slot[slot];
    if (g < 0) { return; }
    PositionCharge<N>& p = state.xq[slot];
    VelocityMass<N>& u = state.v[slot];
    p.x = x[g].x, p.y = x[g].y, p.z = x[g].z;
    u.x = v[g].x, u.y = v[g].y, u.z = v[g].z;
}

// Purpose        writes forces in input order
// Work           by a thread per slot
// Reads/Writes   forces, global numbers / forces indexed by global atom
// Orders         no memory accesses; the order of the stream suffices
// Requires       forces to be complete
// Cost           44 bytes per atom
template <class N>
__global__ void __launch_bounds__(threads)
    gather_forces_kernel(BlockTrace tracing, GpuView<N> state, std::int64_t slots, Vec3<typename N::ForceSum>* f)
{
    const BlockSpan span(tracing);

    const std::int64_t slot = my_index();
    if (slot >= slots || state.global_of_slot[slot] < 0) { return; }
    if (state.zone_of_supercluster[slot / supercluster_size] != 0) { return; } // a halo atom
    const ForceSlot<N> sum = state.f[slot];
    f[state.global_of_slot[slot]] = {sum.x, sum.y, sum.z};
}

// Purpose        sets the step with which the next replayed interval begins
// Work           by one thread
// Reads/Writes   the step (read and written)
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           one launch
__global__ void advance_step_kernel(BlockTrace tracing, DeviceScalars* scalars, std::int64_t steps)
{
    const BlockSpan span(tracing);
    scalars->step += steps;
}

template <class T>
void copy(GpuQueue& queue, const DeviceBuffer<T>& from, DeviceBuffer<T>& to)
{
    PARHELION_EXPECTS(from.size() == to.size());
    gpu_memory::on_device(queue, to.data(), from.data(), from.size() * sizeof(T));
}

template <class N>
ScalarsAndCoupling part_of(GpuSnapshot<N>& snapshot)
{
    return {snapshot.scalars.data(), snapshot.coupling.view()};
}
template <class N>
ScalarsAndCoupling part_of(GpuState<N>& state, GpuCoupling<N>& coupling)
{
    return {state.scalars.data(), coupling.state().view()};
}

} // namespace

template <class N>
void GpuSnapshot<N>::resize(GpuQueue& queue, std::size_t atoms, std::size_t coupling_groups)
{
    x.resize(atoms), v.resize(atoms);
    scalars.resize(1), coupling.resize(coupling_groups);
    // The host reads whole arrays, including padding, even if a flag prevented the snapshot. It then discards the data.
    x.clear(queue), v.clear(queue), scalars.clear(queue), coupling.clear(queue);
}

template <class N>
void keep(GpuQueue& queue, const GpuExchangeBuffer<N>& exchange_buffer, GpuState<N>& state, GpuCoupling<N>& coupling,
          GpuSnapshot<N>& snapshot)
{
    launch(queue, Phase::Output, keep_kernel<N>, one_thread_each(snapshot.x.size(), threads), exchange_buffer,
           static_cast<std::int64_t>(snapshot.x.size()), state.scalars.data(), snapshot.x.data(), snapshot.v.data(),
           part_of(state, coupling), part_of(snapshot));
}

template <class N>
void put_back_atoms(GpuQueue& queue, const GpuSnapshot<N>& snapshot, const DeviceBuffer<GpuExchangeBuffer<N>>& exchange_buffers)
{
    launch(queue, Phase::Output, put_back_kernel<N>, one_thread_each(snapshot.x.size(), threads), snapshot.x.data(),
           snapshot.v.data(), static_cast<std::int64_t>(snapshot.x.size()), exchange_buffers.data(),
           static_cast<int>(exchange_buffers.size()));
}

template <class N>
void put_back_atoms_in_place(GpuQueue& queue, const GpuSnapshot<N>& snapshot, GpuState<N>& state)
{
    launch(queue, Phase::Output, put_back_in_place_kernel<N>, one_thread_each(state.slots, threads), GpuView<N>(state),
           static_cast<std::int64_t>(state.slots), snapshot.x.data(), snapshot.v.data());
}

template <class N>
void put_back_coupling(GpuQueue& queue, const GpuSnapshot<N>& snapshot, GpuState<N>& state, GpuCoupling<N>& coupling)
{
    state.f.clear(queue);
    state.energies.clear(queue);
    coupling.forget_step(queue);
    copy(queue, snapshot.scalars, state.scalars);
    copy(queue, snapshot.coupling.system, coupling.state().system);
    copy(queue, snapshot.coupling.thermostat, coupling.state().thermostat);
    copy(queue, snapshot.coupling.half_step, coupling.state().half_step);
    gpu_memory::set_bytes(queue, &state.scalars.data()->flags, 0, sizeof(std::uint32_t));
}

template <class N>
void gather_forces(GpuQueue& queue, GpuState<N>& state, Vec3<typename N::ForceSum>* f)
{
    launch(queue, Phase::Output, gather_forces_kernel<N>, one_thread_each(state.slots, threads), GpuView<N>(state),
           static_cast<std::int64_t>(state.slots), f);
}

template <class N>
void advance_step(GpuQueue& queue, std::int64_t steps, GpuState<N>& state)
{
    launch(queue, Phase::Output, advance_step_kernel, {1, 1, 0}, state.scalars.data(), steps);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template struct GpuSnapshot<N>;                                                                                              \
    template void keep<N>(GpuQueue&, const GpuExchangeBuffer<N>&, GpuState<N>&, GpuCoupling<N>&, GpuSnapshot<N>&);               \
    template void put_back_atoms<N>(GpuQueue&, const GpuSnapshot<N>&, const DeviceBuffer<GpuExchangeBuffer<N>>&);                \
    template void put_back_atoms_in_place<N>(GpuQueue&, const GpuSnapshot<N>&, GpuState<N>&);                                    \
    template void put_back_coupling<N>(GpuQueue&, const GpuSnapshot<N>&, GpuState<N>&, GpuCoupling<N>&);                         \
    template void gather_forces<N>(GpuQueue&, GpuState<N>&, Vec3<typename N::ForceSum>*);                                        \
    template void advance_step<N>(GpuQueue&, std::int64_t, GpuState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
