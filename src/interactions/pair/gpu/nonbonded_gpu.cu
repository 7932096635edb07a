// SPDX-License-Identifier: Apache-2.0
#include "interactions/pair/gpu/nonbonded_gpu.hpp"

#include "device/gpu/block_sum.cuh"
#include "device/gpu/block_trace.cuh"
#include "interactions/pair/gpu/nonbonded_gpu.cuh"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

constexpr int threads = 256;

// Purpose        looks up Lennard-Jones parameters by slot
// Work           by a thread per slot
// Reads/Writes   types / of_slot
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           16 bytes a slot
template <class Real>
__global__ void resolve_parameters_kernel(BlockTrace tracing, const std::int32_t* lj_type, const std::int32_t* global_of_slot,
                                          int slots, int filler, const LjParameters<Real>* of_type, LjParameters<Real>* of_slot)
{
    const BlockSpan span(tracing);

    const int slot = blockIdx.x * threads + threadIdx.x;
    if (slot < slots) { of_slot[slot] = of_type[global_of_slot[slot] < 0 ? filler : lj_type[slot]]; }
}

// Purpose        sums the self energy of home atoms
// Work           by a thread per slot
// Reads/Writes   charges, zones / energies
// Orders         relaxed atomic additions
// Requires       nothing
// Cost           16 bytes a slot
template <class N>
__global__ void __launch_bounds__(threads)
    self_energy_kernel(BlockTrace tracing, const PositionCharge<N>* xq, const std::uint8_t* zone_of_supercluster, int slots,
                       double factor, EnergySums<N>* energies)
{
    const BlockSpan span(tracing);

    const int slot = blockIdx.x * threads + threadIdx.x;
    const bool home = slot < slots && zone_of_supercluster[slot / supercluster_size] == 0;
    const double q = home ? static_cast<double>(xq[slot].charge) : 0;
    const ScalarSum<N> energy[1] = {to_sum<ScalarSum<N>>(factor * q * q)};
    add_block_sums(energy, &energies->energy[static_cast<std::size_t>(EnergyTerm::CoulombSr)]);
}

template <class N>
nonbonded_gpu::Arguments<N> make_arguments(const GpuNonbondedTables<N>& tables, const GpuPairList& list, GpuState<N>& state)
{
    using Real = typename N::Real;
    const NonbondedParameters& p = tables.parameters;
    nonbonded_gpu::Arguments<N> a{};
    a.xq = state.xq.data(), a.of_slot = tables.of_slot.data(), a.of_pair = tables.of_pair.data();
    a.superclusters = list.superclusters.data(), a.rows = list.busy_rows.data(), a.entries = list.pruned.data();
    a.masks = list.masks.data(), a.shares = list.shares.data(), a.scalars = state.scalars.data();
    a.f = state.f.data(), a.energies = state.energies.data();
    a.types = p.types + 1;
    a.charge_scale = static_cast<Real>(std::sqrt(p.coulomb_factor));
    a.law = PairConstants<Real>(p);
    std::ranges::transform(tables.quotient.numerator, a.numerator, [](double c) { return static_cast<Real>(c); });
    std::ranges::transform(tables.quotient.denominator, a.denominator, [](double c) { return static_cast<Real>(c); });
    a.is_tilted = state.is_tilted, a.is_low = state.is_low;
    return a;
}

} // namespace

template <class N>
GpuNonbondedTables<N>::GpuNonbondedTables(GpuQueue& queue, const NonbondedTables<N>& tables) : parameters(tables.parameters())
{
    const auto pairs_of = [](const std::vector<Real>& values) {
        std::vector<LjParameters<Real>> pairs(values.size() / 2);
        for (std::size_t k = 0; k < pairs.size(); ++k) { pairs[k] = {values[2 * k], values[2 * k + 1]}; }
        return pairs;
    };
    std::vector<LjParameters<Real>> types = pairs_of(tables.type_parameters());
    if (parameters.rule == LjRule::Table)
    {
        for (std::size_t t = 0; t < types.size(); ++t) { types[t] = {static_cast<Real>(t), 0}; }
    }
    of_type.upload(queue, types);
    of_pair.upload(queue, pairs_of(tables.pair_parameters()));
    queue.synchronize();
    if (parameters.screening.is_used() && !parameters.screening.is_tight<float>())
    {
        quotient = ScreeningQuotient(parameters.screening, parameters.cutoff);
    }
}

template <class N>
void resolve_nonbonded(GpuQueue& queue, const GpuState<N>& state, GpuNonbondedTables<N>& tables)
{
    tables.of_slot.resize(state.slots);
    launch(queue, Phase::PairList, resolve_parameters_kernel<typename N::Real>, one_thread_each(state.slots, threads),
           state.lj_type.data(), state.global_of_slot.data(), static_cast<int>(state.slots), tables.parameters.types,
           tables.of_type.data(), tables.of_slot.data());
}

template <class N>
void compute_nonbonded(GpuQueue& queue, const GpuNonbondedTables<N>& tables, const GpuPairList& list, GpuState<N>& state,
                       Compute compute)
{
    PARHELION_EXPECTS(tables.of_slot.size() == state.slots && list.rows.size() == state.superclusters());
    nonbonded_gpu::run_kernel(queue, make_arguments(tables, list, state), list.share_count(), compute, tables.parameters.rule);
    if (compute == Compute::ForcesEnergiesVirial && list.part == PairPart::Local)
    {
        launch(queue, Phase::Nonbonded, self_energy_kernel<N>, one_thread_each(state.slots, threads), state.xq.data(),
               state.zone_of_supercluster.data(), static_cast<int>(state.slots), self_energy(tables.parameters),
               state.energies.data());
    }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template struct GpuNonbondedTables<N>;                                                                                       \
    template void resolve_nonbonded<N>(GpuQueue&, const GpuState<N>&, GpuNonbondedTables<N>&);                                   \
    template void compute_nonbonded<N>(GpuQueue&, const GpuNonbondedTables<N>&, const GpuPairList&, GpuState<N>&, Compute);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
