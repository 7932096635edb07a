// SPDX-License-Identifier: Apache-2.0
#include "device/block_sum.cuh"
#include "device/block_trace.cuh"
#include "device/launch.cuh"
#include "forces/bonded_gpu.hpp"
#include "forces/restraints_body.hpp"
#include "state/gpu_view.cuh"

namespace parhelion {

namespace {

constexpr int threads = 128; // registers, not occupancy, limit the heavy kinds; few blocks suffice

struct TermsView
{
    const void* bodies;
    const std::int32_t *body_of_term, *slots;
    std::int64_t terms;
    std::int32_t first_block; // of this kind in the launch
};
struct BondedArgs
{
    TermsView kind[interaction_kinds];
};

std::int32_t blocks_for(std::int64_t n) { return static_cast<std::int32_t>((n + threads - 1) / threads); }

// --- host: tables -----------------------------------------------------------------------------------------------------------

// The terms' atoms are already behind `first_atom`, in a list of the atoms of all kinds.
template <class Body>
GpuTerms upload_terms(GpuQueue& queue, const std::vector<Body>& bodies, const std::vector<std::int32_t>& body_of_term,
                      std::size_t first_atom)
{
    GpuTerms terms;
    terms.terms = static_cast<std::int64_t>(body_of_term.size());
    terms.bodies.upload(queue, std::as_bytes(std::span<const Body>(bodies)));
    terms.body_of_term.upload(queue, body_of_term);
    terms.first_atom = first_atom;
    return terms;
}

template <int kind>
GpuTerms make_terms(GpuQueue& queue, const BondedTables& tables, const Topology& topology, std::vector<std::int32_t>& atoms)
{
    using Body = typename BondedKind<static_cast<InteractionKind>(kind)>::Body;
    const std::size_t first_atom = atoms.size();
    std::vector<Body> bodies;
    std::vector<std::int32_t> first_body, body_of_term;
    for (const MoleculeTerms& type : tables.molecule_types)
    {
        first_body.push_back(static_cast<std::int32_t>(bodies.size()));
        for (const auto& term : std::get<kind>(type)) { bodies.push_back(term.body); }
    }
    for (const MoleculeBlock& block : topology.blocks)
    {
        const auto type = static_cast<std::size_t>(block.type);
        const auto& terms = std::get<kind>(tables.molecule_types[type]);
        const auto size = static_cast<std::int64_t>(topology.molecule_types[type].atoms.size());
        for (std::int64_t copy = 0; copy < block.count && !terms.empty(); ++copy)
        {
            std::int32_t body = first_body[type];
            for (const auto& term : terms)
            {
                body_of_term.push_back(body++);
                for (const std::int32_t atom : term.atoms)
                {
                    atoms.push_back(static_cast<std::int32_t>(block.first_atom + copy * size + atom));
                }
            }
        }
    }
    return upload_terms(queue, bodies, body_of_term, first_atom);
}

GpuTerms make_restraint_terms(GpuQueue& queue, const PositionRestraints& restraints, std::vector<std::int32_t>& atoms)
{
    const std::size_t first_atom = atoms.size();
    std::vector<std::int32_t> body_of_term;
    for (const PositionRestraint& r : restraints.list)
    {
        body_of_term.push_back(static_cast<std::int32_t>(body_of_term.size()));
        atoms.push_back(static_cast<std::int32_t>(r.atom));
    }
    return upload_terms(queue, restraints.list, body_of_term, first_atom);
}

template <int... kinds>
std::array<GpuTerms, bonded_kinds> make_kinds(GpuQueue& queue, const BondedTables& tables, const Topology& topology,
                                              std::vector<std::int32_t>& atoms, std::integer_sequence<int, kinds...>)
{
    return {make_terms<kinds>(queue, tables, topology, atoms)...};
}

// --- device -----------------------------------------------------------------------------------------------------------------

// -1/2 d (x) f in a sum's type.
template <class Sum>
__device__ void add_virial(const Vec3<double>& d, const Vec3<double>& f, Sum (&virial)[9])
{
    for (int a = 0; a < 3; ++a)
    {
        for (int b = 0; b < 3; ++b) { virial[3 * a + b] += to_sum<Sum>(-0.5 * d[a] * f[b]); }
    }
}

// What a block's threads found, added to the sums of the step.
template <class N, int n>
__device__ void add_to_energies(const ScalarSum<N> (&energy)[n], const EnergyTerm* terms, const ScalarSum<N> (&virial)[9],
                                EnergySums<N>* energies)
{
    for (int e = 0; e < n; ++e)
    {
        const ScalarSum<N> one[1] = {energy[e]};
        add_block_sums(one, &energies->energy[static_cast<std::size_t>(terms[e])]);
    }
    add_block_sums(virial, &energies->virial[0]);
}

// One term of a kind; every thread of the block comes here, those behind the last term with nothing to do.
template <int kind, Compute compute, class N>
__device__ void compute_term(const TermsView& view, const GpuView<N>& state, EnergySums<N>* energies)
{
    using Kind = BondedKind<static_cast<InteractionKind>(kind)>;
    using Body = typename Kind::Body;
    using Sum = typename N::ForceSum;
    constexpr int n = Body::atoms;
    constexpr auto terms = Kind::energy;
    ScalarSum<N> energy[terms.size()] = {}, virial[9] = {};
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x - view.first_block) * threads + threadIdx.x;
    if (i < view.terms)
    {
        const Body body = static_cast<const Body*>(view.bodies)[view.body_of_term[i]];
        const PeriodicBox<N> box = state.box();
        std::int32_t slot[n];
        Vec3<typename N::Fixed> x[n];
        for (int a = 0; a < n; ++a)
        {
            slot[a] = view.slots[i * n + a];
            x[a] = state.position(slot[a]);
        }
        Vec3<double> d[n - 1];
        d[0] = box.difference(x[0], x[1]);
        if constexpr (n > 2) { d[1] = box.difference(x[2], x[1]); }
        if constexpr (n > 3) { d[2] = box.difference(x[3], x[2]); }
        const auto result = body(d);
        // Sums of the converted f[i], so that in fixed point they cancel to the last bit.
        Vec3<Sum> f[n - 1];
        for (int k = 0; k < n - 1; ++k)
        {
            f[k] = {to_sum<Sum>(result.f[k].x), to_sum<Sum>(result.f[k].y), to_sum<Sum>(result.f[k].z)};
        }
        state.add_force(slot[0], f[0]);
        if constexpr (n == 2) { state.add_force(slot[1], -f[0]); }
        if constexpr (n > 2) { state.add_force(slot[1], -(f[0] + f[1])); }
        if constexpr (n == 3) { state.add_force(slot[2], f[1]); }
        if constexpr (n == 4)
        {
            state.add_force(slot[2], f[1] - f[2]);
            state.add_force(slot[3], f[2]);
        }
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            for (std::size_t e = 0; e < terms.size(); ++e) { energy[e] = to_sum<ScalarSum<N>>(result.energy[e]); }
            for (int k = 0; k < n - 1; ++k) { add_virial(d[k], result.f[k], virial); }
        }
    }
    if constexpr (compute == Compute::ForcesEnergiesVirial) { add_to_energies<N>(energy, terms.data(), virial, energies); }
}

