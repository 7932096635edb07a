// SPDX-License-Identifier: Apache-2.0
#include "io/input/groups.hpp"

#include "io/input/residue_types.hpp"
#include "io/input/text.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <string_view>

namespace parhelion {

namespace {

std::string upper(std::string_view text)
{
    std::string s(text);
    for (char& c : s) { c = static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }
    return s;
}

bool one_of(const std::string& name, std::string_view list)
{
    std::vector<std::string_view> words;
    split_words(list, words);
    return std::find(words.begin(), words.end(), name) != words.end();
}

// Returns the atom's name without leading digits, which some files have: HB for 1HB.
std::string bare_name(const Atom& atom)
{
    return upper(std::string_view(atom.name).substr(std::min(atom.name.size(), atom.name.find_first_not_of("0123456789"))));
}

constexpr std::string_view backbone = "N CA C", main_chain = "N CA C O O1 O2 OC1 OC2 OT OXT", on_nitrogen = "H H1 H2 H3 HN";
// Names of the masses that virtual-site constructions add.
constexpr std::string_view mass_centres = "MN1 MN2 MCB1 MCB2 MCG1 MCG2 MCD1 MCD2 MCE1 MCE2 MNZ1 MNZ2";

bool is_hydrogen(const std::string& name) { return name.starts_with('H'); }
bool is_main_chain(const std::string& name) { return one_of(name, main_chain); }

// A part of a protein, given by the names of its atoms alone, without residues or types.
struct Part
{
    const char* name;
    bool (*has)(const std::string& atom);
};
constexpr Part parts_of_proteins[] = {
    {"Protein-H", [](const std::string& a) { return !is_hydrogen(a); }},
    {"C-alpha", [](const std::string& a) { return a == "CA"; }},
    {"Backbone", [](const std::string& a) { return one_of(a, backbone); }},
    {"MainChain", is_main_chain},
    {"MainChain+Cb", [](const std::string& a) { return is_main_chain(a) || a == "CB"; }},
    {"MainChain+H", [](const std::string& a) { return is_main_chain(a) || one_of(a, on_nitrogen); }},
    {"SideChain", [](const std::string& a) { return !is_main_chain(a) && !one_of(a, on_nitrogen); }},
    {"SideChain-H", [](const std::string& a) { return !is_main_chain(a) && !is_hydrogen(a); }},
    {"Prot-Masses", [](const std::string& a) { return !one_of(a, mass_centres); }},
};

} // namespace

// Makes the rules. They are in GROMACS' order where names can coincide: groups of residue
// types, then groups of residues. Groups of molecules, which GROMACS does not have, come last.
void Groups::make_rules()
{
    if (!rules_.empty()) { return; }
    const auto table = std::make_shared<const ResidueTypes>(find_residue_types(diagnostics_));
    const auto is = [&](const std::string& type) {
        return [table, type](const MoleculeType& m, const Atom& a) {
            return table->type_of(m.residues[static_cast<std::size_t>(a.residue)].name) == type;
        };
    };
    const auto is_not = [&](const std::string& type) {
        return [of_type = is(type)](const MoleculeType& m, const Atom& a) { return !of_type(m, a); };
    };
    for (const std::string& type : table->types())
    {
        rules_.push_back({type, is(type)});
        if (type == "Water") { rules_.insert(rules_.end(), {{"SOL", is(type)}, {"non-Water", is_not(type)}}); }
        if (type != "Protein") { continue; }
        for (const Part& part : parts_of_proteins)
        {
            rules_.push_back({part.name, [of_type = is(type), has = part.has](const MoleculeType& m, const Atom& a) {
                                  return of_type(m, a) && has(bare_name(a));
                              }});
        }
        rules_.push_back({"non-Protein", is_not(type)});
    }
    rules_.push_back({"Water_and_ions", [water = is("Water"), ion = is("Ion")](const MoleculeType& m, const Atom& a) {
                          return water(m, a) || ion(m, a);
                      }});
    std::set<std::string> residues, molecules;
    for (const MoleculeType& type : system_.topology.molecule_types)
    {
        molecules.insert(type.name);
        for (const Residue& residue : type.residues) { residues.insert(residue.name); }
    }
    for (const std::string& name : residues)
    {
        rules_.push_back({name, [name](const MoleculeType& m, const Atom& a) {
                              return m.residues[static_cast<std::size_t>(a.residue)].name == name;
                          }});
    }
    for (const std::string& name : molecules)
    {
        rules_.push_back({name, [name](const MoleculeType& m, const Atom&) { return m.name == name; }});
    }
}

std::vector<std::int64_t> Groups::atoms_of(const Rule& rule) const
{
    std::vector<std::int64_t> atoms;
    for (const MoleculeBlock& block : system_.topology.blocks)
    {
        const MoleculeType& type = system_.topology.molecule_types[static_cast<std::size_t>(block.type)];
        std::vector<std::int64_t> chosen;
        for (std::size_t a = 0; a < type.atoms.size(); ++a)
        {
            if (rule.chooses(type, type.atoms[a])) { chosen.push_back(static_cast<std::int64_t>(a)); }
        }
        if (chosen.empty()) { continue; }
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const std::int64_t first = block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size());
            for (const std::int64_t a : chosen) { atoms.push_back(first + a); }
        }
    }
    return atoms;
}

std::string Groups::require(const std::string& name, const SourceLocation& where)
{
    const std::string wanted = upper(name);
    const auto fail_empty = [&] {
        throw InputError("E151", where,
                         "group " + in_quotes(name) +
                             " has no atoms (the setting would do nothing). Remove it or correct the group.");
    };
    std::vector<std::string_view> known = {"System"};
    for (const auto& [stored, atoms] : system_.groups)
    {
        if (upper(stored) == wanted)
        {
            if (atoms.empty()) { fail_empty(); }
            return stored;
        }
        known.push_back(stored);
    }
    if (wanted == "SYSTEM") { return "System"; }
    make_rules();
    bool is_known = false;
    for (const Rule& rule : rules_)
    {
        known.push_back(rule.name);
        if (upper(rule.name) != wanted) { continue; }
        is_known = true;
        std::vector<std::int64_t> atoms = atoms_of(rule);
        if (atoms.empty()) { continue; }
        system_.groups.emplace(rule.name, std::move(atoms));
        return rule.name;
    }
    if (is_known) { fail_empty(); }
    const std::string nearest = nearest_word(name, known);
    throw InputError("E150", where,
                     "no group " + in_quotes(name) +
                         " in the index file, among the default groups or among the system's residues and molecules." +
                         (nearest.empty() ? " Give an index file (-n) that has it." : " Did you mean '" + nearest + "'?"));
}

} // namespace parhelion
