// SPDX-License-Identifier: Apache-2.0
#include "io/input/top_writer.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/input/mdp_value.hpp"
#include "io/input/top_sections.hpp"
#include "model/joint_distances.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

namespace parhelion {

namespace {

// Returns the text changed to a word that neither ends a line nor begins other syntax.
std::string as_name(std::string_view text)
{
    std::string name(text.substr(0, 40));
    std::ranges::replace_if(
        name,
        [](unsigned char c) {
            return std::isgraph(c) == 0 || std::string_view(";#\"[]\\").find(static_cast<char>(c)) != std::string_view::npos;
        },
        '_');
    return name.empty() ? "_" : name;
}

std::string unlike(const std::string& name, std::set<std::string>& taken)
{
    std::string unique = name;
    for (int number = 2; !taken.insert(unique).second; ++number) { unique = name + "_" + std::to_string(number); }
    return unique;
}

// An atom type of the file: Lennard-Jones parameters, whether it is a virtual site, and a
// correction map or -1. The map is looked up by its third of five atoms, which has this type.
using WrittenType = std::tuple<std::int32_t, bool, std::int32_t>;

class TopologyWriter
{
public:
    explicit TopologyWriter(const Topology& topology) : topology_(topology) { name_types(); }

    std::string text()
    {
        force_field();
        std::set<std::string> taken;
        std::vector<std::string> names;
        for (std::size_t i = 0; i < topology_.molecule_types.size(); ++i)
        {
            names.push_back(unlike(as_name(topology_.molecule_types[i].name), taken));
            molecule(i, names.back());
        }
        say("\n[ system ]\n{}\n\n[ molecules ]\n", topology_.name.empty() ? "system" : printable(topology_.name));
        for (const MoleculeBlock& block : topology_.blocks)
        {
            say("{} {}\n", names[static_cast<std::size_t>(block.type)], block.count);
        }
        return std::move(text_);
    }

private:
    template <class... Arguments>
    void say(fmt::format_string<Arguments...> format, Arguments&&... arguments)
    {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    }
    void section(Section section) { say("\n[ {} ]\n", section_name(section)); }
    static std::string printable(std::string line)
    {
        std::ranges::replace_if(
            line, [](unsigned char c) { return std::isprint(c) == 0 || c == ';' || c == '[' || c == '#' || c == '\\'; }, '_');
        return line;
    }
    static std::string joined_numbers(std::span<const double> numbers)
    {
        std::string text;
        for (const double number : numbers) { text += " " + number_text(number); }
        return text;
    }

    // --- types

    void name_types()
    {
        std::set<std::string> taken;
        for (const MoleculeType& molecule : topology_.molecule_types)
        {
            std::vector<std::int32_t> map_about(molecule.atoms.size(), -1);
            for (const Interaction& term : molecule.of(InteractionKind::Cmap))
            {
                map_about[static_cast<std::size_t>(term.atoms[centre_of_map])] = term.parameters;
            }
            std::vector<bool> is_site(molecule.atoms.size());
            for (const VirtualSite& site : molecule.sites) { is_site[static_cast<std::size_t>(site.atom)] = true; }
            std::vector<WrittenType>& of_atoms = types_of_.emplace_back();
            for (std::size_t a = 0; a < molecule.atoms.size(); ++a)
            {
                const std::int32_t lennard_jones = molecule.atoms[a].type;
                of_atoms.emplace_back(lennard_jones, is_site[a], map_about[a]);
                std::string& name = name_of_[of_atoms.back()];
                if (!name.empty()) { continue; }
                const std::string given = as_name(topology_.type_names[static_cast<std::size_t>(lennard_jones)]);
                name = unlike(std::isalpha(static_cast<unsigned char>(given[0])) != 0 ? given : "t" + given, taken);
                in_order_.push_back(of_atoms.back());
            }
        }
    }
    const std::string& type_name(std::size_t molecule, std::int32_t atom) const
    {
        return name_of_.at(types_of_[molecule][static_cast<std::size_t>(atom)]);
    }