template <Compute compute, class N>
__device__ void compute_restraint(const TermsView& view, const GpuView<N>& state, EnergySums<N>* energies)
{
    using Sum = typename N::ForceSum;
    ScalarSum<N> energy[1] = {}, virial[9] = {};
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x - view.first_block) * threads + threadIdx.x;
    if (i < view.terms)
    {
        const PositionRestraint restraint = static_cast<const PositionRestraint*>(view.bodies)[i];
        const PeriodicBox<N> box = state.box();
        const std::int32_t slot = view.slots[i];
        const RestraintForce r = restraint_force(restraint, box, state.position(slot));
        state.add_force(slot, Vec3<Sum>{to_sum<Sum>(r.f.x), to_sum<Sum>(r.f.y), to_sum<Sum>(r.f.z)});
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            energy[0] = to_sum<ScalarSum<N>>(r.energy);
            add_virial(r.arm, r.f, virial);
        }
    }
    if constexpr (compute == Compute::ForcesEnergiesVirial)
    {
        constexpr EnergyTerm term = EnergyTerm::PositionRestraint;
        add_to_energies<N>(energy, &term, virial, energies);
    }
}

// Runs the branch of the kind this block belongs to.
template <Compute compute, class N, int... kinds>
__device__ void compute_kind_of_block(const BondedArgs& args, const GpuView<N>& state, EnergySums<N>* energies,
                                      std::integer_sequence<int, kinds...>)
{
    int mine = interaction_kinds - 1;
    while (mine > 0 && static_cast<std::int32_t>(blockIdx.x) < args.kind[mine].first_block) { --mine; }
    ((kinds == mine ? compute_term<kinds, compute>(args.kind[kinds], state, energies) : void()), ...);
    if (mine == bonded_kinds) { compute_restraint<compute>(args.kind[bonded_kinds], state, energies); }
}

