// SPDX-License-Identifier: Apache-2.0
#include "state/gpu_state.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

// Columns as wide as the cube that holds a supercluster's atoms at the mean density.
int columns_along(double length, const Vec3<double>& box, std::size_t atoms)
{
    const double volume = box.x * box.y * box.z;
    const double edge = std::cbrt(volume * supercluster_size / static_cast<double>(std::max<std::size_t>(atoms, 1)));
    return std::clamp(static_cast<int>(std::lround(length / edge)), 1, 1024);
}

template <class N>
void resize(GpuState<N>& state, std::size_t globals)
{
    const std::size_t n = state.slots;
    state.xq.resize(n), state.v.resize(n), state.f.resize(n);
    state.lj_type.resize(n), state.temperature_group.resize(n), state.global_of_slot.resize(n);
    state.slot_of_global.resize(globals);
    state.first_supercluster.resize(state.columns() + 1);
    state.zone_of_supercluster.resize(state.superclusters());
    state.scalars.resize(1), state.energies.resize(1);
}

} // namespace

template <class N>
void upload(GpuQueue& queue, const ParticleState<N>& from, GpuState<N>& to)
{
    const std::size_t globals = from.slot_of_global.size();
    const Vec3<double>& box = from.box.length();
    std::vector<std::int32_t> slot_of_global(globals, -1), global_of_slot;
    for (std::size_t g = 0; g < globals; ++g)
    {
        if (!from.is_home(from.slot_of_global[g])) { continue; }
        slot_of_global[g] = static_cast<std::int32_t>(global_of_slot.size());
        global_of_slot.push_back(static_cast<std::int32_t>(g));
    }
    to.atoms = global_of_slot.size();
    to.columns_x = columns_along(box.x, box, to.atoms), to.columns_y = columns_along(box.y, box, to.atoms);
    to.slots = (to.atoms / supercluster_size + std::min(to.columns(), to.atoms)) * supercluster_size;
    to.slots = std::max<std::size_t>(to.slots, supercluster_size);
    resize(to, globals);

    std::vector<PositionCharge<N>> xq(to.slots);
    std::vector<VelocityMass<N>> v(to.slots);
    std::vector<std::int32_t> lj_type(to.slots);
    std::vector<std::uint8_t> temperature_group(to.slots);
    global_of_slot.resize(to.slots, -1);
    for (std::size_t slot = 0; slot < to.atoms; ++slot)
    {
        const auto old = static_cast<std::size_t>(from.slot_of_global[static_cast<std::size_t>(global_of_slot[slot])]);
        const auto x = from.x.get(old);
        const auto u = from.v.get(old);
        xq[slot] = {x.x, x.y, x.z, from.charge[old]};
        v[slot] = {u.x, u.y, u.z, from.inverse_mass[old]};
        lj_type[slot] = from.lj_type[old];
        temperature_group[slot] = from.temperature_group[old];
    }
    to.xq.upload(queue, xq), to.v.upload(queue, v);
    to.lj_type.upload(queue, lj_type), to.temperature_group.upload(queue, temperature_group);
    to.global_of_slot.upload(queue, global_of_slot), to.slot_of_global.upload(queue, slot_of_global);
    DeviceScalars scalars;
    scalars.box_length = box, scalars.nm_per_unit = from.box.nm_per_unit();
    to.scalars.upload(queue, {&scalars, 1});
    to.first_supercluster.clear(queue), to.zone_of_supercluster.clear(queue);
    to.f.clear(queue), to.energies.clear(queue);
    queue.synchronize();
}

template <class N>
void download(GpuQueue& queue, const GpuState<N>& from, ParticleState<N>& to)
{
    PARHELION_EXPECTS(from.slot_of_global.size() == to.slot_of_global.size());
    const std::vector<DeviceScalars> scalars = from.scalars.to_vector(queue);
    const std::vector<PositionCharge<N>> xq = from.xq.to_vector(queue);
    const std::vector<VelocityMass<N>> v = from.v.to_vector(queue);
    const std::vector<ForceSlot<N>> f = from.f.to_vector(queue);
    const std::vector<std::int32_t> slot_of_global = from.slot_of_global.to_vector(queue);
    to.box.set_length(scalars[0].box_length);
    for (std::size_t new_slot = 0; new_slot < to.slots(); ++new_slot)
    {
        // A filler sits on an atom of its cluster; the nearest atom before it serves.
        std::size_t atom_slot = new_slot;
        while (to.global_of_slot[atom_slot] < 0 && atom_slot > 0) { --atom_slot; }
        const std::int32_t global = to.global_of_slot[atom_slot];
        if (global < 0) { continue; }
        const auto slot = static_cast<std::size_t>(slot_of_global[static_cast<std::size_t>(global)]);
        to.x.set(new_slot, {xq[slot].x, xq[slot].y, xq[slot].z});
        if (atom_slot != new_slot || new_slot >= to.home_slots()) { continue; }
        to.v.set(new_slot, {v[slot].x, v[slot].y, v[slot].z});
        to.f.set(new_slot, {f[slot].x, f[slot].y, f[slot].z});
    }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void upload<N>(GpuQueue&, const ParticleState<N>&, GpuState<N>&);                                                   \
    template void download<N>(GpuQueue&, const GpuState<N>&, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
