// SPDX-License-Identifier: Apache-2.0
#include "interactions/bonded/bonded.hpp"

#include "base/error.hpp"
#include "interactions/bonded/bonded_scatter.hpp"
#include "model/joint_distances.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <type_traits>

namespace parhelion {

namespace {

// Makes the tables of a kind, one for each set of parameters. Returns where each table begins.
template <class Kind>
std::vector<std::int64_t> add_tables(const std::vector<InteractionParameters>& sets, std::vector<double>& tables)
{
    std::vector<std::int64_t> first_value(sets.size());
    if constexpr (requires { &Kind::table; })
    {
        for (std::size_t i = 0; i < sets.size(); ++i)
        {
            first_value[i] = static_cast<std::int64_t>(tables.size());
            const std::vector<double> table = Kind::table(sets[i]);
            tables.insert(tables.end(), table.begin(), table.end());
        }
    }
    return first_value;
}

// Adds the terms of one kind, for all molecule types, to the tables.
template <int kind>
void add_kind(const Topology& topology, const RunParameters& parameters, BondedTables& tables)
{
    constexpr InteractionRow row = interaction_table[kind];
    const double coulomb = coulomb_factor(parameters), charge_scale = coulomb * topology.fudge_qq;
    using Kind = BondedKind<row.kind>;
    using Body = typename Kind::Body;
    static_assert(Body::atoms == row.atoms);
    const std::vector<InteractionParameters>& sets = topology.parameters_of(row.kind);
    const std::vector<std::int64_t> first_value = add_tables<Kind>(sets, tables.tables);
    for (std::size_t t = 0; t < topology.molecule_types.size(); ++t)
    {
        const MoleculeType& type = topology.molecule_types[t];
        for (const Interaction& interaction : type.of(row.kind))
        {
            const auto set = static_cast<std::size_t>(interaction.parameters);
            if (row.kind == InteractionKind::DistanceRestraint && is_joint(sets[set])) { continue; }
            PARHELION_EXPECTS(row.parameters == square_table || static_cast<int>(sets[set].size()) == row.parameters ||
                              (row.kind == InteractionKind::Pair14 && has_own_charges(sets[set])));
            BondedTerm<Body> term{{},
                                  Kind::make(sets[set], {charge_scale, type, interaction, first_value[set],
                                                         parameters.distance_restraint_k, coulomb})};
            std::copy_n(interaction.atoms.begin(), row.atoms, term.atoms.begin());
            std::get<kind>(tables.molecule_types[t]).push_back(term);
        }
    }
}

std::vector<JointDistance> joint_distances_of(const MoleculeType& type, const std::vector<InteractionParameters>& sets,
                                              const RunParameters& parameters)
{
    std::vector<JointDistance> joint;
    std::map<std::int32_t, std::size_t> place_of; // index of a restraint, by its index of parameters
    for (const Interaction& pair : type.of(InteractionKind::DistanceRestraint))
    {
        const InteractionParameters& p = sets[static_cast<std::size_t>(pair.parameters)];
        if (!is_joint(p)) { continue; }
        const auto [place, is_new] = place_of.try_emplace(pair.parameters, joint.size());
        if (is_new)
        {
            const bool shares_equally = parameters.equal_distance_forces && !is_always_conservative(p);
            joint.push_back({{{p[0], p[1], p[2], p[3] * parameters.distance_restraint_k}, shares_equally}, {}});
        }
        std::vector<std::int32_t>& atoms = joint[place->second].atoms;
        atoms.insert(atoms.end(), {pair.atoms[0], pair.atoms[1]});
    }
    return joint;
}

template <Compute compute, class N>
void compute_joint(const std::vector<JointDistance>& joint, std::span<const TermPlace> places, const ParticleState<N>& state,
                   ClusterArray<typename N::ForceSum>& forces, EnergySums<N>& energies)
{
    using Sum = typename N::ForceSum;
    for (const TermPlace place : places)
    {
        const JointDistance& restraint = joint[static_cast<std::size_t>(place.term)];
        const auto slot_of = [&](std::size_t i) {
            return static_cast<std::size_t>(
                state.slot_of_global[static_cast<std::size_t>(place.first_atom + restraint.atoms[i])]);
        };
        // Calls visit(slots of the two atoms, vector from the second atom to the first) for each pair.
        const auto for_each_pair = [&](auto&& visit) {
            for (std::size_t i = 0; i < restraint.atoms.size(); i += 2)
            {
                const std::size_t a = slot_of(i), b = slot_of(i + 1);
                visit(a, b, state.box.difference(state.x.get(a), state.x.get(b)));
            }
        };
        double sum = 0;
        for_each_pair([&](std::size_t, std::size_t, const Vec3<double>& d) { sum += inverse_sixth_power(d); });
        const JointPull pull = joint_pull(restraint.law, sum, static_cast<int>(restraint.pairs()));
        for_each_pair([&](std::size_t a, std::size_t b, const Vec3<double>& d) {
            const Vec3<double> force = pull.force(d);
            const Vec3<Sum> f{to_sum<Sum>(force.x), to_sum<Sum>(force.y), to_sum<Sum>(force.z)};
            forces.add(a, f), forces.add(b, -f);
            if constexpr (compute == Compute::ForcesEnergiesVirial) { energies.add_virial(d, force); }
        });
        if constexpr (compute == Compute::ForcesEnergiesVirial) { energies.add(EnergyTerm::DistanceRestraint, pull.energy); }
    }
}

// Computes the terms of one kind and molecule type. It is not inlined, and all that it calls is, as otherwise the compiler
// would call the laws and the geometry for each term.
template <int kind, Compute compute, bool tilted, class N, class Term>
[[gnu::noinline, gnu::flatten]] void compute_kind(const std::vector<Term>& terms, std::span<const TermPlace> places,
                                                  const double* tables, const ParticleState<N>& state,
                                                  ClusterArray<typename N::ForceSum>& forces, EnergySums<N>& energies)
{
    constexpr InteractionRow row = interaction_table[kind];
    constexpr int n = row.atoms;
    for (const TermPlace place : places)
    {
        const Term& term = terms[static_cast<std::size_t>(place.term)];
        std::size_t slot[n];
        Vec3<typename N::Fixed> x[n];
        for (int a = 0; a < n; ++a)
        {
            slot[a] = static_cast<std::size_t>(state.slot_of_global[static_cast<std::size_t>(place.first_atom + term.atoms[a])]);
            x[a] = state.x.get(slot[a]);
        }
        Vec3<double> d[n - 1];
        differences<tilted>(state.box, x, d);
        const auto result = evaluate(term.body, d, tables);
        scatter<typename N::ForceSum>(result.f, [&](int a, const auto& f) { forces.add(slot[a], f); });
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            for (int e = 0; e < row.energy.count; ++e) { energies.add(row.energy.term[e], result.energy[e]); }
            for (int a = 0; a < n - 1; ++a) { energies.add_virial(d[a], result.f[a]); }
        }
    }
}

template <Compute compute, bool tilted, class N, int... kinds>
void compute_kinds(CpuQueue& queue, const BondedTables& tables, const BondedAssignment& assignment, const ParticleState<N>& state,
                   ForceBuffers<N>& buffers, std::integer_sequence<int, kinds...>)
{
    queue.run([&](int thread) {
        const auto t = static_cast<std::size_t>(thread);
        const auto share = [&](const std::vector<TermPlace>& places) {
            const auto [begin, end] = queue.range(places.size(), 1, thread);
            return std::span(places).subspan(begin, end - begin);
        };
        EnergySums<N> energies; // owned by one thread, not in an array that threads share
        for (std::size_t type = 0; type < tables.molecule_types.size(); ++type)
        {
            const MoleculeTerms& terms = tables.molecule_types[type];
            const BondedAssignment::ByKind& places = assignment.molecule_types[type];
            (compute_kind<kinds, compute, tilted>(std::get<kinds>(terms), share(places[kinds]), tables.tables.data(), state,
                                                  buffers.forces[t], energies),
             ...);
            compute_joint<compute>(tables.joint[type], share(assignment.joint[type]), state, buffers.forces[t], energies);
        }
        buffers.energies[t] += energies;
    });
}

template <int... kinds>
void add_kinds(const Topology& topology, const RunParameters& parameters, BondedTables& tables,
               std::integer_sequence<int, kinds...>)
{
    (add_kind<kinds>(topology, parameters, tables), ...);
}

// Returns the terms of one kind, in all copies of one molecule type, for which mine() is true.
template <class Term>
std::vector<TermPlace> assign_kind(const std::vector<Term>& terms, const std::vector<std::int32_t>& first_atoms,
                                   const std::function<bool(const std::int32_t*, int)>& mine)
{
    std::vector<TermPlace> places;
    if (terms.empty()) { return places; }
    for (const std::int32_t first_atom : first_atoms)
    {
        for (std::size_t t = 0; t < terms.size(); ++t)
        {
            auto atoms = terms[t].atoms;
            for (std::int32_t& atom : atoms) { atom += first_atom; }
            if (mine(atoms.data(), static_cast<int>(atoms.size())))
            {
                places.push_back({first_atom, static_cast<std::int32_t>(t)});
            }
        }
    }
    return places;
}

template <int... kinds>
BondedAssignment::ByKind assign_kinds(const MoleculeTerms& terms, const std::vector<std::int32_t>& first_atoms,
                                      const std::function<bool(const std::int32_t*, int)>& mine,
                                      std::integer_sequence<int, kinds...>)
{
    return {assign_kind(std::get<kinds>(terms), first_atoms, mine)...};
}

constexpr std::make_integer_sequence<int, bonded_kinds> every_kind;

} // namespace

