// SPDX-License-Identifier: Apache-2.0
// The watch over what pair lists were planned for, the same on CPUs and GPUs.
//
// The idea: a list's cutoff is settled at the start, since cells, halos and memory are laid out for it. Where atoms become faster
// or more crowded than it was planned for, it is built more often. That is decided when a list begins, from the state alone: from
// the kinetic energies of the step that has asked for them last, and, every crowding_interval steps, from where all atoms are.
// The conditions that lists are planned for are part of the state. So a run that goes on from a checkpoint has the lists it would
// have had. Cost: a comparison for each list; every crowding_interval steps what a frame costs, and some 40 ns an atom.
#pragma once

#include "base/box.hpp"
#include "dynamics/kinetic.hpp"
#include "model/saved_state.hpp"
#include "pairs/buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace parhelion {

// Steps from one look at where all atoms are to the next. A gas that condenses becomes denser by a small factor meanwhile.
inline constexpr std::int64_t crowding_interval = 10'000;

// The largest sure_temperature() of all groups added, and of all together.
class HottestGroup
{
public:
    // kJ/mol
    PARHELION_HD void add(double kinetic_energy, double degrees_of_freedom)
    {
        const double sure = sure_temperature(temperature(kinetic_energy, degrees_of_freedom), degrees_of_freedom);
        hottest_ = sure > hottest_ ? sure : hottest_;
        energy_ += kinetic_energy, degrees_of_freedom_ += degrees_of_freedom;
    }
    PARHELION_HD double sure() const
    {
        const double all = sure_temperature(temperature(energy_, degrees_of_freedom_), degrees_of_freedom_);
        return all > hottest_ ? all : hottest_;
    }

private:
    double hottest_ = 0, energy_ = 0, degrees_of_freedom_ = 0;
};

enum class ListsMiss : std::uint8_t
{
    WhatIsTolerated,
    Nothing
};

// How the lists of a run were planned at its start, and how to plan them for other conditions.
class ListWatch
{
public:
    // system and run must outlive this.
    ListWatch(const System& system, const RunParameters& run, ListConditions start, const ListPlan& plan, const ListCosts& costs,
              ListsMiss miss)
        : system_(system), run_(run), start_(std::move(start)), plan_(plan), costs_(costs), miss_(miss)
    {
    }

    ListPlan plan(const ListConditions& conditions) const;
    // Where a list begins after `steps` steps of the run, and the one before had this interval: is it time for conditions_anew()?
    static bool is_time_to_look(std::int64_t steps, int list_interval)
    {
        return steps >= crowding_interval && steps % crowding_interval < list_interval;
    }
    // Those in force, or what they have risen to. sure: HottestGroup::sure(), K.
    static ListConditions risen(const ListConditions& in_force, double sure)
    {
        return {risen_temperature(in_force.temperature, sure), in_force.crowding};
    }
    // Whatever was in force: those of the start, or what they have risen to. x: leading bits, input order.
    ListConditions conditions_anew(double sure, const Box<double>& box, std::span<const Vec3<std::uint32_t>> x) const;
    // Upper estimate of what a list of this plan adds to the energy, kJ/mol/ps per atom.
    double error(const ListConditions& conditions, const ListPlan& plan) const;

private:
    const System& system_;
    const RunParameters& run_;
    const ListConditions start_;
    const ListPlan plan_;
    const ListCosts costs_;
    const ListsMiss miss_;
};

// What to tell of lists that are built more often from `step` on.
std::string note_on_lists(std::int64_t step, const ListConditions& before, const ListConditions& now, const ListPlan& plan);

// As a part of a saved state. Reading raises the conditions of the start to those that were in force; a state that lacks them, or
// is of another run, leaves them as they are. Throws InputError if it is of another system.
void write_conditions(const ListConditions& conditions, SavedState& saved);
void read_conditions(const SavedState& saved, ListConditions& conditions);

} // namespace parhelion
