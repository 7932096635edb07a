// SPDX-License-Identifier: Apache-2.0
// The commands and options, for shell completion and the man page.
// They are taken from CLI11's own tree, so they are always up to date.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {

enum class Takes : std::uint8_t
{
    Nothing,
    Text, // cannot be completed
    Word, // the value is one of `words`
    File,
    Folder
};

struct TreeOption
{
    std::vector<std::string> names; // names of the option, with dashes
    std::string about, value;       // description of the option; name of its value in --help
    Takes takes = Takes::Nothing;
    std::vector<std::string> words;
};

struct TreeCommand
{
    std::string path;                // words of the command, such as "bench halo"; empty: the program itself
    std::string about, footer;       // description of the command; text below its options
    std::vector<TreeOption> options; // options in the order of --help
    std::vector<std::pair<std::string, std::string>>
        inside; // its subcommands and the words from which its argument is chosen, each with a description
};

// Returns the program first, and each command before its subcommands.
std::vector<TreeCommand> command_tree(const CLI::App& program);

} // namespace parhelion
