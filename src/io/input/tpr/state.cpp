// SPDX-License-Identifier: Apache-2.0
// tpr_options() and take_tpr_state(): options of groups, and the configuration.
#include "io/input/tpr/tpr.hpp"

#include "io/input/mdp_value.hpp"
#include "io/output/box_edges.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace parhelion {

namespace {

bool has_same_letters(std::string_view a, std::string_view b)
{
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    return std::ranges::equal(a, b, {}, lower, lower);
}

// Returns the name changed so that it can be looked up: names are compared ignoring case, and blanks separate them in lists.
std::string as_word(std::string name)
{
    std::ranges::replace_if(
        name, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }, '_');
    return name.empty() ? "group" : name;
}

// Stores a group and returns its name, which gets longer if groups of two kinds have this name but different atoms.
std::string keep_group(TprNamedGroups& groups, const std::string& name, std::vector<std::int64_t>&& atoms, std::size_t all)
{
    for (std::string unique = as_word(name);; unique += '_')
    {
        const bool is_all = atoms.size() == all;
        if (is_all && (has_same_letters(unique, "rest") || has_same_letters(unique, "System"))) { return "System"; }
        const auto known =
            std::ranges::find_if(groups.atoms, [&](const auto& group) { return has_same_letters(group.first, unique); });
        if (known == groups.atoms.end())
        {
            if (has_same_letters(unique, "System")) { continue; }
            groups.atoms.emplace(unique, std::move(atoms));
            return unique;
        }
        if (known->second == atoms) { return known->first; }
    }
}

// Returns whether a group has no effect: the rest of a kind without settings, or a group that is not written to files.
bool is_unused(const TprGroups& groups, TprGroupKind kind, std::size_t i)
{
    if (kind == TprGroupKind::Compressed) { return i > 0; }
    const bool has_no_settings = kind == TprGroupKind::Energy || kind == TprGroupKind::CentreOfMass;
    return has_no_settings && i + 1 == groups.names.size() && groups.names[i] == "rest";
}

// Names the groups of a kind. A group that is unused or has no atoms gets an empty name.
void name_groups(TprNamedGroups& groups, const TprTopology& topology, TprGroupKind kind, std::size_t all)
{
    const TprGroups& from = topology.of(kind);
    std::vector<std::vector<std::int64_t>> atoms(from.names.size() + 1);
    for (std::size_t i = 0; i < all; ++i)
    {
        atoms[from.of_atom.empty() ? 0 : from.of_atom[i]].push_back(static_cast<std::int64_t>(i));
    }
    std::vector<std::string>& names = groups.names[static_cast<std::size_t>(kind)];
    for (std::size_t i = 0; i < from.names.size(); ++i)
    {
        const bool is_left_out = atoms[i].empty() || is_unused(from, kind, i);
        names.push_back(is_left_out ? "" : keep_group(groups, from.names[i], std::move(atoms[i]), all));
    }
}

class OptionsOfGroups
{
public:
    OptionsOfGroups(const TprFile& file, const TprNamedGroups& groups) : file_(file), groups_(groups), from_(file.parameters)
    {
        temperature();
        freezing();
        acceleration();
        names();
    }
    NamedList<std::string> options;

private:
    void say(const char* name, const std::vector<std::string>& values)
    {
        if (!values.empty()) { options.emplace_back(name, joined(values, " ")); }
    }
    const std::vector<std::string>& names_of(TprGroupKind kind) const { return groups_.names[static_cast<std::size_t>(kind)]; }
    void expect(std::size_t groups, TprGroupKind kind) const
    {
        if (groups <= names_of(kind).size()) { return; }
        throw InputError("E118", {file_.path, 0}, "there are more settings of groups than groups. Make the file anew.");
    }

