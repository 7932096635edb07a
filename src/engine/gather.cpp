// SPDX-License-Identifier: Apache-2.0
#include "engine/gather.hpp"

#include "base/bytes.hpp"

namespace parhelion {

template <class N>
AtomData<N> atom_data(const ParticleState<N>& state, const OutputDue& due)
{
    AtomData<N> data;
    for (std::size_t slot = 0; slot < state.home_slots(); ++slot)
    {
        if (state.global_of_slot[slot] < 0) { continue; }
        data.global.push_back(state.global_of_slot[slot]);
        if (due.wants_x()) { data.x.push_back(state.x.get(slot)); }
        if (due.wants_v()) { data.v.push_back(state.v.get(slot)); }
        if (due.wants_f()) { data.f.push_back(state.f.get(slot)); }
    }
    return data;
}

template <class N>
std::vector<AtomData<N>> gather(Communicator& comm, AtomData<N>&& own)
{
    std::vector<SetupMessage> setup_messages;
    std::vector<int> sources;
    if (comm.rank() != 0)
    {
        ByteWriter writer(setup_messages.emplace_back(SetupMessage{0, {}}).bytes);
        writer.put_all(own.global), writer.put_all(own.x), writer.put_all(own.v), writer.put_all(own.f);
    }
    else
    {
        for (int rank = 1; rank < comm.ranks(); ++rank) { sources.push_back(rank); }
    }
    const std::vector<SetupMessage> received = comm.exchange(setup_messages, sources);
    std::vector<AtomData<N>> parts;
    if (comm.rank() == 0) { parts.push_back(std::move(own)); }
    for (const SetupMessage& setup_message : received)
    {
        ByteReader reader(setup_message.bytes);
        AtomData<N>& part = parts.emplace_back();
        part.global = reader.get_all<std::int32_t>(), part.x = reader.get_all<Vec3<typename N::Fixed>>();
        part.v = reader.get_all<Vec3<typename N::Real>>(), part.f = reader.get_all<Vec3<typename N::ForceSum>>();
    }
    return parts;
}

namespace {

template <class N>
std::vector<Vec3<double>> whole_molecules(CpuQueue& queue, const Topology& topology, const PeriodicBox<N>& box,
                                          const std::vector<Vec3<typename N::Fixed>>& x)
{
    std::vector<Vec3<double>> nm(x.size());
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        const std::size_t atoms = type.atoms.size();
        queue.for_range(static_cast<std::size_t>(block.count), 1, [&](int, std::size_t begin, std::size_t end) {
            for (std::size_t copy = begin; copy < end; ++copy)
            {
                const std::size_t first = static_cast<std::size_t>(block.first_atom) + copy * atoms;
                nm[first] = box.to_nm(x[first]);
                for (std::size_t a = first + 1; a < first + atoms; ++a)
                {
                    nm[a] = type.is_tied_to_image ? box.to_nm(x[a]) : nm[a - 1] + box.nearest(x[a], x[a - 1]);
                }
            }
        });
    }
    return nm;
}

} // namespace

template <class N>
Frame make_frame(CpuQueue& queue, const Topology& topology, const PeriodicBox<N>& box, const std::vector<AtomData<N>>& parts)
{
    Frame frame;
    frame.box = box.edges();
    if (const auto x = in_input_order(parts, &AtomData<N>::x); !x.empty())
    {
        frame.x = whole_molecules<N>(queue, topology, box, x);
    }
    for (const auto& v : in_input_order(parts, &AtomData<N>::v)) { frame.v.emplace_back(v); }
    for (const auto& f : in_input_order(parts, &AtomData<N>::f))
    {
        frame.f.push_back({from_sum(f.x), from_sum(f.y), from_sum(f.z)});
    }
    return frame;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template AtomData<N> atom_data<N>(const ParticleState<N>&, const OutputDue&);                                                \
    template std::vector<AtomData<N>> gather<N>(Communicator&, AtomData<N> &&);                                                  \
    template Frame make_frame<N>(CpuQueue&, const Topology&, const PeriodicBox<N>&, const std::vector<AtomData<N>>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
