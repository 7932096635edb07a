// SPDX-License-Identifier: Apache-2.0
// Bonded forces and position restraints on the GPU: all kinds of terms in one launch for those with halo atoms and one for the
// others, the laws of bonded/bonded_body.hpp.
//
// The idea: a kind's terms of the whole system stand in one table of records, copy by copy: the term's atoms, and which body it
// has. At every repartition a rank lists the records of its own terms, with slots for atoms: those of home atoms alone, and those
// with halo atoms, whose forces others wait for. A thread computes one. A block has terms of one kind only, so no warp diverges.
// Arithmetic in double in every policy: the terms are few, and this GPU's double is half as fast as its float.
//
// Whose a term is: a rank sees the zones at and ahead of its cell (state/gpu/cell.hpp). The term belongs to the rank that has all
// of its atoms, the least of their offsets being 0 in every dimension, with no face of the unrolled box between them. As atoms
// are unrolled with their owners' cells, however far they have strayed, that is true on one rank.
//
// Cost: 8 to 20 bytes of indices per term, one atomic per atom of a term. bench/gpu/update
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "interactions/bonded/bonded.hpp"
#include "interactions/bonded/gpu/joint_distances_gpu.hpp"
#include "interactions/bonded/restraints.hpp"
#include "interactions/force_buffers.hpp"
#include "pairs/gpu/pair_list_gpu.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <array>
#include <cstdint>

namespace parhelion {

// The terms of one kind, on the device.
struct GpuTerms
{
    DeviceBuffer<std::byte> bodies; // of every molecule type, one after another
    std::int64_t terms = 0;         // of the system
    std::int64_t first_word = 0;    // of the kind's records
};

class GpuBonded
{
public:
    // For one of `ranks` ranks.
    GpuBonded(GpuQueue& queue, const BondedTables& tables, const PositionRestraints& restraints, const Topology& topology,
              int ranks = 1);

    // Forgets the rank's terms.
    void forget(GpuQueue& queue) { assigned_terms_.clear(queue); }
    // Lists the rank's terms, and counts them in scalars.missing_terms, of which the sum over all ranks stays what it was unless
    // a term is nobody's: its atoms are farther apart than halos reach. Call after every repartition, and after forget().
    template <class N>
    void resolve(GpuQueue& queue, GpuState<N>& state, const GpuCell& cell);

    const DeviceBuffer<double>& tables() const { return tables_; } // of BondedTables
    // By interaction kind.
    const std::array<GpuTerms, interaction_kinds>& kinds() const { return kinds_; }
    // Of the rank's terms, kind by kind with room for all of the system: slots, index into bodies. Local ones from the first
    // place on, the others from the last one backwards.
    const DeviceBuffer<std::int32_t>& assigned() const { return assigned_; }
    // How many they are, by part and kind. Over all ranks, every term is counted at most once.
    const DeviceBuffer<std::int32_t>& assigned_terms() const { return assigned_terms_; }
    // Of the system's terms, what a launch has threads for. Ranks may have more, but few do: their blocks go round once more.
    // 0: there are none.
    double expected_share(PairPart part) const { return part == PairPart::Local ? expected_share_ : expected_nonlocal_share_; }
    // They count as terms with halo atoms.
    const GpuJointDistances& joint() const { return joint_; }

private:
    DeviceBuffer<double> tables_;
    DeviceBuffer<std::int32_t> records_; // of all terms of the system: global atoms, index into bodies
    DeviceBuffer<std::int32_t> assigned_, assigned_terms_;
    std::array<GpuTerms, interaction_kinds> kinds_;
    double expected_share_, expected_nonlocal_share_;
    GpuJointDistances joint_;
};

// Of the terms of `part` (Local: among home atoms) adds forces to state.f, and energies and virial to state.energies if asked
// for. Requires resolve() since the last repartition. A term must span less than half a box edge.
template <class N>
void compute_bonded(GpuQueue& queue, const GpuBonded& bonded, PairPart part, GpuState<N>& state, Compute compute);
// Of all.
template <class N>
void compute_bonded(GpuQueue& queue, const GpuBonded& bonded, GpuState<N>& state, Compute compute)
{
    for (const PairPart part : {PairPart::Nonlocal, PairPart::Local}) { compute_bonded(queue, bonded, part, state, compute); }
}

} // namespace parhelion
