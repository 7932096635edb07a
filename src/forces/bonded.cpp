// SPDX-License-Identifier: Apache-2.0
#include "forces/bonded.hpp"

namespace parhelion {

namespace {

template <int kind>
void add_terms(const Topology& topology, const MoleculeType& type, double charge_scale, MoleculeTerms& terms)
{
    constexpr auto interaction_kind = static_cast<InteractionKind>(kind);
    using Body = typename BondedKind<interaction_kind>::Body;
    static_assert(Body::atoms == arity(interaction_kind));
    for (const Interaction& interaction : type.of(interaction_kind))
    {
        const auto& parameters = topology.parameters_of(interaction_kind)[static_cast<std::size_t>(interaction.parameters)];
        BondedTerm<Body> term{{}, BondedKind<interaction_kind>::make(parameters, {charge_scale, type, interaction})};
        for (int i = 0; i < Body::atoms; ++i) { term.atoms[i] = interaction.atoms[i]; }
        std::get<kind>(terms).push_back(term);
    }
}

// The difference vectors of n atoms, as bonded_body.hpp numbers them.
template <class N, int n>
void differences(const PeriodicBox<N>& box, const Vec3<typename N::Fixed> (&x)[n], Vec3<double> (&d)[n - 1])
{
    d[0] = box.difference(x[0], x[1]);
    if constexpr (n > 2) { d[1] = box.difference(x[2], x[1]); }
    if constexpr (n > 3) { d[2] = box.difference(x[3], x[2]); }
}

// Forces are added as sums of the converted f[i], so that in fixed point they cancel to the last bit.
template <class Sum, int n>
void add_forces(ClusterArray<Sum>& forces, const std::size_t (&slot)[n], const Vec3<double> (&f)[n - 1])
{
    Vec3<Sum> sum[n - 1];
    for (int i = 0; i < n - 1; ++i) { sum[i] = {to_sum<Sum>(f[i].x), to_sum<Sum>(f[i].y), to_sum<Sum>(f[i].z)}; }
    forces.add(slot[0], sum[0]);
    if constexpr (n == 2) { forces.add(slot[1], -sum[0]); }
    if constexpr (n > 2) { forces.add(slot[1], -(sum[0] + sum[1])); }
    if constexpr (n == 3) { forces.add(slot[2], sum[1]); }
    if constexpr (n == 4)
    {
        forces.add(slot[2], sum[1] - sum[2]);
        forces.add(slot[3], sum[2]);
    }
}

// This thread's share of one kind of term of one molecule type.
template <int kind, Compute compute, class N>
void compute_kind(const CpuQueue& queue, int thread, const MoleculeTerms& molecule, const std::vector<std::int32_t>& first_atoms,
                  const ParticleState<N>& state, ClusterArray<typename N::ForceSum>& forces, EnergySums<N>& energies)
{
    using Kind = BondedKind<static_cast<InteractionKind>(kind)>;
    constexpr int n = Kind::Body::atoms;
    const auto& terms = std::get<kind>(molecule);
    const auto [begin, end] = queue.range(terms.size() * first_atoms.size(), 1, thread);
    if (begin >= end) { return; }
    std::size_t copy = begin / terms.size(), t = begin % terms.size();
    for (std::size_t i = begin; i < end; ++i)
    {
        const auto& term = terms[t];
        std::size_t slot[n];
        Vec3<typename N::Fixed> x[n];
        for (int a = 0; a < n; ++a)
        {
            slot[a] = static_cast<std::size_t>(state.slot_of_global[static_cast<std::size_t>(first_atoms[copy] + term.atoms[a])]);
            x[a] = state.x.get(slot[a]);
        }
        Vec3<double> d[n - 1];
        differences<N>(state.box, x, d);
        const auto result = term.body(d);
        add_forces(forces, slot, result.f);
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            for (std::size_t e = 0; e < Kind::energy.size(); ++e) { energies.add(Kind::energy[e], result.energy[e]); }
            for (int a = 0; a < n - 1; ++a) { energies.add_virial(d[a], result.f[a]); }
        }
        if (++t == terms.size()) { t = 0, ++copy; }
    }
}

template <Compute compute, class N, int... kinds>
void compute_kinds(CpuQueue& queue, const BondedTables& tables, const MoleculeList& molecules, const ParticleState<N>& state,
                   ForceBuffers<N>& buffers, std::integer_sequence<int, kinds...>)
{
    queue.run([&](int thread) {
        const auto t = static_cast<std::size_t>(thread);
        EnergySums<N> energies; // summed here, not in the array the threads share
        for (std::size_t type = 0; type < tables.molecule_types.size(); ++type)
        {
            (compute_kind<kinds, compute>(queue, thread, tables.molecule_types[type], molecules.first_atom[type], state,
                                          buffers.forces[t], energies),
             ...);
        }
        buffers.energies[t] += energies;
    });
}

template <int... kinds>
void add_kinds(const Topology& topology, const MoleculeType& type, double charge_scale, MoleculeTerms& terms,
               std::integer_sequence<int, kinds...>)
{
    (add_terms<kinds>(topology, type, charge_scale, terms), ...);
}

template <int... kinds>
void clear_others(MoleculeTerms& terms, InteractionKind kept, std::integer_sequence<int, kinds...>)
{
    ((static_cast<InteractionKind>(kinds) == kept ? void() : std::get<kinds>(terms).clear()), ...);
}

constexpr std::make_integer_sequence<int, bonded_kinds> every_kind;

} // namespace

BondedTables make_bonded(const Topology& topology, const RunParameters& parameters)
{
    const double coulomb = parameters.epsilon_r > 0 ? units::coulomb / parameters.epsilon_r : 0;
    BondedTables tables;
    for (const MoleculeType& type : topology.molecule_types)
    {
        add_kinds(topology, type, coulomb * topology.fudge_qq, tables.molecule_types.emplace_back(), every_kind);
    }
    return tables;
}

BondedTables of_kind(const BondedTables& tables, InteractionKind kind)
{
    BondedTables reduced = tables;
    for (MoleculeTerms& terms : reduced.molecule_types) { clear_others(terms, kind, every_kind); }
    return reduced;
}

template <class N>
void compute_bonded(CpuQueue& queue, const BondedTables& tables, const MoleculeList& molecules, const ParticleState<N>& state,
                    ForceBuffers<N>& buffers, Compute compute)
{
    const ScopedPhase span(queue.clock(), Phase::Bonded);
    if (compute == Compute::Forces) { compute_kinds<Compute::Forces>(queue, tables, molecules, state, buffers, every_kind); }
    else { compute_kinds<Compute::ForcesEnergiesVirial>(queue, tables, molecules, state, buffers, every_kind); }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void compute_bonded<N>(CpuQueue&, const BondedTables&, const MoleculeList&, const ParticleState<N>&,                \
                                    ForceBuffers<N>&, Compute);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
