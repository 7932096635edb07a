// SPDX-License-Identifier: Apache-2.0
#include "engine/snapshot.hpp"

#include "engine/coupling_values.hpp"
#include "engine/list_watch.hpp"

#include <fmt/format.h>

namespace parhelion {

namespace {

// Writes saved values, in input order, into slots. Filler slots keep their values until the next reordering.
template <class T, class Alternatives>
void into_slots(CpuQueue& queue, const Alternatives& saved, const std::vector<std::int32_t>& slot_of_global,
                ClusterArray<T>& array)
{
    const auto* ordered = std::get_if<std::vector<Vec3<T>>>(&saved);
    if (ordered == nullptr) { state_does_not_fit("it was made in another precision"); }
    if (ordered->size() != slot_of_global.size())
    {
        state_does_not_fit(fmt::format("it has {} atoms, not {}", ordered->size(), slot_of_global.size()));
    }
    queue.for_range(ordered->size(), 1, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t g = begin; g < end; ++g) { array.set(static_cast<std::size_t>(slot_of_global[g]), (*ordered)[g]); }
    });
}

} // namespace

template <class N>
void take_snapshot(const Rank<N>& r, Snapshot<N>& snapshot)
{
    snapshot.step = r.step;
    snapshot.state = r.state;
    snapshot.coupling = r.coupling;
    snapshot.list_conditions = r.list_conditions;
}

template <class N>
void put_back(Snapshot<N>&& snapshot, Rank<N>& r)
{
    r.step = snapshot.step;
    r.state = std::move(snapshot.state);
    r.coupling = std::move(snapshot.coupling);
    r.list_conditions = std::move(snapshot.list_conditions);
}

template <class N>
SavedState to_saved_state(const Snapshot<N>& snapshot, const std::vector<AtomData<N>>& parts, std::int64_t seed)
{
    SavedState saved;
    saved.step = snapshot.step;
    saved.seed = seed;
    saved.box = snapshot.state.box.edges();
    saved.x = in_input_order(parts, &AtomData<N>::x);
    saved.v = in_input_order(parts, &AtomData<N>::v);
    write_coupling(snapshot.coupling, saved);
    write_conditions(snapshot.list_conditions, saved);
    return saved;
}

template <class N>
void put_back(const SavedState& saved, CpuQueue& queue, Snapshot<N>& snapshot)
{
    into_slots(queue, saved.x, snapshot.state.slot_of_global, snapshot.state.x);
    into_slots(queue, saved.v, snapshot.state.slot_of_global, snapshot.state.v);
    snapshot.state.box.set_edges(saved.box);
    snapshot.step = saved.step;
    read_coupling(saved, snapshot.coupling);
    read_conditions(saved, snapshot.list_conditions);
}

template <class N>
void start_from(const SavedState& saved, CpuQueue& queue, Snapshot<N>& snapshot)
{
    PARHELION_EXPECTS(saved.of_another_run);
    if (std::holds_alternative<std::vector<Vec3<typename N::Fixed>>>(saved.x))
    {
        into_slots(queue, saved.x, snapshot.state.slot_of_global, snapshot.state.x);
        into_slots(queue, saved.v, snapshot.state.slot_of_global, snapshot.state.v);
    }
    read_coupling(saved, snapshot.coupling);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void take_snapshot<N>(const Rank<N>&, Snapshot<N>&);                                                                \
    template void put_back<N>(Snapshot<N>&&, Rank<N>&);                                                                          \
    template SavedState to_saved_state<N>(const Snapshot<N>&, const std::vector<AtomData<N>>&, std::int64_t);                    \
    template void put_back<N>(const SavedState&, CpuQueue&, Snapshot<N>&);                                                       \
    template void start_from<N>(const SavedState&, CpuQueue&, Snapshot<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
