// SPDX-License-Identifier: Apache-2.0
// Distance restraints of several pairs on the GPU, a part of GpuBonded.
//
// The idea: they have any number of atoms and few systems have them, so they are no kind of terms: tables and two kernels of
// their own, a thread each restraint, which goes through its pairs twice. Whose they are is decided as of terms. Cost: where
// there are any, a launch a step; nothing else.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "interactions/bonded/bonded.hpp"
#include "interactions/force_buffers.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

struct JointRecord // of a restraint of the system
{
    JointDistanceLaw law;
    std::int32_t first = 0, pairs = 0; // in the tables of atoms, two a pair
};

class GpuJointDistances
{
public:
    GpuJointDistances(GpuQueue& queue, const BondedTables& tables, const Topology& topology);

    bool is_empty() const { return records_.size() == 0; }
    // Lists the rank's restraints and counts missing ones, as GpuBonded::resolve() does.
    template <class N>
    void resolve(GpuQueue& queue, GpuState<N>& state, const GpuCell& cell);
    // Adds the forces of the rank's restraints to state.f, and energies and virial to state.energies if asked for.
    template <class N>
    void compute(GpuQueue& queue, GpuState<N>& state, Compute compute) const;

private:
    DeviceBuffer<JointRecord> records_;
    DeviceBuffer<std::int32_t> atoms_,
        slots_; // global; slots_ of a restraint are complete if it is the rank's, else the first is -1
};

} // namespace parhelion
