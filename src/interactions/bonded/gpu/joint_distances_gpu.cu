// SPDX-License-Identifier: Apache-2.0
#include "interactions/bonded/gpu/joint_distances_gpu.hpp"

#include "device/gpu/atomics.cuh"
#include "device/gpu/block_sum.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "interactions/bonded/gpu/term_owner.cuh"
#include "state/molecules.hpp"
#include "trace/phases.hpp"

#include <vector>

namespace parhelion {

namespace {

constexpr int threads = 64;

// Purpose        finds the rank's joint distances and the slots of their atoms; counts missing terms
// Work           by a thread per restraint of the system
// Reads/Writes   records, global atoms, slot_of_global, zones, positions / slots; the count of missing terms
// Orders         a relaxed atomic addition
// Requires       slot_of_global of the present order
// Cost           29 bytes per atom of a restraint
template <class N>
__global__ void __launch_bounds__(threads)
    list_joint_kernel(BlockTrace tracing, const JointRecord* records, std::int32_t restraints, const std::int32_t* atoms,
                      GpuCell cell, GpuView<N> state, std::int32_t* slots, std::int32_t to_take)
{
    const BlockSpan span(tracing);

    const auto i = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x);
    bool mine = i < restraints;
    if (i < restraints)
    {
        const int first = records[i].first, count = 2 * records[i].pairs;
        for (int a = 0; a < count; ++a)
        {
            slots[first + a] = state.slot_of_global[atoms[first + a]];
            mine = mine && slots[first + a] >= 0;
        }
        mine = mine && is_mine(cell, state, slots + first, count);
        if (!mine) { slots[first] = -1; }
    }
    const std::int32_t missing = (blockIdx.x == 0 ? to_take : 0) - __syncthreads_count(mine);
    if (threadIdx.x == 0 && missing != 0) { atomic_add(&state.scalars->missing_terms, missing); }
}

// Purpose        computes the forces of the rank's joint distance restraints
// Work           by a thread per restraint of the system; it does nothing for other ranks' restraints
// Reads/Writes   records, slots, positions / forces (atomic sums), on request energies and virial (a sum per block)
// Orders         no memory accesses; the order of the stream suffices
// Requires       slots listed since the last repartition; cleared forces
// Cost           two passes over the pairs of a restraint, one after another
template <class N, Compute wanted>
__global__ void __launch_bounds__(threads)
    joint_distances_kernel(BlockTrace tracing, const JointRecord* records, std::int32_t restraints, const std::int32_t* slots,
                           GpuView<N> state, EnergySums<N>* energies)
{
    const BlockSpan span(tracing);

    using Sum = typename N::ForceSum;
    const auto i = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x);
    ScalarSum<N> energy[1] = {}, virial[9] = {};
    if (i < restraints && slots[records[i].first] >= 0)
    {
        const JointRecord record = records[i];
        const std::int32_t* const slot = slots + record.first;
        const PeriodicBox<N> box = state.box();
        const auto difference = [&](int pair) {
            const Vec3<typename N::Fixed> a = state.position(slot[2 * pair]), b = state.position(slot[2 * pair + 1]);
            return state.by_shape_of_box([&](auto tilted) { return box.template difference<tilted>(a, b); });
        };
        double sum = 0;
        for (int pair = 0; pair < record.pairs; ++pair) { sum += inverse_sixth_power(difference(pair)); }
        const JointPull pull = joint_pull(record.law, sum, record.pairs);
        for (int pair = 0; pair < record.pairs; ++pair)
        {
            const Vec3<double> d = difference(pair), force = pull.force(d);
            const Vec3<Sum> f{to_sum<Sum>(force.x), to_sum<Sum>(force.y), to_sum<Sum>(force.z)};
            state.add_force(slot[2 * pair], f), state.add_force(slot[2 * pair + 1], -f);
            for (int k = 0; wanted == Compute::ForcesEnergiesVirial && k < 9; ++k)
            {
                virial[k] += to_sum<ScalarSum<N>>(-0.5 * d[k / 3] * force[k % 3]);
            }
        }
        energy[0] = to_sum<ScalarSum<N>>(pull.energy);
    }
    if constexpr (wanted == Compute::ForcesEnergiesVirial)
    {
        add_block_sums(energy, &energies->energy[static_cast<int>(EnergyTerm::DistanceRestraint)]);
        add_block_sums(virial, &energies->virial[0]);
    }
}

} // namespace

GpuJointDistances::GpuJointDistances(GpuQueue& queue, const BondedTables& tables, const Topology& topology)
{
    std::vector<JointRecord> records;
    std::vector<std::int32_t> atoms;
    const MoleculeList copies = all_molecules(topology);
    for (std::size_t type = 0; type < tables.joint.size(); ++type)
    {
        for (const JointDistance& restraint : tables.joint[type])
        {
            for (const std::int32_t first_atom : copies.first_atom[type])
            {
                records.push_back(
                    {restraint.law, static_cast<std::int32_t>(atoms.size()), static_cast<std::int32_t>(restraint.pairs())});
                for (const std::int32_t atom : restraint.atoms) { atoms.push_back(first_atom + atom); }
            }
        }
    }
    if (records.empty()) { return; }
    records_.upload(queue, records), atoms_.upload(queue, atoms);
    slots_.resize(atoms.size());
    queue.synchronize(); // the tables on the host may be destroyed afterwards
}

template <class N>
void GpuJointDistances::resolve(GpuQueue& queue, GpuState<N>& state, const GpuCell& cell)
{
    if (is_empty()) { return; }
    const auto restraints = static_cast<std::int32_t>(records_.size());
    const bool is_first = cell.cell[0] == 0 && cell.cell[1] == 0 && cell.cell[2] == 0;
    launch(queue, Phase::Reorder, list_joint_kernel<N>, one_thread_each(records_.size(), threads), records_.data(), restraints,
           atoms_.data(), cell, GpuView<N>(state), slots_.data(), is_first ? restraints : 0);
}

template <class N>
void GpuJointDistances::compute(GpuQueue& queue, GpuState<N>& state, Compute compute) const
{
    if (is_empty()) { return; }
    const auto kernel = compute == Compute::Forces ? joint_distances_kernel<N, Compute::Forces>
                                                   : joint_distances_kernel<N, Compute::ForcesEnergiesVirial>;
    launch(queue, Phase::Bonded, kernel, one_thread_each(records_.size(), threads), records_.data(),
           static_cast<std::int32_t>(records_.size()), slots_.data(), GpuView<N>(state), state.energies.data());
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void GpuJointDistances::resolve<N>(GpuQueue&, GpuState<N>&, const GpuCell&);                                        \
    template void GpuJointDistances::compute<N>(GpuQueue&, GpuState<N>&, Compute) const;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
