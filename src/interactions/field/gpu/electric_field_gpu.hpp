// SPDX-License-Identifier: Apache-2.0
// The forces of an electric field on a GPU: a kernel of its own, in runs that have a field. Cost: 28 bytes an atom.
#pragma once

#include "device/gpu/queue_gpu.hpp"
#include "interactions/field/electric_field.hpp"
#include "state/gpu/particle_state_gpu.hpp"

namespace parhelion {

// Adds the forces on home atoms in the step of the state's scalars plus `step_offset`.
template <class N>
void add_electric_field(GpuQueue& queue, const UniformField& field, std::int64_t step_offset, GpuState<N>& state);

} // namespace parhelion
