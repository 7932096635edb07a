// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/append.cuh"
#include "device/gpu/atomics.cuh"
#include "device/gpu/block_sum.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "interactions/bonded/bonded_scatter.hpp"
#include "interactions/bonded/gpu/bonded_gpu.hpp"
#include "interactions/bonded/gpu/term_owner.cuh"
#include "interactions/bonded/restraints_body.hpp"
#include "state/gpu/view.cuh"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace parhelion {

namespace {

constexpr int threads = 128; // registers, not occupancy, limit kinds with many operations, and a few blocks suffice

struct TermsView
{
    const void* bodies;
    const std::int32_t* records;      // first record: of all terms of the system, or of the rank's terms
    std::int64_t terms;               // number of terms in the system
    std::int32_t first_block, blocks; // thread blocks of this kind in the launch
    const std::int32_t* assigned;     // number of this rank's terms
    bool backwards;                   // the list of the rank's terms grows towards lower addresses
    int atoms;                        // number of atoms per term
};
struct BondedArgs
{
    TermsView kind[interaction_kinds];
    const double* tables; // tables of values, as in BondedTables
    std::int64_t terms() const
    {
        std::int64_t sum = 0;
        for (const TermsView& view : kind) { sum += view.terms; }
        return sum;
    }
};

std::int32_t blocks_for(std::int64_t n) { return static_cast<std::int32_t>((n + threads - 1) / threads); }

// The sets of kinds that have a kernel each. Rare kinds have kernels of their own, because
// they would take registers and instruction cache from the kinds that all systems have.
enum class KindSet
{
    Usual,      // kinds of most systems; uses 92 registers
    WithTables, // Usual and CMAP; uses 128 registers
    Seldom      // all other kinds
};

constexpr bool is_seldom(int kind)
{
    constexpr InteractionKind seldom[] = {
        InteractionKind::MorseBond,         InteractionKind::CubicBond,          InteractionKind::FeneBond,
        InteractionKind::BoundedBond,       InteractionKind::QuarticAngle,       InteractionKind::CrossBondBond,
        InteractionKind::CrossBondAngle,    InteractionKind::RestrictedDihedral, InteractionKind::BendingTorsion,
        InteractionKind::NonbondedPair,     InteractionKind::HarmonicPotential,  InteractionKind::RestrictedAngle,
        InteractionKind::DistanceRestraint, InteractionKind::AngleRestraint,     InteractionKind::AngleRestraintZ,
        InteractionKind::DihedralRestraint, InteractionKind::FlatBottomRestraint};
    for (const InteractionKind k : seldom)
    {
        if (static_cast<int>(k) == kind) { return true; }
    }
    return false;
}
constexpr bool is_in(KindSet set, int kind)
{
    if (set == KindSet::Seldom) { return is_seldom(kind); }
    return !is_seldom(kind) && (set == KindSet::WithTables || interaction_table[kind].parameters != square_table);
}

// Divides a launch for a share of the system's terms among the kinds. Returns the number
// of thread blocks of the launch. Kinds for which is_part() is false get no blocks.
template <class IsPart>
std::int32_t divide_blocks(const GpuBonded& bonded, const std::int32_t* records, double share, PairPart part, IsPart&& is_part,
                           BondedArgs& args)
{
    std::int32_t blocks = 0;
    const bool backwards = part == PairPart::Nonlocal;
    args.tables = bonded.tables().data();
    for (std::size_t k = 0; k < interaction_kinds; ++k)
    {
        const GpuTerms& terms = bonded.kinds()[k];
        const auto threads_for = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(terms.terms)));
        const int atoms = interaction_table[k].atoms;
        const std::int64_t words = atoms + 1, last = std::max<std::int64_t>(terms.terms - 1, 0);
        args.kind[k] = {terms.bodies.data(),
                        records + terms.first_word + (backwards ? last * words : 0),
                        terms.terms,
                        blocks,
                        is_part(static_cast<int>(k)) ? blocks_for(threads_for) : 0,
                        bonded.assigned_terms().data() + (backwards ? interaction_kinds : 0) + k,
                        backwards,
                        atoms};
        blocks += args.kind[k].blocks;
    }
    return blocks;
}

// --- device: assignment of terms to ranks

