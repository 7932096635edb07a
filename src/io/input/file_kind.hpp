// SPDX-License-Identifier: Apache-2.0
// Recognises a file by its first bytes, for an error message if an option got a file of the wrong kind.
#pragma once

#include "io/input/text.hpp"

#include <filesystem>
#include <string_view>

namespace parhelion {

struct FileKind
{
    std::string_view name;   // for example "a compressed file (gzip)"; empty: the kind is unknown
    std::string_view advice; // a sentence for the user; may be empty
};

// Names of kinds that some options accept: hand-over (io/input/hand_over.hpp), -s.
inline constexpr std::string_view kind_tpr = "a run input file of GROMACS (.tpr)";
inline constexpr std::string_view kind_trr = "a trajectory (.trr)", kind_cpt = "a checkpoint of this program (.cpt)";
inline constexpr std::string_view kind_hdf5 = "an HDF5 file";

FileKind kind_of_file(std::string_view bytes);

// Throws InputError E115 if the file has a known format that this option does not read
// (FileKind). `wanted` says which files the option takes, for example "-c takes a .gro".
void expect_own_format(const MappedFile& file, std::string_view wanted);
// Opens the file and checks it by expect_own_format(). Throws InputError E110 if the file cannot be read.
MappedFile open_own_format(const std::filesystem::path& path, std::string_view wanted);

} // namespace parhelion
