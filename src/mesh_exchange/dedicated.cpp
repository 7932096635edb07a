// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/dedicated.hpp"

#include "base/bytes.hpp"
#include "trace/phases.hpp"

#include <algorithm>

namespace parhelion {

namespace {

// A visitor (an atom of a particle rank) as it is sent. A message is an array of visitors.
template <class N>
struct Visitor
{
    Vec3<typename N::Fixed> x;
    typename N::Real charge;
};

template <class N>
constexpr std::size_t bytes_back = 2 * sizeof(Vec3<typename N::ForceSum>); // the force on a visitor, and its share for add_rest()

} // namespace

// --- messages

PartnerMessages::PartnerMessages(Communicator& comm, int first, int end, const std::string& sent, const std::string& received)
{
    const ChannelOptions options{.depth = 1, .credits = Credits::No};
    for (int rank = first; rank < end; ++rank)
    {
        channels_.push_back({comm.open_send(sent, rank, options), comm.open_receive(received, rank, options)});
    }
}

// Reserves at least one byte, because an address marks an arrived message.
Placement PartnerMessages::reserve(std::size_t partner, std::size_t bytes)
{
    ReceiveChannel& from = channels_[partner].receive;
    if (from.core().owes_acknowledgement()) { from.ack(); }
    return from.reserve(bytes + 1);
}

Message PartnerMessages::await(std::size_t partner)
{
    ReceiveChannel& from = channels_[partner].receive;
    if (from.core().owes_acknowledgement()) { from.ack(); }
    return from.wait();
}

// --- a particle rank

template <class N>
MeshElsewhere<N>::MeshElsewhere(const MeshSetup& setup, Communicator& comm)
    : comm_(comm), cut_(setup.cut),
      messages_(comm, cut_.first_mesh_rank, cut_.ranks(), setup.label + " atoms", setup.label + " forces"),
      atoms_(messages_.partners(), MeshAtoms<N>(MeshTransforms<typename N::Real>(setup.parameters).layout(), cut_.order,
                                                MeshCharges<N>(setup.parameters))),
      forces_(messages_.partners())
{
}

// Tells each mesh rank the number of this rank's atoms and the place for their forces, and receives the place for its atoms.
template <class N>
void MeshElsewhere<N>::after_repartition(const ParticleState<N>& state, std::span<const std::uint32_t> /*lower_x*/)
{
    std::vector<SetupMessage> sizes;
    std::vector<int> sources;
    for (std::size_t m = 0; m < messages_.partners(); ++m)
    {
        ByteWriter writer(sizes.emplace_back(SetupMessage{messages_.rank(m), {}}).bytes);
        writer.put(state.home_slots());
        writer.put(messages_.reserve(m, state.home_slots() * bytes_back<N>));
        sources.push_back(messages_.rank(m));
    }
    comm_.exchange(sizes, {});
    const std::vector<SetupMessage> places = comm_.exchange({}, sources);
    for (std::size_t m = 0; m < messages_.partners(); ++m) { messages_.bind(m, ByteReader(places[m].bytes).get<Placement>()); }
}

template <class N>
void MeshElsewhere<N>::start(CpuQueue& queue, const ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::MeshExchange);
    for (std::size_t m = 0; m < messages_.partners(); ++m)
    {
        atoms_[m].sort(queue, state, state.home_clusters(), cut_.planes[static_cast<std::size_t>(messages_.rank(m))]);
        const std::vector<std::int32_t>& slots = atoms_[m].slots();
        const std::size_t bytes = slots.size() * sizeof(Visitor<N>);
        auto* const out = reinterpret_cast<Visitor<N>*>(messages_.begin(m, bytes));
        queue.for_range(slots.size(), 1, [&](int, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
            {
                const auto slot = static_cast<std::size_t>(slots[i]);
                out[i] = {state.x.get(slot), atoms_[m].charges()(state, slot)};
            }
        });
        messages_.publish(m, bytes);
    }
}

template <class N>
void MeshElsewhere<N>::compute(CpuQueue& queue, const ParticleState<N>&, ForceBuffers<N>& buffers, Compute, const MeshWeights&)
{
    const ScopedPhase span(queue.clock(), Phase::MeshExchange);
    for (std::size_t m = 0; m < messages_.partners(); ++m)
    {
        forces_[m] = reinterpret_cast<const Force*>(messages_.await(m).data);
        const std::vector<std::int32_t>& slots = atoms_[m].slots();
        queue.for_range(slots.size(), 1, [&](int thread, std::size_t begin, std::size_t end) {
            auto& forces = buffers.forces[static_cast<std::size_t>(thread)];
            for (std::size_t i = begin; i < end; ++i) { forces.add(static_cast<std::size_t>(slots[i]), forces_[m][i]); }
        });
    }
}

