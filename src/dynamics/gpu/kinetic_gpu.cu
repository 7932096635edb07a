// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/block_sum.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "dynamics/barostat_body.hpp"
#include "dynamics/gpu/kinetic_gpu.hpp"
#include "state/gpu/view.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

constexpr int threads = 256;

// The velocities of slots. A kernel reads them, and changes them if V is not const.
template <class N, class V = const VelocityMass<N>>
struct Velocities
{
    V* v;
    const std::uint8_t* temperature_group;
    const std::int32_t* global_of_slot;
    const std::uint8_t* zone_of_supercluster;
    std::int64_t slots;

    template <class State>
    explicit Velocities(State& s)
        : v(s.v.data()), temperature_group(s.temperature_group.data()), global_of_slot(s.global_of_slot.data()),
          zone_of_supercluster(s.zone_of_supercluster.data()), slots(static_cast<std::int64_t>(s.slots))
    {
    }
    __device__ static std::int64_t my_slot() { return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; }
    // Returns whether the slot has a home atom.
    __device__ bool is_home(std::int64_t slot) const
    {
        return slot < slots && zone_of_supercluster[slot / supercluster_size] == 0 && global_of_slot[slot] >= 0;
    }
    __device__ Vec3<double> velocity(std::int64_t slot) const
    {
        return {static_cast<double>(v[slot].x), static_cast<double>(v[slot].y), static_cast<double>(v[slot].z)};
    }
    __device__ void set_velocity(std::int64_t slot, const Vec3<double>& a) const
    {
        using Real = typename N::Real;
        v[slot].x = static_cast<Real>(a.x), v[slot].y = static_cast<Real>(a.y), v[slot].z = static_cast<Real>(a.z);
    }
};
template <class N>
using ChangedVelocities = Velocities<N, VelocityMass<N>>;

// Adds `value` to the sums of the group of this thread's atom. A thread block goes only through groups that occur in it.
template <int n, class Sum>
__device__ void add_group_sums(const Sum (&value)[n], int group, int groups, Sum* sums)
{
    for (int g = 0; g < groups; ++g)
    {
        if (groups > 1 && __syncthreads_or(static_cast<int>(group == g)) == 0) { continue; }
        Sum mine[n];
        for (int k = 0; k < n; ++k) { mine[k] = group == g ? value[k] : Sum{}; }
        add_block_sums(mine, sums + g * n);
    }
}

// Returns the mass of an atom, u; it is 0 for a virtual site.
template <class N>
__device__ double mass_of(const Velocities<N>& a, std::int64_t slot)
{
    const auto inverse = static_cast<double>(a.v[slot].inverse_mass);
    return inverse > 0 ? 1 / inverse : 0;
}

// Purpose        computes kinetic energy tensors of the temperature groups
// Work           by a thread per slot
// Reads/Writes   velocities, masses, groups / sums (one atomic per block, group and element)
// Orders         no memory accesses; the order of the stream suffices
// Requires       cleared sums
// Cost           21 bytes, 20 flop per slot
template <class N>
__global__ void __launch_bounds__(threads) kinetic_kernel(BlockTrace tracing, Velocities<N> a, int groups, ScalarSum<N>* sums)
{
    const BlockSpan span(tracing);

    ScalarSum<N> value[kinetic_elements] = {};
    int group = -1;
    const std::int64_t slot = a.my_slot();
    if (a.is_home(slot))
    {
        group = a.temperature_group[slot];
        const Vec3<double> v = a.velocity(slot);
        const double half_mass = 0.5 * mass_of(a, slot);
        const double products[kinetic_elements] = {v.x * v.x, v.y * v.y, v.z * v.z, v.x * v.y, v.x * v.z, v.y * v.z};
        for (int k = 0; k < kinetic_elements; ++k) { value[k] = to_sum<ScalarSum<N>>(half_mass * products[k]); }
    }
    add_group_sums(value, group, groups, sums);
}

// The positions of atoms, for kernels that need no other data of the state.
template <class N>
struct Places
{
    const PositionCharge<N>* xq;
    const DeviceScalars* scalars;

    __device__ Vec3<double> nm(std::int64_t slot) const
    {
        const PositionCharge<N>& p = xq[slot];
        return scalars->nm_per_unit.to_nm({static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z)});
    }
};

// Returns the rotation of a group from its sums.
template <class N>
__device__ Rotation rotation_of_group(const ScalarSum<N>* sum)
{
    double values[angular_com_sums];
    for (int k = 0; k < angular_com_sums; ++k) { values[k] = from_sum(sum[k]); }
    return rotation_of(values);
}

__device__ int com_group(const std::uint8_t* of_atom, std::int32_t global) { return of_atom == nullptr ? 0 : of_atom[global]; }

