// SPDX-License-Identifier: Apache-2.0
#include "state/gpu/particle_state_gpu.hpp"

#include "base/error.hpp"
#include "device/gpu/launch.cuh"
#include "state/rank_slots.hpp"

namespace parhelion {

namespace {

template <class N>
void resize(GpuState<N>& state, std::size_t globals)
{
    const std::size_t n = state.slots;
    state.xq.resize(n), state.v.resize(n), state.f.resize(n);
    state.lj_type.resize(n), state.temperature_group.resize(n), state.global_of_slot.resize(n);
    state.slot_of_global.resize(globals);
    state.first_supercluster.resize(static_cast<std::size_t>(state.columns.count) + 1);
    state.zone_of_supercluster.resize(state.superclusters());
    state.scalars.resize(1), state.energies.resize(1);
}

} // namespace

template <class N>
void reserve_slots(GpuQueue& queue, const GpuCell& cell, const Box<double>& box, std::size_t atoms, double density_factor,
                   GpuState<N>& state)
{
    PARHELION_EXPECTS(cell.zones() < 256);
    const RankSlots planned = plan_slots(cell, box, atoms, density_factor, queue.shared_bytes_of_block());
    state.atoms = planned.atoms, state.slots = planned.slots, state.columns = planned.columns;
    state.is_tilted = !box.is_rectangular();
    resize(state, atoms);

    DeviceScalars scalars;
    scalars.set_box<N>(box);
    state.scalars.upload(queue, {&scalars, 1});
    state.global_of_slot.upload(queue, std::vector<std::int32_t>(state.slots, -1));
    state.first_supercluster.clear(queue), state.zone_of_supercluster.clear(queue);
    state.f.clear(queue), state.energies.clear(queue);
    queue.synchronize();
}

template <class N>
void upload(GpuQueue& queue, const ParticleState<N>& from, GpuState<N>& to)
{
    const std::size_t atoms = from.slot_of_global.size();
    reserve_slots(queue, GpuCell{}, from.box.edges(), atoms, 1, to);
    std::vector<std::int32_t> slot_of_global(atoms), global_of_slot(to.slots, -1);
    std::vector<PositionCharge<N>> xq(to.slots);
    std::vector<VelocityMass<N>> v(to.slots);
    std::vector<std::int32_t> lj_type(to.slots);
    std::vector<std::uint8_t> temperature_group(to.slots);
    for (std::size_t slot = 0; slot < atoms; ++slot)
    {
        PARHELION_EXPECTS(from.is_home(from.slot_of_global[slot]));
        const auto old = static_cast<std::size_t>(from.slot_of_global[slot]);
        slot_of_global[slot] = global_of_slot[slot] = static_cast<std::int32_t>(slot);
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
    to.box.set_edges(scalars[0].box);
    for (std::size_t new_slot = 0; new_slot < to.slots(); ++new_slot)
    {
        // A filler gets the position of an atom of its cluster: the nearest atom before it.
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
    template void reserve_slots<N>(GpuQueue&, const GpuCell&, const Box<double>&, std::size_t, double, GpuState<N>&);            \
    template void upload<N>(GpuQueue&, const ParticleState<N>&, GpuState<N>&);                                                   \
    template void download<N>(GpuQueue&, const GpuState<N>&, ParticleState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