template <class N>
void MeshElsewhere<N>::add_rest(CpuQueue& queue, const MeshWeights&, ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Gather);
    for (std::size_t m = 0; m < messages_.partners(); ++m)
    {
        const std::vector<std::int32_t>& slots = atoms_[m].slots();
        const Force* const rest = forces_[m] + slots.size();
        queue.for_range(slots.size(), 1, [&](int, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) { state.f.add(static_cast<std::size_t>(slots[i]), rest[i]); }
        });
    }
}

// --- a mesh rank

template <class N>
VisitorsMesh<N>::VisitorsMesh(const MeshSetup& setup, Communicator& comm)
    : comm_(comm), own_(setup.cut.planes[static_cast<std::size_t>(comm.rank())]), planes_(setup, comm),
      messages_(comm, 0, setup.cut.first_mesh_rank, setup.label + " forces", setup.label + " atoms"),
      visits_(messages_.partners()), atoms_(planes_.layout(), setup.cut.order)
{
}

template <class N>
void VisitorsMesh<N>::after_repartition(const ParticleState<N>&, std::span<const std::uint32_t> /*lower_x*/)
{
    std::vector<int> sources;
    for (std::size_t p = 0; p < messages_.partners(); ++p) { sources.push_back(messages_.rank(p)); }
    const std::vector<SetupMessage> sizes = comm_.exchange({}, sources);
    std::vector<SetupMessage> places;
    for (std::size_t p = 0; p < messages_.partners(); ++p)
    {
        ByteReader reader(sizes[p].bytes);
        const auto slots = reader.get<std::size_t>();
        messages_.bind(p, reader.get<Placement>());
        ByteWriter writer(places.emplace_back(SetupMessage{messages_.rank(p), {}}).bytes);
        writer.put(messages_.reserve(p, slots * sizeof(Visitor<N>)));
    }
    comm_.exchange(places, {});
}

// Copies the received atoms. Those of each rank begin with a new cluster; unused slots of a last cluster have no charge.
template <class N>
void VisitorsMesh<N>::take_in(CpuQueue& queue)
{
    const ScopedPhase span(queue.clock(), Phase::MeshExchange);
    std::vector<const Visitor<N>*> from(visits_.size());
    std::size_t slots = 0;
    for (std::size_t p = 0; p < visits_.size(); ++p)
    {
        const Message message = messages_.await(p);
        from[p] = reinterpret_cast<const Visitor<N>*>(message.data);
        visits_[p] = {slots, message.bytes / sizeof(Visitor<N>)};
        slots += (visits_[p].count + cluster_size - 1) / cluster_size * cluster_size;
    }
    visitors_.x.resize(slots);
    visitors_.charge.assign(slots, 0);
    for (std::size_t p = 0; p < visits_.size(); ++p)
    {
        queue.for_range(visits_[p].count, 1, [&](int, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
            {
                visitors_.x.set(visits_[p].first + i, from[p][i].x);
                visitors_.charge[visits_[p].first + i] = from[p][i].charge;
            }
        });
    }
}

template <class N>
void VisitorsMesh<N>::send_back(CpuQueue& queue, const MeshWeights& weights)
{
    const ScopedPhase span(queue.clock(), Phase::MeshExchange);
    for (std::size_t p = 0; p < visits_.size(); ++p)
    {
        const Visit& visit = visits_[p];
        const std::size_t bytes = (weights.rest != 0 ? 2 : 1) * visit.count * sizeof(Vec3<typename N::ForceSum>);
        auto* const out = reinterpret_cast<Vec3<typename N::ForceSum>*>(messages_.begin(p, bytes));
        queue.for_range(visit.count, 1, [&](int, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
            {
                out[i] = visitors_.f.get(visit.first + i);
                if (weights.rest != 0) { out[visit.count + i] = rest_.get(visit.first + i); }
            }
        });
        messages_.publish(p, bytes);
    }
}

template <class N>
void VisitorsMesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                              const MeshWeights& weights)
{
    take_in(queue);
    visitors_.box = state.box;
    {
        const ScopedPhase span(queue.clock(), Phase::Spread);
        atoms_.sort(queue, visitors_, visitors_.x.clusters(), own_);
        planes_.spread(queue, visitors_, atoms_);
    }
    const bool are_here = planes_.find_potentials(queue, visitors_, Charges::Here, buffers, compute);
    PARHELION_EXPECTS(are_here);
    {
        const ScopedPhase span(queue.clock(), Phase::Gather);
        const auto gather = [&](int weight, ClusterArray<typename N::ForceSum>& f) {
            f.resize(visitors_.x.slots());
            std::fill(f.values().begin(), f.values().end(), typename N::ForceSum{});
            atoms_.gather(queue, visitors_, planes_.potentials(), weight, f);
        };
        gather(weights.first, visitors_.f);
        if (weights.rest != 0) { gather(weights.rest, rest_); }
    }
    send_back(queue, weights);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template class MeshElsewhere<N>;                                                                                             \
    template class VisitorsMesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
