// SPDX-License-Identifier: Apache-2.0
// Sums over velocities, and operations on all velocities, on the GPU: kinetic
// energy, centre-of-mass motion, scaling. Few steps need them, so each has a kernel
// of its own. Cost: one pass over the velocities each, a few us for 100 000 atoms.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "dynamics/com.hpp"
#include "state/gpu/particle_state_gpu.hpp"

namespace parhelion {

inline constexpr int kinetic_elements = 6; // elements xx, yy, zz, xy, xz, yz of 1/2 sum m v (x) v

// Adds the kinetic energies of motion groups, kJ/mol, to sums[group][kinetic_elements].
template <class N>
void add_kinetic(GpuQueue& queue, const GpuState<N>& state, int groups, ScalarSum<N>* sums);

// The groups of atoms whose centre-of-mass motion is removed, in device memory.
struct GpuComGroups
{
    // Uploads the groups. `mobility` is empty if no atom is frozen.
    GpuComGroups(GpuQueue& queue, const ComGroups& com, const Mobility& mobility = {}, ComMode mode = ComMode::Linear);
    int count;
    ComMode mode;
    DeviceBuffer<std::uint8_t> of_atom; // group of each atom, as in AtomGroups
    // The next two arrays are empty if no atom is frozen.
    DeviceBuffer<Vec3<double>> frozen, mobility; // frozen: as in ComGroups; mobility: indexed by motion group
};

// Adds the sums of each group over this rank's atoms (com_body.hpp) to sums[group][com_sum_count(mode)].
template <class N>
void add_com_motion(GpuQueue& queue, const GpuComGroups& groups, const GpuState<N>& state, ScalarSum<N>* sums);
// Subtracts each group's motion, computed from `sums`, from the velocities of the group's atoms.
template <class N>
void subtract_com_motion(GpuQueue& queue, const GpuComGroups& groups, const ScalarSum<N>* sums, GpuState<N>& state);

// Moves atoms back along their frozen axes, to where they were
// when the box was *before. mobility: indexed by motion group.
template <class N>
void hold_frozen(GpuQueue& queue, const DeviceBuffer<Vec3<double>>& mobility, const Box<double>* before, GpuState<N>& state);

// Multiplies each component of every velocity by that component of *factor, which is in device memory.
template <class N>
void scale_velocities(GpuQueue& queue, const Vec3<double>* factor, GpuState<N>& state);

// Multiplies every velocity by the factor of the atom's temperature group. factors: one for each
// of `groups` temperature groups, in device memory; a motion group has that of its temperature group.
template <class N>
void scale_velocities_of_groups(GpuQueue& queue, const double* factors, int groups, GpuState<N>& state);

} // namespace parhelion