    void temperature()
    {
        expect(from_.coupling.size(), TprGroupKind::Temperature);
        if (!from_.has_thermostat && from_.coupling.size() < 2) { return; }
        std::vector<std::string> groups, tau, reference, annealing, points, times, temperatures;
        const auto is_annealed = [](const TprCoupling& group) { return group.annealing != "no"; };
        const bool anneals = std::ranges::any_of(from_.coupling, is_annealed);
        for (std::size_t i = 0; i < from_.coupling.size(); ++i)
        {
            const TprCoupling& group = from_.coupling[i];
            if (names_of(TprGroupKind::Temperature)[i].empty()) { continue; }
            groups.push_back(names_of(TprGroupKind::Temperature)[i]);
            tau.push_back(number_text(group.tau));
            reference.push_back(number_text(group.reference));
            if (!anneals) { continue; }
            annealing.push_back(group.annealing);
            points.push_back(std::to_string(is_annealed(group) ? group.times.size() : 0));
            for (std::size_t k = 0; k < group.times.size() && is_annealed(group); ++k)
            {
                times.push_back(number_text(group.times[k])), temperatures.push_back(number_text(group.temperatures[k]));
            }
        }
        say("tc-grps", groups), say("tau-t", tau), say("ref-t", reference);
        say("annealing", annealing), say("annealing-npoints", points);
        say("annealing-time", times), say("annealing-temp", temperatures);
    }

    void freezing()
    {
        expect(from_.frozen_axes.size(), TprGroupKind::Freeze);
        std::vector<std::string> groups, axes;
        for (std::size_t i = 0; i < from_.frozen_axes.size(); ++i)
        {
            const std::array<bool, 3>& frozen = from_.frozen_axes[i];
            if (std::ranges::find(frozen, true) == frozen.end() || names_of(TprGroupKind::Freeze)[i].empty()) { continue; }
            groups.push_back(names_of(TprGroupKind::Freeze)[i]);
            for (const bool axis : frozen) { axes.emplace_back(axis ? "Y" : "N"); }
        }
        say("freezegrps", groups), say("freezedim", axes);
    }

    void acceleration()
    {
        expect(from_.accelerations.size(), TprGroupKind::Acceleration);
        std::vector<std::string> groups, numbers;
        for (std::size_t i = 0; i < from_.accelerations.size(); ++i)
        {
            if (from_.accelerations[i] == Vec3<double>{} || names_of(TprGroupKind::Acceleration)[i].empty()) { continue; }
            groups.push_back(names_of(TprGroupKind::Acceleration)[i]);
            for (int d = 0; d < 3; ++d) { numbers.push_back(number_text(from_.accelerations[i][d])); }
        }
        say("acc-grps", groups), say("accelerate", numbers);
    }

    // Adds options for groups that have no settings. Of the groups for compressed output only the first one is written.
    void names()
    {
        std::vector<std::string> moved, written, energies;
        for (const std::string& name : names_of(TprGroupKind::CentreOfMass))
        {
            if (!name.empty() && name != "System") { moved.push_back(name); }
        }
        const std::vector<std::string>& compressed = names_of(TprGroupKind::Compressed);
        if (!compressed.empty() && !compressed[0].empty() && compressed[0] != "System") { written.push_back(compressed[0]); }
        for (const std::string& name : names_of(TprGroupKind::Energy))
        {
            if (!name.empty()) { energies.push_back(name); }
        }
        say("comm-grps", moved), say("compressed-x-grps", written);
        if (names_of(TprGroupKind::Energy).size() > 1) { say("energygrps", energies); }
        if (from_.excludes_groups) { say("energygrp-excl", {"yes"}); }
        if (from_.tables_of_groups) { say("energygrp-table", {"yes"}); }
    }

    const TprFile& file_;
    const TprNamedGroups& groups_;
    const TprParameters& from_;
};