    void force_field()
    {
        section(Section::Defaults);
        say("1 1 no 1 {}\n", number_text(topology_.fudge_qq));
        section(Section::AtomTypes);
        for (const WrittenType& type : in_order_)
        {
            const auto [c6, c12] = pair_of(type, type);
            say("{0} {0} 0 0 0 {1} {2} {3}\n", name_of_.at(type), std::get<1>(type) ? 'D' : 'A', number_text(std::max(c6, 0.0)),
                number_text(std::max(c12, 0.0)));
        }
        section(Section::NonbondParameters);
        for (std::size_t i = 0; i < in_order_.size(); ++i)
        {
            for (std::size_t j = i; j < in_order_.size(); ++j)
            {
                const auto [c6, c12] = pair_of(in_order_[i], in_order_[j]);
                if (i == j && c6 >= 0 && c12 >= 0) { continue; }
                say("{} {} 1 {} {}\n", name_of_.at(in_order_[i]), name_of_.at(in_order_[j]), number_text(c6), number_text(c12));
            }
        }
        map_types();
    }
    std::pair<double, double> pair_of(const WrittenType& a, const WrittenType& b) const
    {
        const auto at = static_cast<std::size_t>(std::get<0>(a)) * static_cast<std::size_t>(topology_.types()) +
                        static_cast<std::size_t>(std::get<0>(b));
        return {topology_.c6[at], topology_.c12[at]};
    }

