// SPDX-License-Identifier: Apache-2.0
// The tables of GpuBonded, made on the host.
#include "interactions/bonded/gpu/bonded_gpu.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

template <class Body>
GpuTerms upload_bodies(GpuQueue& queue, const std::vector<Body>& bodies, std::int64_t terms, std::size_t first_word)
{
    GpuTerms kind;
    kind.terms = terms;
    kind.bodies.upload(queue, std::as_bytes(std::span<const Body>(bodies)));
    kind.first_word = static_cast<std::int64_t>(first_word);
    return kind;
}

template <int kind>
GpuTerms make_terms(GpuQueue& queue, const BondedTables& tables, const Topology& topology, std::vector<std::int32_t>& records)
{
    using Body = typename BondedKind<static_cast<InteractionKind>(kind)>::Body;
    const std::size_t first_word = records.size();
    std::vector<Body> bodies;
    std::vector<std::int32_t> first_body;
    for (const MoleculeTerms& type : tables.molecule_types)
    {
        first_body.push_back(static_cast<std::int32_t>(bodies.size()));
        for (const auto& term : std::get<kind>(type)) { bodies.push_back(term.body); }
    }
    std::int64_t count = 0;
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
                for (const std::int32_t atom : term.atoms)
                {
                    records.push_back(static_cast<std::int32_t>(block.first_atom + copy * size + atom));
                }
                records.push_back(body++);
                ++count;
            }
        }
    }
    return upload_bodies(queue, bodies, count, first_word);
}

template <class Restraint>
GpuTerms make_restraint_terms(GpuQueue& queue, const std::vector<Restraint>& restraints, std::vector<std::int32_t>& records)
{
    const std::size_t first_word = records.size();
    std::int32_t body = 0;
    for (const Restraint& r : restraints)
    {
        records.push_back(static_cast<std::int32_t>(r.atom));
        records.push_back(body++);
    }
    return upload_bodies(queue, restraints, body, first_word);
}

template <int... kinds>
std::array<GpuTerms, interaction_kinds> make_kinds(GpuQueue& queue, const BondedTables& tables,
                                                   const PositionRestraints& restraints, const Topology& topology,
                                                   std::vector<std::int32_t>& records, std::integer_sequence<int, kinds...>)
{
    return {make_terms<kinds>(queue, tables, topology, records)..., make_restraint_terms(queue, restraints.list, records),
            make_restraint_terms(queue, restraints.flat_bottomed, records)};
}

} // namespace

GpuBonded::GpuBonded(GpuQueue& queue, const BondedTables& tables, const PositionRestraints& restraints, const Topology& topology,
                     int ranks)
    : expected_share_(ranks == 1 ? 1 : std::min(1.0, 1.2 / ranks)), expected_nonlocal_share_(ranks == 1 ? 0 : 0.25 / ranks),
      joint_(queue, tables, topology)
{
    std::vector<std::int32_t> records;
    kinds_ = make_kinds(queue, tables, restraints, topology, records, std::make_integer_sequence<int, bonded_kinds>());
    records_.upload(queue, records), tables_.upload(queue, tables.tables);
    assigned_.resize(records.size()), assigned_terms_.resize(2 * interaction_kinds);
    assigned_.clear(queue); // kernels load a record before they know whether it is in use
    queue.synchronize();    // the tables on the host may be destroyed afterwards
}

} // namespace parhelion
