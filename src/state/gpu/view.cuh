// SPDX-License-Identifier: Apache-2.0
// The atoms of a GpuState as a kernel sees them: pointers to the arrays, and functions that load, store and sum one slot.
#pragma once

#include "base/vec3.hpp"
#include "device/gpu/atomics.cuh"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

template <class N>
struct GpuView
{
    using Real = typename N::Real;
    using Fixed = typename N::Fixed;
    using Sum = typename N::ForceSum;

    PositionCharge<N>* xq;
    VelocityMass<N>* v;
    ForceSlot<N>* f;
    const std::uint8_t* temperature_group;
    const std::int32_t *global_of_slot, *slot_of_global;
    const std::uint8_t* zone_of_supercluster;
    DeviceScalars* scalars;
    bool is_tilted; // true for a tilted box

    explicit GpuView(GpuState<N>& s)
        : xq(s.xq.data()), v(s.v.data()), f(s.f.data()), temperature_group(s.temperature_group.data()),
          global_of_slot(s.global_of_slot.data()), slot_of_global(s.slot_of_global.data()),
          zone_of_supercluster(s.zone_of_supercluster.data()), scalars(s.scalars.data()), is_tilted(s.is_tilted)
    {
    }

    __device__ PeriodicBox<N> box() const { return PeriodicBox<N>(scalars->box); }
    // Calls compute(true_type) in a tilted box, else compute(false_type): in a rectangular box the tilt costs no instruction.
    template <class Compute>
    __device__ auto by_shape_of_box(Compute&& compute) const
    {
        return is_tilted ? compute(std::true_type()) : compute(std::false_type());
    }
    __device__ Vec3<Fixed> position(std::int32_t slot) const
    {
        const PositionCharge<N> p = xq[slot];
        return {p.x, p.y, p.z};
    }
    __device__ Vec3<std::uint32_t> leading_bits(std::int32_t slot) const
    {
        constexpr int below = 8 * sizeof(Fixed) - 32;
        const Vec3<Fixed> x = position(slot);
        return {static_cast<std::uint32_t>(x.x >> below), static_cast<std::uint32_t>(x.y >> below),
                static_cast<std::uint32_t>(x.z >> below)};
    }
    __device__ int zone(std::int32_t slot) const { return zone_of_supercluster[slot / supercluster_size]; }
    __device__ void add_force(std::int32_t slot, const Vec3<Sum>& a) const
    {
        if constexpr (sizeof(Sum) == 4)
        {
#if __CUDA_ARCH__ >= 900
            atomic_add(reinterpret_cast<float4*>(f + slot), make_float4(a.x, a.y, a.z, 0));
            return;
#endif
        }
        if constexpr (std::is_same_v<Sum, std::int64_t>)
        {
            auto* const word = reinterpret_cast<unsigned long long*>(f + slot);
            for (int d = 0; d < 3; ++d) { atomic_add(word + d, static_cast<unsigned long long>(a[d])); }
        }
        else
        {
            auto* const word = reinterpret_cast<Sum*>(f + slot);
            for (int d = 0; d < 3; ++d) { atomic_add(word + d, a[d]); }
        }
    }
};

// Queues a kernel: slots[i] is the slot of global atom atoms[i] if it is a home atom, otherwise -1. Cost: two gathers.
template <class N>
void resolve_home_slots(GpuQueue& queue, const GpuState<N>& state, const DeviceBuffer<std::int32_t>& atoms,
                        DeviceBuffer<std::int32_t>& slots);

} // namespace parhelion
