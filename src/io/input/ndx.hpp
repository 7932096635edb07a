// SPDX-License-Identifier: Apache-2.0
// Reads index files (.ndx): headings in brackets, each followed by atom numbers.
#pragma once

#include "io/input/text.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace parhelion {

// Returns the sorted atoms of each group, numbered from 0, without duplicates. `atom_count`: number of
// atoms of the system. Throws InputError if the file is unreadable, or (E160-E162) has numbers before the
// first heading, numbers that are wrong or out of range, or two groups of one name with different atoms.
std::map<std::string, std::vector<std::int64_t>> read_ndx(const MappedFile& file, std::int64_t atom_count);
inline std::map<std::string, std::vector<std::int64_t>> read_ndx(const std::filesystem::path& path, std::int64_t atom_count)
{
    return read_ndx(MappedFile(path), atom_count);
}

} // namespace parhelion