// Returns the kind of the terms that this thread block computes.
__device__ int kind_of_block(const BondedArgs& args)
{
    int mine = interaction_kinds - 1;
    while (mine > 0 && static_cast<std::int32_t>(blockIdx.x) < args.kind[mine].first_block) { --mine; }
    return mine;
}
__device__ std::int64_t term_of_thread(const TermsView& view)
{
    return static_cast<std::int64_t>(blockIdx.x - view.first_block) * threads + threadIdx.x;
}

// Purpose        lists the rank's bonded terms; subtracts their number from the number of terms that no rank has taken
// Work           by a thread per term of the system; a block has terms of one kind
// Reads/Writes   records, slot_of_global, zones, positions / records of slots, their number; the count of missing terms
// Orders         relaxed atomic additions: terms of a block keep their order, blocks come in any order
// Requires       slot_of_global of the present order; lists of length 0
// Cost           12 to 36 bytes per term of the system, 21 per atom and 12 to 20 per term of the rank
template <class N>
__global__ void __launch_bounds__(threads)
    list_terms_kernel(BlockTrace tracing, BondedArgs args, GpuCell cell, GpuView<N> state, std::int32_t* assigned,
                      std::int32_t* assigned_terms, std::int32_t to_take)
{
    const BlockSpan span(tracing);

    const int kind = kind_of_block(args);
    const TermsView& view = args.kind[kind];
    const int atoms = view.atoms;
    const std::int64_t i = term_of_thread(view);
    const std::int32_t* const record = view.records + i * (atoms + 1);
    bool mine = i < view.terms, is_local = true;
    std::int32_t slot[most_atoms];
    for (int a = 0; mine && a < atoms; ++a)
    {
        slot[a] = state.slot_of_global[record[a]];
        mine = slot[a] >= 0;
        is_local = is_local && mine && state.zone(slot[a]) == 0;
    }
    mine = mine && is_mine(cell, state, slot, atoms);
    std::int32_t place = append(mine && is_local, assigned_terms + kind);
    if (!cell.is_everything())
    {
        const std::int32_t from_end = append(mine && !is_local, assigned_terms + interaction_kinds + kind);
        if (from_end >= 0) { place = static_cast<std::int32_t>(view.terms) - 1 - from_end; }
    }
    const std::int32_t missing = (blockIdx.x == 0 ? to_take : 0) - __syncthreads_count(mine);
    if (threadIdx.x == 0 && missing != 0) { atomic_add(&state.scalars->missing_terms, missing); }
    if (place < 0) { return; }
    std::int32_t* const entry = assigned + (view.records - args.kind[0].records) + static_cast<std::int64_t>(place) * (atoms + 1);
    for (int a = 0; a < atoms; ++a) { entry[a] = slot[a]; }
    entry[atoms] = record[atoms];
}

// --- device: forces

// Adds -1/2 d (x) f to the virial, in the type of the sum.
template <class Sum>
__device__ void add_virial(const Vec3<double>& d, const Vec3<double>& f, Sum (&virial)[9])
{
    for (int a = 0; a < 3; ++a)
    {
        for (int b = 0; b < 3; ++b) { virial[3 * a + b] += to_sum<Sum>(-0.5 * d[a] * f[b]); }
    }
}

// Adds the energies and virials of a block's threads to the sums of the step.
template <class N, int n>
__device__ void add_to_energies(const ScalarSum<N> (&energy)[n], const EnergyTermList& terms, const ScalarSum<N> (&virial)[9],
                                EnergySums<N>* energies)
{
    for (int e = 0; e < n; ++e)
    {
        const ScalarSum<N> one[1] = {energy[e]};
        add_block_sums(one, &energies->energy[static_cast<std::size_t>(terms.term[e])]);
    }
    add_block_sums(virial, &energies->virial[0]);
}

// Calls body(slots and body of a term, is_term) for this thread's terms. All threads of a block call body equally often.
template <int words, class Body>
__device__ void for_each_record(const TermsView& view, Body&& body)
{
    const std::int64_t round = std::int64_t{view.blocks} * threads;
    const std::int32_t assigned = *view.assigned; // loaded at the same time as the first record
    std::int64_t i = term_of_thread(view), first = i - threadIdx.x;
    do {
        std::int32_t record[words];
        if (i < view.terms)
        {
            const std::int32_t* const words_of_term = view.records + (view.backwards ? -i : i) * words;
            for (int w = 0; w < words; ++w) { record[w] = words_of_term[w]; }
        }
        body(record, i < assigned);
        i += round, first += round;
    } while (first < assigned);
}

