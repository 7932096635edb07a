// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "io/input/write_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace parhelion {

// Converts an input. Warnings about the course of a run do not prevent this.
void command_convert(const ConvertOptions& options)
{
    std::vector<std::filesystem::path> outputs;
    for (const char* const name : text_input_names) { outputs.push_back(options.folder / name); }
    protect_input(options.input.files, outputs);
    for (const std::filesystem::path& path : outputs)
    {
        if (options.force || !std::filesystem::exists(path)) { continue; }
        throw InputError("E302", {path.string(), 0},
                         "exists already (it would be written over). Name another folder with -d, or say --force.");
    }
    Diagnostics diagnostics;
    const LoadedInput input = load_checked(options.input, Purpose::SinglePoint, diagnostics);
    const std::vector<std::string> words = write_input(options.folder, input);
    fmt::print("written to {}: {}\n", options.folder.string(), fmt::join(words, " "));
}

} // namespace parhelion
