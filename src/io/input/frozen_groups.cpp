// SPDX-License-Identifier: Apache-2.0
#include "io/input/frozen_groups.hpp"

#include "model/frozen_atoms.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

std::vector<std::uint8_t> axes_of_atoms(const std::vector<FrozenGroup>& groups, const System& system)
{
    std::vector<std::uint8_t> axes(static_cast<std::size_t>(system.topology.atom_count()));
    for (const FrozenGroup& group : groups)
    {
        const auto named = system.groups.find(group.name);
        if (named == system.groups.end()) { std::ranges::fill(axes, group.axes); } // the group is System, which has all atoms
        else
        {
            for (const std::int64_t atom : named->second) { axes[static_cast<std::size_t>(atom)] = group.axes; }
        }
    }
    return axes;
}

std::string atom_name_of(const MoleculeType& type, std::int32_t atom)
{
    return fmt::format("atom {} ({}) of molecule type {}", atom + 1, type.atoms[static_cast<std::size_t>(atom)].name, type.name);
}

// Refuses constraints on atoms that are frozen along some axes: their forces act along bonds, hence on all axes or on none.
void check_frozen_constraints(const MdpInput& input, const MoleculeType& type)
{
    const auto axes = [&](std::int32_t atom) { return type.atoms[static_cast<std::size_t>(atom)].frozen; };
    const auto refuse_part = [&](std::int32_t atom) {
        if (axes(atom) == 0 || axes(atom) == every_axis) { return; }
        throw InputError("E583", input.where("freezedim"),
                         atom_name_of(type, atom) +
                             " is frozen along some axes and held by a constraint, which would move it along them or lose its "
                             "length. This is not supported (planned). Freeze it along all axes, or use constraints = none.");
    };
    for (const Constraint& c : type.constraints) { refuse_part(c.a), refuse_part(c.b); }
    for (const Settle& s : type.settles)
    {
        for (const std::int32_t atom : {s.oxygen, s.hydrogen_a, s.hydrogen_b}) { refuse_part(atom); }
        if (axes(s.oxygen) == axes(s.hydrogen_a) && axes(s.oxygen) == axes(s.hydrogen_b)) { continue; }
        throw InputError(
            "E584", input.where("freezegrps"),
            "a rigid water is frozen in part: " + atom_name_of(type, s.oxygen) +
                " and its hydrogens are not frozen alike, and SETTLE would move what is frozen. Freeze whole waters.");
    }
}

} // namespace

// As in GROMACS, a group may be named even if it is frozen along no axis.
void take_frozen_groups(MdpInput& input, Diagnostics& diagnostics)
{
    const std::vector<bool>& axes = input.frozen_axes;
    const bool freezes = std::ranges::find(axes, true) != axes.end();
    std::vector<FrozenGroup>& groups = input.parameters.frozen_groups;
    groups.clear();
    if (input.frozen_groups.empty() && !freezes) { return; }
    if (axes.size() != 3 * input.frozen_groups.size())
    {
        throw InputError(
            "E107", input.where(input.gives("freezedim") ? "freezedim" : "freezegrps"),
            fmt::format("freezegrps names {} groups, and freezedim has {} values. Give three of each group, for x, y "
                        "and z.",
                        input.frozen_groups.size(), axes.size()));
    }
    for (std::size_t i = 0; i < axes.size(); ++i)
    {
        if (i % 3 == 0) { groups.push_back({input.frozen_groups[i / 3], 0}); }
        if (axes[i]) { groups.back().axes |= static_cast<std::uint8_t>(1 << i % 3); }
    }
    if (std::erase_if(groups, [](const FrozenGroup& group) { return group.axes == 0; }) == 0) { return; }
    diagnostics.note("N195", input.where("freezedim"),
                     "groups of freezegrps that are frozen along no axis move like all others.");
}

void freeze_groups(const MdpInput& input, System& system, Diagnostics& diagnostics)
{
    if (input.parameters.frozen_groups.empty()) { return; }
    const std::vector<std::uint8_t> axes = axes_of_atoms(input.parameters.frozen_groups, system);
    freeze_atoms(system.topology, axes);
    for (const MoleculeType& type : system.topology.molecule_types) { check_frozen_constraints(input, type); }
    for (std::size_t i = 0; i < system.v.size(); ++i)
    {
        for (int d = 0; d < 3; ++d)
        {
            if ((axes[i] >> d & 1) != 0) { system.v[i][d] = 0; }
        }
    }
    const auto at_rest = std::ranges::count(axes, every_axis), moving = std::ranges::count(axes, 0);
    const auto along_some = static_cast<std::ptrdiff_t>(axes.size()) - at_rest - moving;
    if (at_rest == static_cast<std::ptrdiff_t>(axes.size()))
    {
        throw InputError("E156", input.where("freezegrps"),
                         "freezegrps freezes all atoms, so nothing would happen. Freeze fewer.");
    }
    diagnostics.note(
        "N196", input.where("freezegrps"),
        fmt::format("{} atoms are frozen along all axes, {} along some. They have no centre-of-mass motion along these, "
                    "and the box does not take them along.",
                    at_rest, along_some));
}

} // namespace parhelion