BondedTables make_bonded(const Topology& topology, const RunParameters& parameters)
{
    BondedTables tables;
    tables.molecule_types.resize(topology.molecule_types.size());
    add_kinds(topology, parameters, tables, every_kind);
    for (const MoleculeType& type : topology.molecule_types)
    {
        tables.joint.push_back(joint_distances_of(type, topology.parameters_of(InteractionKind::DistanceRestraint), parameters));
    }
    return tables;
}

std::int64_t BondedAssignment::terms() const
{
    std::int64_t terms = joint_pairs;
    for (const ByKind& kinds : molecule_types)
    {
        for (const auto& places : kinds) { terms += static_cast<std::int64_t>(places.size()); }
    }
    return terms;
}

BondedAssignment all_terms(const BondedTables& tables, const Topology& topology)
{
    return assign_terms(tables, all_molecules(topology), [](const std::int32_t*, int) { return true; });
}

BondedAssignment assign_terms(const BondedTables& tables, const MoleculeList& copies,
                              const std::function<bool(const std::int32_t* atoms, int count)>& mine)
{
    PARHELION_EXPECTS(copies.first_atom.size() == tables.molecule_types.size());
    BondedAssignment assignment;
    for (std::size_t type = 0; type < tables.molecule_types.size(); ++type)
    {
        assignment.molecule_types.push_back(assign_kinds(tables.molecule_types[type], copies.first_atom[type], mine, every_kind));
        const std::vector<JointDistance>& joint = tables.joint[type];
        assignment.joint.push_back(assign_kind(joint, copies.first_atom[type], mine));
        for (const TermPlace place : assignment.joint.back())
        {
            assignment.joint_pairs += joint[static_cast<std::size_t>(place.term)].pairs();
        }
    }
    return assignment;
}

