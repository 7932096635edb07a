// SPDX-License-Identifier: Apache-2.0
#include "engine/snapshot.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

namespace parhelion {

namespace {

[[noreturn]] void does_not_fit(const std::string& what)
{
    throw InputError("E190", {},
                     "the saved state does not fit this simulation: " + what +
                         ". Continue with the files and options it was made with.");
}

// Calls visit(name, value) for everything that is not per atom, both to save it and to put it back.
template <class State, class Visit>
void for_each_coupling_value(State& s, Visit&& visit)
{
    visit("thermostat-xi", s.thermostat.xi);
    visit("thermostat-xi-integral", s.thermostat.xi_integral);
    visit("thermostat-heat", s.thermostat.heat);
    visit("box-velocity", s.barostat.box_velocity);
    visit("barostat-pressure", s.barostat.pressure);
    visit("barostat-pressure-known", s.barostat.pressure_known);
    visit("barostat-work", s.barostat.work);
    visit("barostat-pending-work", s.barostat.pending_work);
    visit("barostat-pending-strain", s.barostat.pending_strain);
    visit("bath-heat", s.bath_heat);
    visit("half-step-kinetic-energy", s.half_step.group);
}

struct ToList
{
    std::vector<double>& list;
    void operator()(double a) { list.push_back(a); }
    void operator()(bool a) { list.push_back(a ? 1 : 0); }
    void operator()(const Vec3<double>& a)
    {
        for (int d = 0; d < 3; ++d) { list.push_back(a[d]); }
    }
    void operator()(const Mat3<double>& a)
    {
        for (int d = 0; d < 3; ++d) { (*this)(a[d]); }
    }
    template <class T>
    void operator()(const std::vector<T>& a)
    {
        for (const T& element : a) { (*this)(element); }
    }
};

struct FromList
{
    const std::vector<double>& list;
    std::size_t next = 0;
    void operator()(double& a) { a = next < list.size() ? list[next] : 0, ++next; }
    void operator()(bool& a)
    {
        double number = 0;
        (*this)(number);
        a = number != 0;
    }
    void operator()(Vec3<double>& a)
    {
        for (int d = 0; d < 3; ++d) { (*this)(a[d]); }
    }
    void operator()(Mat3<double>& a)
    {
        for (int d = 0; d < 3; ++d) { (*this)(a[d]); }
    }
    template <class T>
    void operator()(std::vector<T>& a)
    {
        for (T& element : a) { (*this)(element); }
    }
};

// Fillers keep what they have until the next reordering puts them where they belong.
template <class T, class Alternatives>
void into_slots(CpuQueue& queue, const Alternatives& saved, const std::vector<std::int32_t>& slot_of_global,
                ClusterArray<T>& array)
{
    const auto* ordered = std::get_if<std::vector<Vec3<T>>>(&saved);
    if (ordered == nullptr) { does_not_fit("it was made in another precision"); }
    if (ordered->size() != slot_of_global.size())
    {
        does_not_fit(fmt::format("it has {} atoms, not {}", ordered->size(), slot_of_global.size()));
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
    snapshot.thermostat = r.thermostat;
    snapshot.barostat = r.barostat;
    snapshot.bath_heat = r.bath_heat;
    snapshot.half_step = r.half_step;
}

template <class N>
void put_back(Snapshot<N>&& snapshot, Rank<N>& r)
{
    r.step = snapshot.step;
    r.state = std::move(snapshot.state);
    r.thermostat = std::move(snapshot.thermostat);
    r.barostat = snapshot.barostat;
    r.bath_heat = snapshot.bath_heat;
    r.half_step = std::move(snapshot.half_step);
}

template <class N>
SavedState to_saved_state(const Snapshot<N>& snapshot, const std::vector<AtomData<N>>& parts, std::int64_t seed)
{
    SavedState saved;
    saved.step = snapshot.step;
    saved.seed = seed;
    saved.box = snapshot.state.box.length();
    saved.x = in_input_order(parts, &AtomData<N>::x);
    saved.v = in_input_order(parts, &AtomData<N>::v);
    for_each_coupling_value(snapshot, [&](const char* name, const auto& value) { ToList{saved.coupling[name]}(value); });
    return saved;
}

template <class N>
void put_back(const SavedState& saved, Rank<N>& r)
{
    into_slots(r.queue, saved.x, r.state.slot_of_global, r.state.x);
    into_slots(r.queue, saved.v, r.state.slot_of_global, r.state.v);
    r.state.box.set_length(saved.box);
    r.step = saved.step;
    r.half_step.group.resize(static_cast<std::size_t>(r.temperature_groups()));
    for_each_coupling_value(r, [&](const char* name, auto& value) {
        const auto found = saved.coupling.find(name);
        if (found == saved.coupling.end()) { does_not_fit(fmt::format("it lacks '{}'", name)); }
        FromList read{found->second};
        read(value);
        if (read.next != found->second.size())
        {
            does_not_fit(fmt::format("'{}' has {} values, not {}", name, found->second.size(), read.next));
        }
    });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void take_snapshot<N>(const Rank<N>&, Snapshot<N>&);                                                                \
    template void put_back<N>(Snapshot<N>&&, Rank<N>&);                                                                          \
    template SavedState to_saved_state<N>(const Snapshot<N>&, const std::vector<AtomData<N>>&, std::int64_t);                    \
    template void put_back<N>(const SavedState&, Rank<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