// Purpose        sums momentum and mass of the centre-of-mass groups; with rotation, sums all of com_products()
// Work           by a thread per slot
// Reads/Writes   velocities, masses, global numbers, with rotation positions / sums
// Orders         no memory accesses; the order of the stream suffices
// Requires       cleared sums
// Cost           21 bytes, 10 flop per slot
template <class N, ComMode mode>
__global__ void __launch_bounds__(threads)
    com_kernel(BlockTrace tracing, Velocities<N> a, Places<N> places, const std::uint8_t* of_atom, int groups, ScalarSum<N>* sums)
{
    const BlockSpan span(tracing);

    constexpr int elements = com_sum_count(mode);
    ScalarSum<N> value[elements] = {};
    int group = AtomGroups::none;
    const std::int64_t slot = a.my_slot();
    if (a.is_home(slot))
    {
        group = com_group(of_atom, a.global_of_slot[slot]);
        if (group != AtomGroups::none)
        {
            const Vec3<double> v = a.velocity(slot);
            const double mass = mass_of(a, slot);
            double products[elements];
            com_products(mode, mass, v, mode == ComMode::Angular ? places.nm(slot) : Vec3<double>{}, products);
            for (int k = 0; k < elements; ++k) { value[k] = to_sum<ScalarSum<N>>(products[k]); }
        }
    }
    add_group_sums(value, group, groups, sums);
}

// The frozen atoms, for the kernel below. Pointers are null if no atom is frozen.
struct Frozen
{
    const Vec3<double>*mass, *mobility;
};

// Purpose        subtracts the motion of each group's centre of mass, and its rotation, from velocities
// Work           by a thread per slot
// Reads/Writes   velocities (read and written), global numbers, sums, with rotation positions
// Orders         no memory accesses; the order of the stream suffices
// Requires       the sums of com_kernel
// Cost           36 bytes per slot
template <class N, ComMode mode>
__global__ void __launch_bounds__(threads)
    subtract_com_kernel(BlockTrace tracing, ChangedVelocities<N> a, Places<N> places, const std::uint8_t* of_atom, Frozen frozen,
                        const ScalarSum<N>* sums)
{
    const BlockSpan span(tracing);

    const std::int64_t slot = a.my_slot();
    if (!a.is_home(slot)) { return; }
    const int group = com_group(of_atom, a.global_of_slot[slot]);
    if (group == AtomGroups::none) { return; }
    const ScalarSum<N>* const sum = sums + group * com_sum_count(mode);
    const Vec3<double> momentum{from_sum(sum[0]), from_sum(sum[1]), from_sum(sum[2])};
    Vec3<double> motion = com_velocity(momentum, from_sum(sum[3]), frozen.mass == nullptr ? Vec3<double>{} : frozen.mass[group]);
    if constexpr (mode == ComMode::Angular) { motion += rotation_of_group<N>(sum).at(places.nm(slot)); }
    if (frozen.mobility != nullptr) { motion = along(frozen.mobility[a.temperature_group[slot]], motion); }
    a.set_velocity(slot, a.velocity(slot) - motion);
}

// Purpose        multiplies all velocities by one factor for each axis
// Work           by a thread per slot
// Reads/Writes   velocities (read and written), the factor
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           28 bytes per slot
template <class N>
__global__ void __launch_bounds__(threads) scale_kernel(BlockTrace tracing, ChangedVelocities<N> a, const Vec3<double>* factor)
{
    const BlockSpan span(tracing);

    const std::int64_t slot = a.my_slot();
    if (!a.is_home(slot)) { return; }
    const Vec3<double> v = a.velocity(slot), by = *factor;
    a.set_velocity(slot, {by.x * v.x, by.y * v.y, by.z * v.z});
}

// Purpose        multiplies the velocities of each temperature group by one factor
// Work           by a thread per slot
// Reads/Writes   velocities (read and written), groups, factors
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           29 bytes per slot; only in steps with output of velocities that a Nose-Hoover chain scales
template <class N>
__global__ void __launch_bounds__(threads)
    scale_groups_kernel(BlockTrace tracing, ChangedVelocities<N> a, const double* factors, int groups)
{
    const BlockSpan span(tracing);

    const std::int64_t slot = a.my_slot();
    if (a.is_home(slot)) { a.set_velocity(slot, factors[a.temperature_group[slot] % groups] * a.velocity(slot)); }
}

