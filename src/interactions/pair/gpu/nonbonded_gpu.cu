// SPDX-License-Identifier: Apache-2.0
#include "interactions/pair/gpu/nonbonded_gpu.hpp"

#include "device/gpu/block_sum.cuh"
#include "device/gpu/block_trace.cuh"
#include "interactions/pair/gpu/nonbonded_gpu.cuh"
#include "interactions/pair/gpu/nonbonded_gpu_law.cuh"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

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

// The self energy of an atom on a mesh: a factor times the square of its charge, or times its c6.
template <class N>
struct SelfEnergyOfCharge
{
    const PositionCharge<N>* xq;
    __device__ double operator()(double factor, int slot) const
    {
        const auto q = static_cast<double>(xq[slot].charge);
        return factor * q * q;
    }
};
template <class Real>
struct SelfEnergyOfDispersion
{
    const LjParameters<Real>* of_slot;
    LjMeshRule rule;
    __device__ double operator()(double factor, int slot) const
    {
        return factor * static_cast<double>(nonbonded_gpu::mesh_c6(rule, of_slot[slot], of_slot[slot]));
    }
};

// Purpose        sums the self energy of home atoms
// Work           by a thread per slot
// Reads/Writes   charges or parameters of dispersion, zones / energies
// Orders         relaxed atomic additions
// Requires       nothing
// Cost           16 bytes a slot
template <class N, EnergyTerm term, class Energy>
__global__ void __launch_bounds__(threads)
    self_energy_kernel(BlockTrace tracing, Energy energy_of, const std::uint8_t* zone_of_supercluster, int slots, double factor,
                       EnergySums<N>* energies)
{
    const BlockSpan span(tracing);

    const int slot = blockIdx.x * threads + threadIdx.x;
    const bool home = slot < slots && zone_of_supercluster[slot / supercluster_size] == 0;
    const ScalarSum<N> energy[1] = {to_sum<ScalarSum<N>>(home ? energy_of(factor, slot) : 0)};
    add_block_sums(energy, &energies->energy[static_cast<std::size_t>(term)]);
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

template <class N, template <class> class ArgumentsFor>
void run_kernel(GpuQueue& queue, const ArgumentsFor<N>& arguments, int shares, Compute compute, LjRule rule)
{
    switch (rule)
    {
    case LjRule::Geometric:
        return nonbonded_gpu::run_kernel<N, LjRule::Geometric>(queue, arguments, shares, compute);
    case LjRule::LorentzBerthelot:
        return nonbonded_gpu::run_kernel<N, LjRule::LorentzBerthelot>(queue, arguments, shares, compute);
    case LjRule::Table:
        return nonbonded_gpu::run_kernel<N, LjRule::Table>(queue, arguments, shares, compute);
    }
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
    mesh_of_type.upload(queue, pairs_of(tables.mesh_type_parameters()));
    queue.synchronize();
    if (parameters.screening.is_used() && !parameters.screening.is_tight<float>())
    {
        quotient = ScreeningQuotient(parameters.screening, parameters.cutoff);
    }
}

template <class N>
void resolve_nonbonded(GpuQueue& queue, const GpuState<N>& state, GpuNonbondedTables<N>& tables)
{
    using Real = typename N::Real;
    const auto resolve = [&](auto& of_type, auto& of_slot) {
        of_slot.resize(state.slots);
        launch(queue, Phase::PairList, resolve_parameters_kernel<Real>, one_thread_each(state.slots, threads),
               state.lj_type.data(), state.global_of_slot.data(), static_cast<int>(state.slots), tables.parameters.types,
               std::as_const(of_type).data(), of_slot.data());
    };
    resolve(tables.of_type, tables.of_slot);
    if (tables.parameters.mesh_dispersion.is_used()) { resolve(tables.mesh_of_type, tables.mesh_of_slot); }
}

template <class N>
void compute_nonbonded(GpuQueue& queue, const GpuNonbondedTables<N>& tables, const GpuPairList& list, GpuState<N>& state,
                       Compute compute)
{
    PARHELION_EXPECTS(tables.of_slot.size() == state.slots && list.rows.size() == state.superclusters());
    using Real = typename N::Real;
    const NonbondedParameters& p = tables.parameters;
    const nonbonded_gpu::Arguments<N> arguments = make_arguments(tables, list, state);
    const bool has_lj_mesh = p.mesh_dispersion.is_used();
    if (has_lj_mesh)
    {
        const nonbonded_gpu::LjMeshArguments<N> of_mesh{arguments, tables.mesh_of_slot.data(), p.mesh_rule,
                                                        DispersionConstants<Real>(p)};
        run_kernel(queue, of_mesh, list.share_count(), compute, p.rule);
    }
    else { run_kernel(queue, arguments, list.share_count(), compute, p.rule); }
    if (compute != Compute::ForcesEnergiesVirial || list.part != PairPart::Local) { return; }
    const auto sum_self_energy = [&](auto kernel, auto energy_of, double factor) {
        launch(queue, Phase::Nonbonded, kernel, one_thread_each(state.slots, threads), energy_of,
               state.zone_of_supercluster.data(), static_cast<int>(state.slots), factor, state.energies.data());
    };
    sum_self_energy(self_energy_kernel<N, EnergyTerm::CoulombSr, SelfEnergyOfCharge<N>>, SelfEnergyOfCharge<N>{state.xq.data()},
                    self_energy(p));
    if (has_lj_mesh)
    {
        using OfDispersion = SelfEnergyOfDispersion<Real>;
        sum_self_energy(self_energy_kernel<N, EnergyTerm::LjSr, OfDispersion>,
                        OfDispersion{tables.mesh_of_slot.data(), p.mesh_rule}, dispersion_self_energy(p) / 6);
    }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template struct GpuNonbondedTables<N>;                                                                                       \
    template void resolve_nonbonded<N>(GpuQueue&, const GpuState<N>&, GpuNonbondedTables<N>&);                                   \
    template void compute_nonbonded<N>(GpuQueue&, const GpuNonbondedTables<N>&, const GpuPairList&, GpuState<N>&, Compute);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
