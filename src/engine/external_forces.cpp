// SPDX-License-Identifier: Apache-2.0
#include "engine/external_forces.hpp"

#include "base/bytes.hpp"
#include "engine/ask_external.hpp"
#include "engine/deadline_pause.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <utility>

namespace parhelion {

PlacedForce place(std::shared_ptr<ExternalForce> force, const Topology& topology)
{
    PlacedForce placed{std::move(force), {}, {}, {}};
    const std::vector<std::int64_t>& atoms = placed.force->atoms();
    std::vector<std::int64_t> ascending = atoms;
    std::sort(ascending.begin(), ascending.end());
    for (const std::int64_t atom : ascending)
    {
        const AtomAddress address = topology.locate(atom);
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(address.type)];
        const std::int64_t known = placed.needed.empty() ? -1 : placed.needed.back();
        for (std::int64_t a = std::max(address.molecule_first_atom, known + 1); a <= atom; ++a)
        {
            placed.needed.push_back(static_cast<std::int32_t>(a));
            placed.is_in_box.push_back(a == address.molecule_first_atom || type.is_tied_to_image);
        }
    }
    for (const std::int64_t atom : atoms)
    {
        const auto found = std::lower_bound(placed.needed.begin(), placed.needed.end(), atom);
        placed.place.push_back(static_cast<std::size_t>(found - placed.needed.begin()));
    }
    return placed;
}

namespace {

std::vector<int> others(const Communicator& comm)
{
    std::vector<int> ranks;
    for (int rank = 1; rank < comm.ranks(); ++rank) { ranks.push_back(rank); }
    return ranks;
}

// Returns the positions of the needed atoms. They are complete on rank 0 only; other ranks send theirs.
template <class N>
std::vector<Vec3<typename N::Fixed>> gather_positions(Rank<N>& r, const PlacedForce& placed)
{
    std::vector<Vec3<typename N::Fixed>> x(placed.needed.size()), own;
    std::vector<std::size_t> places;
    const bool tells = r.comm.rank() != 0;
    for (std::size_t i = 0; i < x.size(); ++i)
    {
        const std::int32_t slot = r.state.slot_of_global[static_cast<std::size_t>(placed.needed[i])];
        if (!r.state.is_home(slot)) { continue; }
        x[i] = r.state.x.get(static_cast<std::size_t>(slot));
        if (tells) { places.push_back(i), own.push_back(x[i]); }
    }
    if (r.comm.ranks() == 1) { return x; }
    std::vector<SetupMessage> messages;
    if (tells)
    {
        ByteWriter writer(messages.emplace_back(SetupMessage{0, {}}).bytes);
        writer.put_all(places), writer.put_all(own);
    }
    for (const SetupMessage& message : r.comm.exchange(messages, tells ? std::vector<int>{} : others(r.comm)))
    {
        ByteReader reader(message.bytes);
        places = reader.get_all<std::size_t>(), own = reader.get_all<Vec3<typename N::Fixed>>();
        for (std::size_t i = 0; i < own.size(); ++i) { x[places[i]] = own[i]; }
    }
    return x;
}

template <class N>
ExternalForce::Configuration configuration_of(const Rank<N>& r, const PlacedForce& placed,
                                              const std::vector<Vec3<typename N::Fixed>>& x)
{
    const PeriodicBox<N>& box = r.state.box;
    std::vector<Vec3<double>> nm(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
    {
        nm[i] = placed.is_in_box[i] != 0 ? box.to_nm(x[i]) : nm[i - 1] + box.nearest(x[i], x[i - 1]);
    }
    ExternalForce::Configuration configuration{r.step, r.time(), box.edges(), {}};
    for (const std::size_t place : placed.place) { configuration.x.push_back(nm[place]); }
    return configuration;
}

// Sends the answer from rank 0 to all ranks.
void share(Communicator& comm, std::optional<ExternalForce::Answer>& answer)
{
    if (comm.ranks() == 1) { return; }
    std::vector<SetupMessage> messages;
    if (comm.rank() == 0)
    {
        Bytes bytes;
        ByteWriter writer(bytes);
        writer.put(answer.has_value());
        if (answer) { writer.put(answer->energy), writer.put_all(answer->f), writer.put(answer->virial); }
        for (const int rank : others(comm)) { messages.push_back({rank, bytes}); }
    }
    for (const SetupMessage& message : comm.exchange(messages, comm.rank() == 0 ? std::vector<int>{} : std::vector<int>{0}))
    {
        ByteReader reader(message.bytes);
        if (!reader.get<bool>()) { continue; }
        answer.emplace();
        answer->energy = reader.get<double>(), answer->f = reader.get_all<Vec3<double>>();
        answer->virial = reader.get<Mat3<double>>();
    }
}

template <class N>
std::optional<ExternalForce::Answer> ask(Rank<N>& r, const PlacedForce& placed)
{
    const std::vector<Vec3<typename N::Fixed>> x = gather_positions(r, placed);
    std::optional<ExternalForce::Answer> answer;
    if (r.comm.rank() == 0)
    {
        const DeadlinePause pause(&r.comm);
        answer = placed.force->at(configuration_of(r, placed, x));
    }
    share(r.comm, answer);
    PARHELION_EXPECTS(!answer || answer->f.size() == placed.place.size());
    return answer;
}

template <class N>
void add_forces(const PlacedForce& placed, const std::vector<Vec3<double>>& forces, ParticleState<N>& state)
{
    using Sum = typename N::ForceSum;
    for (std::size_t i = 0; i < forces.size(); ++i)
    {
        const auto global = static_cast<std::size_t>(placed.needed[placed.place[i]]);
        const std::int32_t slot = state.slot_of_global[global];
        if (!state.is_home(slot)) { continue; }
        const Vec3<double>& f = forces[i];
        state.f.add(static_cast<std::size_t>(slot), {to_sum<Sum>(f.x), to_sum<Sum>(f.y), to_sum<Sum>(f.z)});
    }
}

} // namespace

template <class N>
bool add_external_forces(Rank<N>& r)
{
    ExternalForces& external = r.external;
    if (external.list.empty()) { return true; }
    const ScopedPhase span(r.queue.clock(), Phase::Bonded);
    external.energy = 0, external.virial = {}, external.has_failed = true;
    for (const PlacedForce& placed : external.list)
    {
        const std::optional<ExternalForce::Answer> answer = ask(r, placed);
        if (!answer) { return false; }
        add_forces(placed, answer->f, r.state);
        external.energy += answer->energy;
        external.virial = external.virial + answer->virial;
    }
    external.has_failed = false;
    return true;
}

#define PARHELION_INSTANTIATE(N) template bool add_external_forces<N>(Rank<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
