// SPDX-License-Identifier: Apache-2.0
#include "io/groups.hpp"

#include "io/text.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <vector>

namespace parhelion {

namespace {

std::string lower(std::string_view text)
{
    std::string s(text);
    for (char& c : s) { c = static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
    return s;
}

bool one_of(const std::string& name, std::string_view list)
{
    std::vector<std::string_view> words;
    split_words(list, words);
    return std::find(words.begin(), words.end(), name) != words.end();
}

// Residue names of the force fields in common use. A protein residue at a chain's end carries N or C before its name in AMBER's
// files.
bool is_protein(const std::string& residue)
{
    // Amino acids, with the names of their protonation states in the usual force fields; rare ones; caps.
    constexpr std::string_view acids =
        "ALA ARG ARGN ASN ASN1 ASP ASP1 ASPH ASPP ASH CYS CYS1 CYS2 CYSH CYN CYM CYX GLN GLU GLUH GLUP GLH GLY HIS HIS1 HISA "
        "HISB "
        "HISD HISE HISH HISP HID HIE HIP HSD HSE HSP ILE LEU LSN LYS LYSH LYSN LYN LYP MET MSE PHE PHEH PHEU PHL PRO HYP SER THR "
        "TRP TRPH TRPU TYR TYRH TYRU VAL DAB ORN";
    constexpr std::string_view others = "ABU AIB DALA MELEU MEVAL PGLU ACE CT3 FOR NAC NH2 NHE NMA NME";
    if (one_of(residue, acids) || one_of(residue, others)) { return true; }
    return residue.size() >= 4 && (residue[0] == 'N' || residue[0] == 'C') && one_of(residue.substr(1), acids); // at an end
}
bool is_water(const std::string& residue)
{
    return one_of(residue, "SOL WAT HOH OHH H2O TIP TIP3 TIP4 TIP5 TIP3P TIP4P T3H T3P T4P T5P SPC SPCE");
}
bool is_ion(const std::string& residue)
{
    return one_of(residue, "NA NA+ SOD K K+ POT CL CL- CLA LI LI+ LIT RB RB+ CS CS+ CES MG MG2+ CA CA2+ CAL ZN ZN2+ CU CU1 BR "
                           "BR- F F- I I- BA BA2+");
}

bool is_nucleotide(const std::string& residue, std::string_view ends, std::string_view bases)
{
    constexpr std::string_view places = "53N"; // at either end of a chain, or alone
    const std::size_t letters = residue.size() - (residue.size() == 3 && places.find(residue.back()) != places.npos ? 1 : 0);
    return letters == 2 && ends.find(residue[0]) != ends.npos && bases.find(residue[1]) != bases.npos;
}
bool is_dna(const std::string& residue) { return is_nucleotide(residue, "D", "AGCT"); }
bool is_rna(const std::string& residue) { return one_of(residue, "A U C G") || is_nucleotide(residue, "R", "AUCG"); }

using Chooses = std::function<bool(const MoleculeType&, const Residue&)>;

struct GroupRule
{
    std::string name;
    Chooses chooses;
};

std::vector<GroupRule> usual_groups(const Topology& topology)
{
    std::vector<GroupRule> rules = {
        {"Protein", [](const MoleculeType&, const Residue& r) { return is_protein(r.name); }},
        {"non-Protein", [](const MoleculeType&, const Residue& r) { return !is_protein(r.name); }},
        {"Water", [](const MoleculeType&, const Residue& r) { return is_water(r.name); }},
        {"non-Water", [](const MoleculeType&, const Residue& r) { return !is_water(r.name); }},
        {"Ion", [](const MoleculeType&, const Residue& r) { return is_ion(r.name); }},
        {"DNA", [](const MoleculeType&, const Residue& r) { return is_dna(r.name); }},
        {"RNA", [](const MoleculeType&, const Residue& r) { return is_rna(r.name); }},
        {"Other",
         [](const MoleculeType&, const Residue& r) {
             return !is_protein(r.name) && !is_water(r.name) && !is_ion(r.name) && !is_dna(r.name) && !is_rna(r.name);
         }},
        {"Water_and_ions", [](const MoleculeType&, const Residue& r) { return is_water(r.name) || is_ion(r.name); }},
    };
    std::set<std::string> residues, molecules;
    for (const MoleculeType& type : topology.molecule_types)
    {
        molecules.insert(type.name);
        for (const Residue& residue : type.residues) { residues.insert(residue.name); }
    }
    for (const std::string& name : residues)
    {
        rules.push_back({name, [name](const MoleculeType&, const Residue& r) { return r.name == name; }});
    }
    for (const std::string& name : molecules)
    {
        rules.push_back({name, [name](const MoleculeType& m, const Residue&) { return m.name == name; }});
    }
    return rules;
}

std::vector<std::int64_t> atoms_of(const Topology& topology, const Chooses& chooses)
{
    std::vector<std::int64_t> atoms;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        std::vector<std::int64_t> chosen;
        for (std::size_t a = 0; a < type.atoms.size(); ++a)
        {
            if (chooses(type, type.residues[static_cast<std::size_t>(type.atoms[a].residue)]))
            {
                chosen.push_back(static_cast<std::int64_t>(a));
            }
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

} // namespace

std::string require_group(System& system, const std::string& name, const SourceLocation& where)
{
    const auto check_filled = [&](const std::vector<std::int64_t>& atoms) {
        if (!atoms.empty()) { return; }
        throw InputError("E151", where,
                         "group " + in_quotes(name) +
                             " has no atoms (the setting would do nothing). Remove it or correct the group.");
    };
    std::vector<std::string_view> known = {"System"};
    for (const auto& [stored, atoms] : system.groups)
    {
        if (lower(stored) == lower(name))
        {
            check_filled(atoms);
            return stored;
        }
        known.push_back(stored);
    }
    if (lower(name) == "system") { return "System"; }
    const std::vector<GroupRule> rules = usual_groups(system.topology);
    for (const GroupRule& rule : rules)
    {
        if (lower(rule.name) == lower(name))
        {
            std::vector<std::int64_t> atoms = atoms_of(system.topology, rule.chooses);
            check_filled(atoms);
            system.groups.emplace(rule.name, std::move(atoms));
            return rule.name;
        }
        known.push_back(rule.name);
    }
    const std::string nearest = nearest_word(name, known);
    throw InputError("E150", where,
                     "no group " + in_quotes(name) + " in the index file or among the system's residues and molecules." +
                         (nearest.empty() ? " Give an index file (-n) that has it." : " Did you mean '" + nearest + "'?"));
}

} // namespace parhelion
