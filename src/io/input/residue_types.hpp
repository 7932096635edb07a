// SPDX-License-Identifier: Apache-2.0
// Classifies residues by name: Protein, DNA, RNA, Water, Ion, or a type of the user. The program has
// a built-in table of the names that GROMACS 2022 knows. As in GROMACS, a file residuetypes.dat of
// the user replaces it (docs/decisions/0022-default-groups.md). A look-up costs a hash of the name.
#pragma once

#include "base/error.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace parhelion {

class ResidueTypes
{
public:
    ResidueTypes();
    // Reads lines with a residue name and a type. `;` begins a comment. If a residue has two lines, the first
    // is used. Throws InputError E163 at a line with another number of words, E110 if the file cannot be read.
    explicit ResidueTypes(const std::filesystem::path& file);

    // Returns the type of a residue, or "Other" if it is not in the table. Names are case-sensitive.
    const std::string& type_of(const std::string& residue) const;
    // Returns the types in the order of the table, with "Other" last.
    const std::vector<std::string>& types() const { return types_; }

private:
    void add(std::string_view residue, std::string_view type);

    std::unordered_map<std::string, std::string> type_of_;
    std::vector<std::string> types_;
};

// Returns the table of a residuetypes.dat in the working folder or GMXLIB, with a note; if there is none, the built-in table.
ResidueTypes find_residue_types(Diagnostics& diagnostics);

} // namespace parhelion