// Purpose        moves frozen atoms back after the box has changed
// Work           by a thread per slot
// Reads/Writes   positions of frozen atoms (read and written), groups, boxes
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           6 bytes per slot, 32 more for a frozen atom; only in runs with frozen atoms
template <class N>
__global__ void __launch_bounds__(threads)
    hold_kernel(BlockTrace tracing, ChangedVelocities<N> a, PositionCharge<N>* xq, const Vec3<double>* mobility,
                const Box<double>* before, const DeviceScalars* scalars)
{
    const BlockSpan span(tracing);

    const std::int64_t slot = a.my_slot();
    if (!a.is_home(slot)) { return; }
    const Vec3<double> moves = mobility[a.temperature_group[slot]];
    if (moves == Vec3<double>{1, 1, 1}) { return; }
    const Vec3<typename N::Fixed> x = held(PeriodicBox<N>(*before), PeriodicBox<N>(scalars->box), moves,
                                           Vec3<typename N::Fixed>{xq[slot].x, xq[slot].y, xq[slot].z});
    xq[slot].x = x.x, xq[slot].y = x.y, xq[slot].z = x.z;
}

template <class T>
const T* table_of(const DeviceBuffer<T>& buffer)
{
    return buffer.size() == 0 ? nullptr : buffer.data();
}

} // namespace

template <class N>
void add_kinetic(GpuQueue& queue, const GpuState<N>& state, int groups, ScalarSum<N>* sums)
{
    launch(queue, Phase::Kinetic, kinetic_kernel<N>, one_thread_each(state.slots, threads), Velocities<N>(state), groups, sums);
}

GpuComGroups::GpuComGroups(GpuQueue& queue, const ComGroups& com, const Mobility& mobility_of_groups, ComMode com_mode)
    : count(com.groups.count), mode(com_mode)
{
    of_atom.upload(queue, com.groups.of_atom);
    frozen.upload(queue, com.frozen), mobility.upload(queue, mobility_of_groups);
    queue.synchronize();
}

template <class N>
void add_com_motion(GpuQueue& queue, const GpuComGroups& groups, const GpuState<N>& state, ScalarSum<N>* sums)
{
    const auto kernel = groups.mode == ComMode::Angular ? com_kernel<N, ComMode::Angular> : com_kernel<N, ComMode::Linear>;
    launch(queue, Phase::Kinetic, kernel, one_thread_each(state.slots, threads), Velocities<N>(state),
           Places<N>{state.xq.data(), state.scalars.data()}, table_of(groups.of_atom), groups.count, sums);
}

template <class N>
void subtract_com_motion(GpuQueue& queue, const GpuComGroups& groups, const ScalarSum<N>* sums, GpuState<N>& state)
{
    const auto kernel =
        groups.mode == ComMode::Angular ? subtract_com_kernel<N, ComMode::Angular> : subtract_com_kernel<N, ComMode::Linear>;
    launch(queue, Phase::Kinetic, kernel, one_thread_each(state.slots, threads), ChangedVelocities<N>(state),
           Places<N>{state.xq.data(), state.scalars.data()}, table_of(groups.of_atom),
           Frozen{table_of(groups.frozen), table_of(groups.mobility)}, sums);
}

template <class N>
void hold_frozen(GpuQueue& queue, const DeviceBuffer<Vec3<double>>& mobility, const Box<double>* before, GpuState<N>& state)
{
    launch(queue, Phase::Couple, hold_kernel<N>, one_thread_each(state.slots, threads), ChangedVelocities<N>(state),
           state.xq.data(), mobility.data(), before, state.scalars.data());
}

template <class N>
void scale_velocities(GpuQueue& queue, const Vec3<double>* factor, GpuState<N>& state)
{
    launch(queue, Phase::Couple, scale_kernel<N>, one_thread_each(state.slots, threads), ChangedVelocities<N>(state), factor);
}

template <class N>
void scale_velocities_of_groups(GpuQueue& queue, const double* factors, int groups, GpuState<N>& state)
{
    launch(queue, Phase::Couple, scale_groups_kernel<N>, one_thread_each(state.slots, threads), ChangedVelocities<N>(state),
           factors, groups);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void add_kinetic<N>(GpuQueue&, const GpuState<N>&, int, ScalarSum<N>*);                                             \
    template void add_com_motion<N>(GpuQueue&, const GpuComGroups&, const GpuState<N>&, ScalarSum<N>*);                          \
    template void subtract_com_motion<N>(GpuQueue&, const GpuComGroups&, const ScalarSum<N>*, GpuState<N>&);                     \
    template void hold_frozen<N>(GpuQueue&, const DeviceBuffer<Vec3<double>>&, const Box<double>*, GpuState<N>&);                \
    template void scale_velocities<N>(GpuQueue&, const Vec3<double>*, GpuState<N>&);                                             \
    template void scale_velocities_of_groups<N>(GpuQueue&, const double*, int, GpuState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
