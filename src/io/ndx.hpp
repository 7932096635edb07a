// SPDX-License-Identifier: Apache-2.0
// Reads index files (.ndx): headings in brackets, each followed by atom numbers.
#pragma once

#include "io/text.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace parhelion {

// Group name -> its atoms, numbered from 0, sorted, each once. `atom_count`: atoms of the system. Throws InputError: not
// readable, numbers before the first heading, not a number or out of range, two groups of one name with different atoms
// (E160-E162).
std::map<std::string, std::vector<std::int64_t>> read_ndx(const MappedFile& file, std::int64_t atom_count);
inline std::map<std::string, std::vector<std::int64_t>> read_ndx(const std::filesystem::path& path, std::int64_t atom_count)
{
    return read_ndx(MappedFile(path), atom_count);
}

} // namespace parhelion