    // Writes each combination of five types that has a map once.
    void map_types()
    {
        std::set<std::array<std::string, 5>> written;
        for (std::size_t m = 0; m < topology_.molecule_types.size(); ++m)
        {
            for (const Interaction& term : topology_.molecule_types[m].of(InteractionKind::Cmap))
            {
                std::array<std::string, 5> names;
                for (std::size_t i = 0; i < names.size(); ++i) { names[i] = type_name(m, term.atoms[i]); }
                if (!written.insert(names).second) { continue; }
                if (written.size() == 1) { section(Section::CmapTypes); }
                const InteractionParameters& map =
                    topology_.parameters_of(InteractionKind::Cmap)[static_cast<std::size_t>(term.parameters)];
                const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(map.size()))));
                say("{} 1 {} {}", fmt::join(names, " "), side, side);
                for (std::size_t i = 0; i < map.size(); ++i) { say("{}{}", i % side == 0 ? "\\\n" : " ", number_text(map[i])); }
                say("\n");
            }
        }
    }

    // --- molecules

    void molecule(std::size_t index, const std::string& name)
    {
        const MoleculeType& molecule = topology_.molecule_types[index];
        section(Section::MoleculeType);
        say("{} 0\n", name);
        atoms(index);
        for (const InteractionRow& row : interaction_table) { terms(molecule, row.kind); }
        distances(molecule);
        constraints(molecule);
        sites(molecule);
        exclusions(molecule);
    }

    // Writes atoms. If a residue has the same number and name as the residue before, a letter is added to tell them apart.
    void atoms(std::size_t index)
    {
        const MoleculeType& molecule = topology_.molecule_types[index];
        std::vector<std::string> letter(molecule.residues.size());
        for (std::size_t r = 1; r < molecule.residues.size(); ++r)
        {
            const Residue &before = molecule.residues[r - 1], &residue = molecule.residues[r];
            const bool is_same = before.number == residue.number && as_name(before.name) == as_name(residue.name);
            if (is_same && letter[r - 1].empty()) { letter[r] = "A"; }
        }
        section(Section::Atoms);
        for (std::size_t a = 0; a < molecule.atoms.size(); ++a)
        {
            const Atom& atom = molecule.atoms[a];
            const Residue& residue = molecule.residues[static_cast<std::size_t>(atom.residue)];
            say("{} {} {}{} {} {} {} {} {}\n", a + 1, type_name(index, static_cast<std::int32_t>(a)), residue.number,
                letter[static_cast<std::size_t>(atom.residue)], as_name(residue.name), as_name(atom.name), a + 1,
                number_text(atom.charge), number_text(atom.mass));
        }
    }

    void terms(const MoleculeType& molecule, InteractionKind kind)
    {
        if (molecule.of(kind).empty() || kind == InteractionKind::DistanceRestraint) { return; }
        const TermForm& form = *form_of(kind);
        section(form.section);
        for (const Interaction& term : molecule.of(kind))
        {
            const InteractionParameters& p = topology_.parameters_of(kind)[static_cast<std::size_t>(term.parameters)];
            for (int i = 0; i < arity(kind); ++i) { say("{} ", term.atoms[static_cast<std::size_t>(i)] + 1); }
            const bool is_pair14 = kind == InteractionKind::Pair14,
                       has_charges = (is_pair14 && p.size() == 3) || kind == InteractionKind::NonbondedPair; // their product
            if (has_charges) { say("{} {} 1", is_pair14 ? "2 1" : "1", number_text(p[2])); }
            else { say("{}", form.function); }
            if (kind != InteractionKind::Cmap) { text_ += joined_numbers(std::span(p).first(has_charges ? 2 : p.size())); }
            say("\n");
        }
    }

    // Writes distance restraints. Pairs of a restraint share an index, which the model stores only for more than one pair.
    void distances(const MoleculeType& molecule)
    {
        constexpr InteractionKind kind = InteractionKind::DistanceRestraint;
        const auto set_of = [&](const Interaction& pair) -> const InteractionParameters& {
            return topology_.parameters_of(kind)[static_cast<std::size_t>(pair.parameters)];
        };
        double next = 0;
        for (const Interaction& pair : molecule.of(kind))
        {
            if (is_joint(set_of(pair))) { next = std::max(next, set_of(pair)[parameters_of_one_pair] + 1); }
        }
        if (!molecule.of(kind).empty()) { section(Section::DistanceRestraints); }
        for (const Interaction& pair : molecule.of(kind))
        {
            const InteractionParameters& p = set_of(pair);
            const double index = is_joint(p) ? p[parameters_of_one_pair] : next++;
            say("{} {} 1 {} {}{}\n", pair.atoms[0] + 1, pair.atoms[1] + 1, number_text(index),
                is_joint(p) ? number_text(p[parameters_of_one_pair + 1]) : "1",
                joined_numbers(std::span(p).first(parameters_of_one_pair)));
        }
    }

    // Writes constraints. Settles in a file have three consecutive atoms; other rigid triangles become three constraints.
    void constraints(const MoleculeType& molecule)
    {
        const auto is_in_a_row = [](const Settle& s) { return s.hydrogen_a == s.oxygen + 1 && s.hydrogen_b == s.oxygen + 2; };
        std::vector<Constraint> all = molecule.constraints;
        for (const Settle& s : molecule.settles)
        {
            if (is_in_a_row(s)) { continue; }
            all.insert(all.end(),
                       {{s.oxygen, s.hydrogen_a, s.oh}, {s.oxygen, s.hydrogen_b, s.oh}, {s.hydrogen_a, s.hydrogen_b, s.hh}});
        }
        if (!all.empty()) { section(Section::Constraints); }
        for (const Constraint& c : all) { say("{} {} 1 {}\n", c.a + 1, c.b + 1, number_text(c.length)); }
        if (std::ranges::any_of(molecule.settles, is_in_a_row)) { section(Section::Settles); }
        for (const Settle& s : molecule.settles)
        {
            if (is_in_a_row(s)) { say("{} 1 {} {}\n", s.oxygen + 1, number_text(s.oh), number_text(s.hh)); }
        }
    }

    void sites(const MoleculeType& molecule)
    {
        for (const VirtualSite& site : molecule.sites)
        {
            if (site.kind == SiteKind::Mean)
            {
                section(Section::VirtualSitesN);
                say("{} 3 {} {}", site.atom + 1, site.from[0] + 1,
                    number_text(1 - std::accumulate(site.parameters.begin(), site.parameters.end(), 0.0)));
                for (std::size_t i = 1; i < site.from.size(); ++i)
                {
                    say(" {} {}", site.from[i] + 1, number_text(site.parameters[i - 1]));
                }
                say("\n");
                continue;
            }
            const SiteForm& form = *form_of(site);
            section(form.section);
            say("{}", site.atom + 1);
            for (const std::int32_t atom : site.from) { say(" {}", atom + 1); }
            std::vector<double> p = site.parameters;
            if (site.kind == SiteKind::FixedAngle3) { p = {std::atan2(p[1], p[0]) / units::degree, std::hypot(p[0], p[1])}; }
            say(" {}{}\n", form.function, joined_numbers(p));
        }
    }

    void exclusions(const MoleculeType& molecule)
    {
        if (molecule.excluded.empty()) { return; }
        section(Section::Exclusions);
        for (std::size_t a = 0; a < molecule.atoms.size(); ++a)
        {
            std::string others;
            for (std::int32_t i = molecule.exclusion_start[a]; i < molecule.exclusion_start[a + 1]; ++i)
            {
                const std::int32_t other = molecule.excluded[static_cast<std::size_t>(i)];
                if (other > static_cast<std::int32_t>(a)) { others += " " + std::to_string(other + 1); }
            }
            if (!others.empty()) { say("{}{}\n", a + 1, others); }
        }
    }

    static constexpr std::size_t centre_of_map = 2;

    const Topology& topology_;
    std::vector<std::vector<WrittenType>> types_of_; // written types of the atoms of each molecule type
    std::map<WrittenType, std::string> name_of_;
    std::vector<WrittenType> in_order_;
    std::string text_;
};

} // namespace

void write_topology(const std::filesystem::path& path, const Topology& topology)
{
    std::ofstream file(path, std::ios::binary);
    file << TopologyWriter(topology).text();
    if (!file.flush()) { throw SystemError("cannot write " + path.string()); }
}

} // namespace parhelion
