// SPDX-License-Identifier: Apache-2.0
// Checks whether pair lists are still planned for the right conditions (temperature and crowding); the same on CPU and GPU.
//
// The idea: a list's cutoff is fixed at the start, since cells, halos and memory are planned for it. If atoms become
// faster or more crowded than planned, the list is built more often. This is decided when a list begins, from the state
// alone. The state is the latest kinetic energies and, every crowding_interval steps, the positions of all atoms. The
// conditions are part of a saved state, so a run that continues from a checkpoint uses the same lists as one without
// the interruption. Cost: a comparison for each list; every crowding_interval steps, a frame and about 40 ns an atom.
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

// Number of steps between two checks of the crowding. A gas that condenses becomes denser by only a small factor in this time.
inline constexpr std::int64_t crowding_interval = 10'000;

// Finds the largest sure_temperature() of the added groups and of all groups together.
class HottestGroup
{
public:
    // Adds a group; kinetic_energy in kJ/mol.
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

// Stores how the lists of a run were planned at its start, and plans lists for other conditions.
class ListWatch
{
public:
    // `system` and `run` must outlive this object.
    ListWatch(const System& system, const RunParameters& run, ListConditions start, const ListPlan& plan, const ListCosts& costs,
              ListsMiss miss)
        : system_(system), run_(run), start_(std::move(start)), plan_(plan), costs_(costs), miss_(miss)
    {
    }

    ListPlan plan(const ListConditions& conditions) const;
    // Returns true if conditions_anew() is due at a list's begin, `steps` steps into the run. list_interval: of the list before.
    static bool is_time_to_look(std::int64_t steps, int list_interval)
    {
        return steps >= crowding_interval && steps % crowding_interval < list_interval;
    }
    // Returns the conditions in_force, with their temperature raised to `sure` if it is lower. sure: HottestGroup::sure(), K.
    static ListConditions risen(const ListConditions& in_force, double sure)
    {
        return {risen_temperature(in_force.temperature, sure), in_force.crowding};
    }
    // Returns the start's conditions, raised to those of the state. sure: as in risen(). x: leading 32 bits, in input order.
    ListConditions conditions_anew(double sure, const Box<double>& box, std::span<const Vec3<std::uint32_t>> x) const;
    // Returns an upper estimate of the energy drift that lists of this plan cause, kJ/mol/ps per atom.
    double error(const ListConditions& conditions, const ListPlan& plan) const;

private:
    const System& system_;
    const RunParameters& run_;
    const ListConditions start_;
    const ListPlan plan_;
    const ListCosts costs_;
    const ListsMiss miss_;
};

// Returns a message for the user: lists are built more often from `step` on.
std::string note_on_lists(std::int64_t step, const ListConditions& before, const ListConditions& now, const ListPlan& plan);

// These functions write the conditions to a saved state and read them. Reading raises `conditions` to the saved ones. If
// the state lacks them or is of another run, it changes nothing. Throws InputError if the state is of another system.
void write_conditions(const ListConditions& conditions, SavedState& saved);
void read_conditions(const SavedState& saved, ListConditions& conditions);

} // namespace parhelion
