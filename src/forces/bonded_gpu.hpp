// SPDX-License-Identifier: Apache-2.0
// Bonded forces and position restraints on the GPU: all kinds of terms in one launch, the laws of bonded_body.hpp.
//
// The idea: a kind's terms of the whole system stand in one list, copy by copy, and a thread computes one. A block has terms of
// one kind only, so no warp diverges. Atoms are named by slot; the names are looked up once per repartition. Arithmetic in double
// in every policy: the terms are few, and this GPU's double is half as fast as its float. Cost: 8 to 20 bytes of indices per
// term, one atomic per atom of a term. bench/gpu/README.md
#pragma once

#include "device/device_buffer.hpp"
#include "device/gpu_queue.hpp"
#include "forces/bonded.hpp"
#include "forces/force_buffers.hpp"
#include "forces/restraints.hpp"
#include "state/gpu_state.hpp"

#include <cstdint>

namespace parhelion {

// The terms of one kind, on the device.
struct GpuTerms
{
    DeviceBuffer<std::byte> bodies;          // of every molecule type, one after another
    DeviceBuffer<std::int32_t> body_of_term; // index into bodies
    std::int64_t terms = 0;
    std::size_t first_atom = 0; // of the first term, in GpuBonded::slots()
};

// The terms of the whole system; made once.
class GpuBonded
{
public:
    GpuBonded(GpuQueue& queue, const BondedTables& tables, const PositionRestraints& restraints, const Topology& topology);

    const std::array<GpuTerms, bonded_kinds>& kinds() const { return kinds_; }
    const GpuTerms& restraints() const { return restraints_; }
    const DeviceBuffer<std::int32_t>& slots() const { return slots_; } // [term][atom] of all kinds

    // Looks up the slots anew. Call after every repartition.
    template <class N>
    void resolve(GpuQueue& queue, const GpuState<N>& state);

private:
    DeviceBuffer<std::int32_t> atoms_, slots_; // global atoms; where they are now
    std::array<GpuTerms, bonded_kinds> kinds_;
    GpuTerms restraints_;
};

// Adds forces to state.f, and energies and virial to state.energies if asked for. Requires resolve() since the last repartition.
// A term must span less than half a box edge.
template <class N>
void compute_bonded(GpuQueue& queue, const GpuBonded& bonded, GpuState<N>& state, Compute compute);

} // namespace parhelion
