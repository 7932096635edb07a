// SPDX-License-Identifier: Apache-2.0
// What kind of residue a name stands for: Protein, DNA, RNA, Water, Ion, or a type of the user's own. The table is part of the
// program and holds the names that GROMACS 2022 knows; a file residuetypes.dat of the user takes its place, as it does in
// GROMACS (docs/decisions/0022-default-groups.md). A look-up costs a hash of the name.
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
    // Lines of a residue name and a type; `;` begins a comment, the first of two lines for a residue counts. Throws InputError
    // E163 at a line with another number of words, E110.
    explicit ResidueTypes(const std::filesystem::path& file);

    // "Other" for a residue that is not in the table. Upper and lower case are different names.
    const std::string& type_of(const std::string& residue) const;
    // In the order of the table, "Other" last.
    const std::vector<std::string>& types() const { return types_; }

private:
    void add(std::string_view residue, std::string_view type);

    std::unordered_map<std::string, std::string> type_of_;
    std::vector<std::string> types_;
};

// The user's table: residuetypes.dat of the working folder, else of a folder of GMXLIB, which a note tells; else the program's.
ResidueTypes find_residue_types(Diagnostics& diagnostics);

} // namespace parhelion
