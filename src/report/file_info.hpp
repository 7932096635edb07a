// SPDX-License-Identifier: Apache-2.0
// Describes the contents of a file, for every format that is read or written here, as a screen of text or
// JSON. Frames of trajectories are counted by their headers, so even a large file takes only a moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace parhelion {

enum class InfoStyle : std::uint8_t
{
    Text,
    Json
};

// Returns a description of a file. Its kind is recognised by its first bytes, or by the ending of its name if the
// format has no signature. If the end of the file is damaged, the part before it is described, with "damage".
// Throws InputError E110 if the file cannot be read, E188 if its kind is unknown, and the errors of its reader.
std::string file_info(const std::filesystem::path& path, InfoStyle style);

} // namespace parhelion