BondedAssignment of_kind(const BondedAssignment& assignment, InteractionKind kind)
{
    BondedAssignment reduced;
    const auto kept = static_cast<std::size_t>(kind);
    for (const BondedAssignment::ByKind& places : assignment.molecule_types)
    {
        auto& kinds = reduced.molecule_types.emplace_back();
        if (kept < kinds.size()) { kinds[kept] = places[kept]; }
    }
    reduced.joint.resize(assignment.joint.size());
    if (kind == InteractionKind::DistanceRestraint)
    {
        reduced.joint = assignment.joint, reduced.joint_pairs = assignment.joint_pairs;
    }
    return reduced;
}

template <class N>
void compute_bonded(CpuQueue& queue, const BondedTables& tables, const BondedAssignment& assignment,
                    const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute)
{
    PARHELION_EXPECTS(assignment.molecule_types.size() == tables.molecule_types.size());
    const ScopedPhase span(queue.clock(), Phase::Bonded);
    const auto compute_if = [&](auto computes, auto tilted) {
        if (compute != computes || tilted == state.box.edges().is_rectangular()) { return; }
        compute_kinds<computes, tilted>(queue, tables, assignment, state, buffers, every_kind);
    };
    const auto compute_in = [&](auto tilted) {
        compute_if(std::integral_constant<Compute, Compute::Forces>(), tilted);
        compute_if(std::integral_constant<Compute, Compute::ForcesEnergiesVirial>(), tilted);
    };
    compute_in(std::false_type()), compute_in(std::true_type());
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void compute_bonded<N>(CpuQueue&, const BondedTables&, const BondedAssignment&, const ParticleState<N>&,            \
                                    ForceBuffers<N>&, Compute);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
