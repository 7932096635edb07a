// SPDX-License-Identifier: Apache-2.0
// The one list of names for the values of a saved state that are not per atom. CPU and GPU write and read these values by it.
#pragma once

#include "base/error.hpp"
#include "base/vec3.hpp"
#include "engine/coupling.hpp"
#include "model/saved_state.hpp"

#include <fmt/format.h>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace parhelion {

[[noreturn]] inline void state_does_not_fit(const std::string& what)
{
    throw InputError("E190", {},
                     "the saved state does not fit this simulation: " + what +
                         ". Continue with the files and options it was made with.");
}

namespace coupling_values {

// Values along x, y and z. If all three are equal, as with isotropic coupling, a saved state has one number for them.
template <class Axes> // Vec3<double>, const or not
struct ByAxis
{
    Axes& axes;
};
template <class Axes>
ByAxis<Axes> by_axis(Axes& axes)
{
    return {axes};
}

// The values of a barostat that shears the box. A checkpoint omits them if all are 0.
template <class Axes>
struct OfShear
{
    Axes &tilt_velocity, &pressure, &pending;
};
template <class Axes>
OfShear<Axes> of_shear(Axes& tilt_velocity, Axes& pressure, Axes& pending)
{
    return {tilt_velocity, pressure, pending};
}

// One value of every temperature group's thermostat.
template <class Groups> // std::vector<ThermostatState>, const or not
struct OfGroups
{
    Groups& groups;
    double ThermostatState::*value;
};
template <class Groups>
OfGroups<Groups> of_groups(Groups& groups, double ThermostatState::*value)
{
    return {groups, value};
}

// The links of Nose-Hoover chains after the first, group by group. A checkpoint omits them if there are none.
template <class Groups> // std::vector<ThermostatState>, const or not
struct OfChains
{
    Groups& groups;
};
template <class Groups>
OfChains<Groups> of_chains(Groups& groups)
{
    return {groups};
}

// Whether a checkpoint may lack the value.
template <class T>
inline constexpr bool is_optional = false;
template <class Axes>
inline constexpr bool is_optional<OfShear<Axes>> = true;
template <class Groups>
inline constexpr bool is_optional<OfChains<Groups>> = true;
template <class T>
inline constexpr bool is_optional<T&> = is_optional<std::remove_cv_t<T>>;
template <class T>
inline constexpr bool is_optional<T&&> = is_optional<std::remove_cv_t<T>>;

} // namespace coupling_values

// Calls visit(name, value) for every value of the coupling state. Saving and restoring both use this function.
template <class State, class Visit> // State: Coupling, const or not
void for_each_coupling_value(State& s, Visit&& visit)
{
    visit("thermostat-xi", coupling_values::of_groups(s.thermostat, &ThermostatState::xi));
    visit("thermostat-xi-integral", coupling_values::of_groups(s.thermostat, &ThermostatState::xi_integral));
    visit("thermostat-heat", coupling_values::of_groups(s.thermostat, &ThermostatState::heat));
    visit("thermostat-chain", coupling_values::of_chains(s.thermostat));
    visit("box-velocity", s.barostat.box_velocity);
    visit("barostat-pressure", coupling_values::by_axis(s.barostat.pressure));
    visit("barostat-pressure-known", s.barostat.pressure_known);
    visit("barostat-work", s.barostat.work);
    visit("barostat-pending-work", s.barostat.pending_work);
    visit("barostat-pending-strain", coupling_values::by_axis(s.barostat.pending_strain));
    visit("barostat-shear",
          coupling_values::of_shear(s.barostat.tilt_velocity, s.barostat.shear_pressure, s.barostat.pending_shear));
    visit("bath-heat", s.bath_heat);
    visit("half-step-kinetic-energy", s.half_step.group);
}

namespace coupling_values {

struct ToList
{
    std::vector<double>& list;
    void operator()(double a) { list.push_back(a); }
    void operator()(bool a) { list.push_back(a ? 1 : 0); }
    void operator()(const Vec3<double>& a)
    {
        for (int d = 0; d < 3; ++d) { list.push_back(a[d]); }
    }
    template <class Axes>
    void operator()(const ByAxis<Axes>& a)
    {
        if (a.axes.x == a.axes.y && a.axes.y == a.axes.z) { return (*this)(a.axes.x); }
        (*this)(a.axes);
    }
    template <class Axes>
    void operator()(const OfShear<Axes>& a)
    {
        const Vec3<double> none;
        if (a.tilt_velocity == none && a.pressure == none && a.pending == none) { return; }
        (*this)(a.tilt_velocity), (*this)(a.pressure), (*this)(a.pending);
    }
    template <class Groups>
    void operator()(const OfGroups<Groups>& a)
    {
        for (const ThermostatState& group : a.groups) { (*this)(group.*a.value); }
    }
    template <class Groups>
    void operator()(const OfChains<Groups>& a)
    {
        for (const ThermostatState& group : a.groups)
        {
            for (int k = 0; k < group.links_after_first; ++k) { (*this)(group.chain[k]); }
        }
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
    void operator()(const ByAxis<Vec3<double>>& a)
    {
        if (list.size() != 1) { return (*this)(a.axes); }
        (*this)(a.axes.x);
        a.axes = {a.axes.x, a.axes.x, a.axes.x};
    }
    void operator()(const OfShear<Vec3<double>>& a)
    {
        if (list.empty()) { return; }
        (*this)(a.tilt_velocity), (*this)(a.pressure), (*this)(a.pending);
    }
    void operator()(const OfGroups<std::vector<ThermostatState>>& a)
    {
        for (ThermostatState& group : a.groups) { (*this)(group.*a.value); }
    }
    void operator()(const OfChains<std::vector<ThermostatState>>& a)
    {
        for (ThermostatState& group : a.groups)
        {
            for (int k = 0; k < group.links_after_first; ++k) { (*this)(group.chain[k]); }
        }
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

} // namespace coupling_values

inline void write_coupling(const Coupling& state, SavedState& saved)
{
    for_each_coupling_value(state, [&](const char* name, const auto& value) {
        std::vector<double> list;
        coupling_values::ToList{list}(value);
        if (!list.empty() || !coupling_values::is_optional<decltype(value)>) { saved.coupling[name] = std::move(list); }
    });
}

// Restores `state`, which initial_coupling() has made. A missing value keeps its initial value if it is
// optional or the saved state is of another run. Otherwise it throws InputError, as does any list of another length.
inline void read_coupling(const SavedState& saved, Coupling& state)
{
    for_each_coupling_value(state, [&](const char* name, auto&& value) {
        const auto found = saved.coupling.find(name);
        const bool may_lack = saved.of_another_run || coupling_values::is_optional<decltype(value)>;
        if (found == saved.coupling.end() && may_lack) { return; }
        if (found == saved.coupling.end()) { state_does_not_fit(fmt::format("it lacks '{}'", name)); }
        coupling_values::FromList read{found->second};
        read(value);
        if (read.next != found->second.size())
        {
            state_does_not_fit(fmt::format("'{}' has {} values, not {}", name, found->second.size(), read.next));
        }
    });
}

} // namespace parhelion