// Computes one term of a kind. Every thread of the block calls it; threads without a term only take part in the sums.
template <int kind, bool tilted, Compute compute, class N>
__device__ void compute_term(const BondedArgs& args, const std::int32_t* slot, bool is_term, const GpuView<N>& state,
                             EnergySums<N>* energies)
{
    using Body = typename BondedKind<static_cast<InteractionKind>(kind)>::Body;
    constexpr int n = Body::atoms;
    constexpr EnergyTermList terms = interaction_table[kind].energy;
    ScalarSum<N> energy[terms.count] = {}, virial[9] = {};
    if (is_term)
    {
        const Body body = static_cast<const Body*>(args.kind[kind].bodies)[slot[n]];
        Vec3<typename N::Fixed> x[n];
        for (int a = 0; a < n; ++a) { x[a] = state.position(slot[a]); }
        Vec3<double> d[n - 1];
        differences<tilted>(state.box(), x, d);
        const auto result = evaluate(body, d, args.tables);
        scatter<typename N::ForceSum>(result.f, [&](int a, const auto& f) { state.add_force(slot[a], f); });
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            for (int e = 0; e < terms.count; ++e) { energy[e] = to_sum<ScalarSum<N>>(result.energy[e]); }
            for (int k = 0; k < n - 1; ++k) { add_virial(d[k], result.f[k], virial); }
        }
    }
    if constexpr (compute == Compute::ForcesEnergiesVirial)
    {
        if (__syncthreads_or(is_term) != 0) { add_to_energies<N>(energy, terms, virial, energies); }
    }
}

template <class Restraint, Compute compute, class N>
__device__ void compute_restraint(const TermsView& view, const std::int32_t* slot, bool is_term, const GpuView<N>& state,
                                  EnergySums<N>* energies)
{
    using Sum = typename N::ForceSum;
    ScalarSum<N> energy[1] = {}, virial[9] = {};
    if (is_term)
    {
        const Restraint restraint = static_cast<const Restraint*>(view.bodies)[slot[1]];
        const RestraintForce r = restraint_force(restraint, state.box(), state.position(slot[0]));
        state.add_force(slot[0], Vec3<Sum>{to_sum<Sum>(r.f.x), to_sum<Sum>(r.f.y), to_sum<Sum>(r.f.z)});
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            energy[0] = to_sum<ScalarSum<N>>(r.energy);
            for (int d = 0; d < 3; ++d) { virial[4 * d] += to_sum<ScalarSum<N>>(r.virial[d]); }
        }
    }
    if constexpr (compute == Compute::ForcesEnergiesVirial)
    {
        constexpr EnergyTermList terms = interaction_table[static_cast<int>(Restraint::kind)].energy;
        if (__syncthreads_or(is_term) != 0) { add_to_energies<N>(energy, terms, virial, energies); }
    }
}

template <int kind, bool tilted, Compute compute, class N>
__device__ void compute_kind(const BondedArgs& args, const GpuView<N>& state, EnergySums<N>* energies)
{
    const TermsView& view = args.kind[kind];
    for_each_record<interaction_table[kind].atoms + 1>(view, [&](const auto& record, bool is_term) {
        if constexpr (kind >= bonded_kinds)
        {
            using Restraint = std::conditional_t<kind == static_cast<int>(InteractionKind::PositionRestraint), PositionRestraint,
                                                 FlatBottomRestraint>;
            compute_restraint<Restraint, compute>(view, record, is_term, state, energies);
        }
        else { compute_term<kind, tilted, compute>(args, record, is_term, state, energies); }
    });
}

