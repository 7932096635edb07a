// SPDX-License-Identifier: Apache-2.0
// What a file is, by its first bytes: for the message to somebody who gave another file than the one that is wanted.
#pragma once

#include "io/text.hpp"

#include <filesystem>
#include <string_view>

namespace parhelion {

struct FileKind
{
    std::string_view name;   // "a compressed file (gzip)"; empty: no kind that is known here
    std::string_view advice; // a sentence; may be empty
};

// Two kinds that a hand-over can be from (io/hand_over.hpp).
inline constexpr std::string_view kind_trr = "a trajectory (.trr)", kind_cpt = "a checkpoint of this program (.cpt)";

FileKind kind_of_file(std::string_view bytes);

// Opens the file and throws InputError E115 if it is of a known kind: texts that our own readers understand are of none. `wanted`
// is what the option takes: "-c takes a .gro". E110 if it cannot be read.
MappedFile open_own_format(const std::filesystem::path& path, std::string_view wanted);

} // namespace parhelion
