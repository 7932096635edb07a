// SPDX-License-Identifier: Apache-2.0
// The forces of an electric field on a GPU. Cost: one kernel and 28 bytes an atom, in runs with a field.
#pragma once

#include "device/gpu/queue_gpu.hpp"
#include "interactions/field/electric_field.hpp"
#include "state/gpu/particle_state_gpu.hpp"

namespace parhelion {

// Adds the forces on home atoms to state.f. The time of the field is that of the step in the state's scalars plus step_offset.
template <class N>
void add_electric_field(GpuQueue& queue, const UniformField& field, std::int64_t step_offset, GpuState<N>& state);

} // namespace parhelion