// Purpose        bonded terms, 1-4 pairs and position restraints of one rank
// Work           a thread per term; a block has terms of one kind
// Reads/Writes   positions, term tables / forces (atomic sums), on request energies and virial (a sum per block)
// Orders         nothing: stream order alone
// Requires       slots resolved since the last repartition; forces cleared
// Cost           about 40 bytes and 300 double-precision flop per term
template <class N, Compute compute>
__global__ void __launch_bounds__(threads)
    bonded_kernel(BlockTrace tracing, BondedArgs args, GpuView<N> state, EnergySums<N>* energies)
{
    const BlockSpan span(tracing);

    compute_kind_of_block<compute, N>(args, state, energies, std::make_integer_sequence<int, bonded_kinds>());
}

} // namespace

GpuBonded::GpuBonded(GpuQueue& queue, const BondedTables& tables, const PositionRestraints& restraints, const Topology& topology)
{
    std::vector<std::int32_t> atoms;
    kinds_ = make_kinds(queue, tables, topology, atoms, std::make_integer_sequence<int, bonded_kinds>());
    restraints_ = make_restraint_terms(queue, restraints, atoms);
    atoms_.upload(queue, atoms);
    slots_.resize(atoms.size());
}

template <class N>
void GpuBonded::resolve(GpuQueue& queue, const GpuState<N>& state)
{
    resolve_slots(queue, state, atoms_, slots_);
}

template <class N>
void compute_bonded(GpuQueue& queue, const GpuBonded& bonded, GpuState<N>& state, Compute compute)
{
    BondedArgs args;
    std::int32_t blocks = 0;
    for (int k = 0; k < interaction_kinds; ++k)
    {
        const GpuTerms& terms = k < bonded_kinds ? bonded.kinds()[static_cast<std::size_t>(k)] : bonded.restraints();
        args.kind[k] = {terms.bodies.data(), terms.body_of_term.data(), bonded.slots().data() + terms.first_atom, terms.terms,
                        blocks};
        blocks += blocks_for(terms.terms);
    }
    if (blocks == 0) { return; }
    const auto kernel =
        compute == Compute::Forces ? bonded_kernel<N, Compute::Forces> : bonded_kernel<N, Compute::ForcesEnergiesVirial>;
    launch(queue, Phase::Bonded, kernel, {blocks, threads, 0}, args, GpuView<N>(state), state.energies.data());
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void GpuBonded::resolve<N>(GpuQueue&, const GpuState<N>&);                                                          \
    template void compute_bonded<N>(GpuQueue&, const GpuBonded&, GpuState<N>&, Compute);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