// Returns reference positions, nm. In the file they depend on refcoord-scaling: absolute,
// fractions of the box, or relative to a centre, which is a fraction of the box.
std::vector<Vec3<double>> references(const TprFile& file, const System& system)
{
    const TprTopology& topology = file.topology;
    const bool has_any = std::ranges::any_of(topology.blocks, [](const TprBlock& block) { return !block.reference.empty(); });
    if (!has_any || system.topology.position_restraint_count() == 0) { return {}; }
    const std::vector<Vec3<double>>& centres = file.parameters.reference_centres;
    const std::string& scaling = file.parameters.refcoord_scaling;
    if (scaling == "COM" && centres.size() != 1)
    {
        throw InputError("E130", {file.path, 0},
                         fmt::format("reference positions about {} centres of mass are not supported (one is).", centres.size()));
    }
    std::vector<Vec3<double>> positions = system.x;
    auto position = positions.begin();
    for (const TprBlock& block : topology.blocks)
    {
        const auto size = static_cast<std::int64_t>(topology.molecules[static_cast<std::size_t>(block.type)].type.atoms.size());
        for (const Vec3<double>& reference : block.reference)
        {
            *position++ = scaling == "All"   ? system.box.to_nm(reference)
                          : scaling == "COM" ? reference + system.box.to_nm(centres[0])
                                             : reference;
        }
        if (block.reference.empty()) { position += block.count * size; }
    }
    return positions;
}

// Throws unless every restraint has a reference position.
void expect_references(const TprFile& file)
{
    for (const TprBlock& block : file.topology.blocks)
    {
        const TprMolecule& molecule = file.topology.molecules[static_cast<std::size_t>(block.type)];
        const bool is_held = std::ranges::any_of(molecule.lists, [](const TprList& list) {
            return list.function->use == TprUse::Interaction && (list.function->kind == InteractionKind::PositionRestraint ||
                                                                 list.function->kind == InteractionKind::FlatBottomRestraint);
        });
        if (!is_held || !block.reference.empty()) { continue; }
        throw InputError("E118", {file.path, 0},
                         "position restraints of molecule type " + molecule.type.name + " have no places. Make the file anew.");
    }
}

Box<double> start_box(const TprFile& file)
{
    BoxEdges edges{};
    for (std::size_t i = 0; i < edges.size(); ++i) { edges[i] = file.box[i / 3][static_cast<int>(i % 3)]; }
    constexpr double largest = 1e6; // nm
    for (const std::size_t diagonal : {0, 4, 8})
    {
        if (edges[diagonal] > 0 && edges[diagonal] < largest) { continue; }
        throw InputError("E118", {file.path, 0},
                         "has no box (a periodic box is needed). Set one, for example with gmx editconf -d.");
    }
    std::string problem;
    const Box<double> box = box_of(edges, problem);
    if (!problem.empty()) { throw InputError("E580", {file.path, 0}, problem); }
    return box;
}

} // namespace

TprNamedGroups name_tpr_groups(const TprFile& file)
{
    TprNamedGroups groups;
    for (const TprGroupKind kind : {TprGroupKind::Temperature, TprGroupKind::Energy, TprGroupKind::Acceleration,
                                    TprGroupKind::Freeze, TprGroupKind::CentreOfMass, TprGroupKind::Compressed})
    {
        name_groups(groups, file.topology, kind, file.x.size());
    }
    return groups;
}

MdpInput tpr_options(const TprFile& file, const TprNamedGroups& groups, Diagnostics& diagnostics, ErrorList& errors)
{
    NamedList<std::string> options = file.parameters.options;
    OptionsOfGroups of_groups(file, groups);
    options.insert(options.end(), of_groups.options.begin(), of_groups.options.end());
    return read_mdp_options(options, file.path, diagnostics, errors);
}

void take_tpr_state(TprFile&& file, TprNamedGroups&& groups, System& system)
{
    expect_references(file);
    system.title = file.topology.name;
    system.box = system.restraint_reference_box = start_box(file);
    system.x = std::move(file.x);
    system.v = std::move(file.v);
    system.restraint_reference = references(file, system);
    system.groups = std::move(groups.atoms);
}

} // namespace parhelion