// Runs the code of the kind of terms that this thread block computes.
template <KindSet set, bool tilted, Compute compute, class N, int... kinds>
__device__ void compute_kind_of_block(const BondedArgs& args, const GpuView<N>& state, EnergySums<N>* energies,
                                      std::integer_sequence<int, kinds...>)
{
    const int mine = kind_of_block(args);
    const auto compute_if_mine = [&](auto constant) {
        constexpr int kind = decltype(constant)::value;
        if constexpr (is_in(set, kind))
        {
            if (kind == mine) { compute_kind<kind, tilted, compute>(args, state, energies); }
        }
    };
    (compute_if_mine(std::integral_constant<int, kinds>()), ...);
}

// Purpose        computes bonded terms, 1-4 pairs and restraints of one rank, for a set of kinds
// Work           by a thread per term, or per two if a rank has more than its share; a block has terms of one kind
// Reads/Writes   positions, term tables / forces (atomic sums), on request energies and virial (a sum per block)
// Orders         no memory accesses; the order of the stream suffices
// Requires       the rank's terms listed since the last repartition; cleared forces
// Cost           about 40 bytes and 300 double-precision flop per term of the rank
template <class N, Compute compute, KindSet set, bool tilted>
__global__ void __launch_bounds__(threads)
    bonded_kernel(BlockTrace tracing, BondedArgs args, GpuView<N> state, EnergySums<N>* energies)
{
    const BlockSpan span(tracing);

    compute_kind_of_block<set, tilted, compute, N>(args, state, energies, std::make_integer_sequence<int, interaction_kinds>());
}

template <class N, KindSet set>
auto kernel_for(bool is_tilted, Compute compute)
{
    if (compute == Compute::Forces)
    {
        return is_tilted ? bonded_kernel<N, Compute::Forces, set, true> : bonded_kernel<N, Compute::Forces, set, false>;
    }
    return is_tilted ? bonded_kernel<N, Compute::ForcesEnergiesVirial, set, true>
                     : bonded_kernel<N, Compute::ForcesEnergiesVirial, set, false>;
}
template <class N>
auto kernel_for(KindSet set, bool is_tilted, Compute compute)
{
    switch (set)
    {
    case KindSet::Usual:
        return kernel_for<N, KindSet::Usual>(is_tilted, compute);
    case KindSet::WithTables:
        return kernel_for<N, KindSet::WithTables>(is_tilted, compute);
    case KindSet::Seldom:
        break;
    }
    return kernel_for<N, KindSet::Seldom>(is_tilted, compute);
}

} // namespace

template <class N>
void GpuBonded::resolve(GpuQueue& queue, GpuState<N>& state, const GpuCell& cell)
{
    joint_.resolve(queue, state, cell);
    BondedArgs args;
    const std::int32_t blocks = divide_blocks(
        *this, records_.data(), 1, PairPart::Local, [](int) { return true; }, args);
    if (blocks == 0) { return; }
    // A sum over ranks checks this: the first rank adds the number of all terms, and each subtracts that of its own terms.
    const bool is_first = cell.cell[0] == 0 && cell.cell[1] == 0 && cell.cell[2] == 0;
    launch(queue, Phase::Reorder, list_terms_kernel<N>, {blocks, threads, 0}, args, cell, GpuView<N>(state), assigned_.data(),
           assigned_terms_.data(), is_first ? static_cast<std::int32_t>(args.terms()) : 0);
}

template <class N>
void compute_bonded(GpuQueue& queue, const GpuBonded& bonded, PairPart part, GpuState<N>& state, Compute compute)
{
    if (part == PairPart::Nonlocal) { bonded.joint().compute(queue, state, compute); }
    const KindSet usual = bonded.tables().size() > 0 ? KindSet::WithTables : KindSet::Usual;
    for (const KindSet set : {usual, KindSet::Seldom})
    {
        BondedArgs args;
        const std::int32_t blocks = divide_blocks(
            bonded, bonded.assigned().data(), bonded.expected_share(part), part, [&](int kind) { return is_in(set, kind); },
            args);
        if (blocks == 0) { continue; }
        launch(queue, Phase::Bonded, kernel_for<N>(set, state.is_tilted, compute), {blocks, threads, 0}, args, GpuView<N>(state),
               state.energies.data());
    }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void GpuBonded::resolve<N>(GpuQueue&, GpuState<N>&, const GpuCell&);                                                \
    template void compute_bonded<N>(GpuQueue&, const GpuBonded&, PairPart, GpuState<N>&, Compute);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
