// SPDX-License-Identifier: Apache-2.0
// Home atoms by global number, for kernels that send them to other ranks. Cost: a load to find an atom's slot.
#pragma once

#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

template <class N>
struct HomeAtoms
{
    const PositionCharge<N>* xq;
    const VelocityMass<N>* v;
    const std::int32_t* slot_of_global;
    const std::uint8_t* zone_of_supercluster;
    const DeviceScalars* scalars;
    std::int64_t globals;

    explicit HomeAtoms(const GpuState<N>& s)
        : xq(s.xq.data()), v(s.v.data()), slot_of_global(s.slot_of_global.data()),
          zone_of_supercluster(s.zone_of_supercluster.data()), scalars(s.scalars.data()),
          globals(static_cast<std::int64_t>(s.slot_of_global.size()))
    {
    }

    // Returns the slot of an atom, or -1 if it is not a home atom, or if the state has a flag and must not be sent.
    __device__ std::int32_t slot_of(std::int64_t global) const
    {
        return global < globals && scalars->flags == 0 ? slot_of_global[global] : -1;
    }
    __device__ bool is_home(std::int32_t slot) const { return zone_of_supercluster[slot / supercluster_size] == 0; }
};

} // namespace parhelion
