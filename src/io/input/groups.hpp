// SPDX-License-Identifier: Apache-2.0
// Groups of atoms by name: those of the index file, or GROMACS' default groups, which are made from names of residues and atoms.
// Only groups that are asked for are built, because an index per atom of a large system takes as much memory as its positions.
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
    // `system` and `diagnostics` must outlive this object. A note reports if a residuetypes.dat of the user is used.
    Groups(System& system, Diagnostics& diagnostics) : system_(system), diagnostics_(diagnostics) {}

    // Ensures that `system.groups` has the group and returns its name as stored there, "System" for the whole system.
    // Without an index file the known names are GROMACS' default groups (Protein with its parts, Water and SOL, Ion, Other,
    // ..., the non- groups, Water_and_ions), residue names and names of molecule types. Case does not matter; the first
    // group that has atoms is taken. Throws InputError E150 at `where` if there is no such group, E151 if it is empty.
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
    std::vector<Rule> rules_; // made when first needed
};

} // namespace parhelion
