// SPDX-License-Identifier: Apache-2.0
// Groups of atoms by name: those of the index file, else GROMACS' default groups, made from the names of residues and atoms. Only
// groups that are asked for are built, because an index per atom of a large system costs as much as its positions.
#pragma once

#include "base/error.hpp"
#include "model/system.hpp"

#include <functional>
#include <string>
#include <vector>

namespace parhelion {

class Groups
{
public:
    // Both must outlive this. A residuetypes.dat of the user that is used is told in a note.
    Groups(System& system, Diagnostics& diagnostics) : system_(system), diagnostics_(diagnostics) {}

    // Makes sure that `system.groups` has the group and returns its name as stored there, "System" for the whole system. Known
    // without an index file: the default groups that `gmx make_ndx` has (Protein with its parts, Water and SOL, Ion, Other, ...,
    // the non- groups, Water_and_ions), every residue name and every molecule type's name; upper and lower case are the same, the
    // first that has atoms counts. Throws InputError E150 at `where` if there is no such group, E151 if it is empty.
    std::string require(const std::string& name, const SourceLocation& where);

private:
    struct Rule
    {
        std::string name;
        std::function<bool(const MoleculeType&, const Atom&)> chooses;
    };

    void make_rules();
    std::vector<std::int64_t> atoms_of(const Rule& rule) const;

    System& system_;
    Diagnostics& diagnostics_;
    std::vector<Rule> rules_; // empty until one is needed
};

} // namespace parhelion
