// SPDX-License-Identifier: Apache-2.0
// Distance restraints of several pairs on the GPU, a part of GpuBonded.
//
// The idea: joint restraints have any number of atoms, and few systems have them. Therefore they have their
// own tables and two kernels. One thread computes a restraint and passes over its pairs twice. Ranks are
// assigned joint restraints as they are other terms. Cost: one launch a step in systems with joint restraints.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "interactions/bonded/bonded.hpp"
#include "interactions/force_buffers.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

struct JointRecord // one restraint of the system
{
    JointDistanceLaw law;
    std::int32_t first = 0, pairs = 0; // the range of its pairs; the tables of atoms have two atoms per pair
};

class GpuJointDistances
{
public:
    GpuJointDistances(GpuQueue& queue, const BondedTables& tables, const Topology& topology);

    bool is_empty() const { return records_.size() == 0; }
    // Lists the rank's joint restraints and counts missing ones, as GpuBonded::resolve() does for other terms.
    template <class N>
    void resolve(GpuQueue& queue, GpuState<N>& state, const GpuCell& cell);
    // Adds forces of the rank's joint restraints to state.f, and energies and virial to state.energies if asked for.
    template <class N>
    void compute(GpuQueue& queue, GpuState<N>& state, Compute compute) const;

private:
    DeviceBuffer<JointRecord> records_;
    DeviceBuffer<std::int32_t> atoms_,
        slots_; // slots of the atoms of all joint restraints; the first is -1 if a restraint is not this rank's
};

} // namespace parhelion
