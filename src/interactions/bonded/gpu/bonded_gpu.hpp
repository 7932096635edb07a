// SPDX-License-Identifier: Apache-2.0
// Bonded forces and position restraints on the GPU, with the laws of bonded/bonded_body.hpp. One kernel
// launch computes the terms of all kinds that have halo atoms; a second launch computes all other terms.
//
// The idea: one table per kind has a record for each term of the system, copy by copy: the term's atoms, and the index of
// its body. At every repartition a rank lists the records of its own terms, with slots for atoms. Terms with halo atoms, for
// which peers wait, have a list apart from terms of home atoms. A thread computes one term. A thread block has terms of one
// kind, so no warp diverges. Arithmetic is in double: terms are few, and double has half the speed of float on this GPU.
//
// Ownership: a rank sees its own zone and the zones ahead of its cell (state/gpu/cell.hpp). A term belongs to the rank
// that has all its atoms, with a least offset of 0 in every dimension, and with no face of the unrolled box between
// them. An atom is unrolled with its owner's cell, even if it has left the cell. So exactly one rank owns a term.
//
// Cost: 8 to 20 bytes of indices per term, and one atomic addition per atom of a term. Measured in bench/gpu/update.
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

// The terms of one kind, in device memory.
struct GpuTerms
{
    DeviceBuffer<std::byte> bodies; // bodies of all molecule types, concatenated
    std::int64_t terms = 0;         // number of terms in the system
    std::int64_t first_word = 0;    // index of the first word of this kind's records
};

class GpuBonded
{
public:
    // Makes the tables of one rank of a run with `ranks` ranks.
    GpuBonded(GpuQueue& queue, const BondedTables& tables, const PositionRestraints& restraints, const Topology& topology,
              int ranks = 1);

    // Clears the list of the rank's terms.
    void forget(GpuQueue& queue) { assigned_terms_.clear(queue); }
    // Lists the rank's terms and counts them in scalars.missing_terms. Summed over all ranks, that number changes only if a term
    // has no owner, because its atoms are farther apart than halos reach. Call it after every repartition, and after forget().
    template <class N>
    void resolve(GpuQueue& queue, GpuState<N>& state, const GpuCell& cell);

    const DeviceBuffer<double>& tables() const { return tables_; } // tables of values, as in BondedTables
    // Returns the terms of each kind, indexed by InteractionKind.
    const std::array<GpuTerms, interaction_kinds>& kinds() const { return kinds_; }
    // Returns the lists of the rank's terms, kind by kind. A term is its slots and an index into bodies. The lists have a
    // capacity for all terms of the system. Local terms fill a kind's list from its begin, nonlocal terms from its end.
    const DeviceBuffer<std::int32_t>& assigned() const { return assigned_; }
    // Returns the lengths of the lists in assigned(), by part and kind. Over all ranks, every term is counted at most once.
    const DeviceBuffer<std::int32_t>& assigned_terms() const { return assigned_terms_; }
    // Returns the share of the system's terms for which a launch has threads, or 0 if there are no
    // terms. If a rank has more terms, which is rare, each thread of the launch computes several.
    double expected_share(PairPart part) const { return part == PairPart::Local ? expected_share_ : expected_nonlocal_share_; }
    // Returns the joint distance restraints. They count as terms with halo atoms.
    const GpuJointDistances& joint() const { return joint_; }

private:
    DeviceBuffer<double> tables_;
    DeviceBuffer<std::int32_t> records_; // records of all terms of the system: global atoms, index into bodies
    DeviceBuffer<std::int32_t> assigned_, assigned_terms_;
    std::array<GpuTerms, interaction_kinds> kinds_;
    double expected_share_, expected_nonlocal_share_;
    GpuJointDistances joint_;
};

// Computes the terms of `part` (Local: terms of home atoms alone). Adds forces to state.f and, if asked for, energies and
// virial to state.energies. Requires resolve() since the last repartition. A term must span less than half a box edge.
template <class N>
void compute_bonded(GpuQueue& queue, const GpuBonded& bonded, PairPart part, GpuState<N>& state, Compute compute);
// Computes all terms of the rank, local and nonlocal.
template <class N>
void compute_bonded(GpuQueue& queue, const GpuBonded& bonded, GpuState<N>& state, Compute compute)
{
    for (const PairPart part : {PairPart::Nonlocal, PairPart::Local}) { compute_bonded(queue, bonded, part, state, compute); }
}

} // namespace parhelion
