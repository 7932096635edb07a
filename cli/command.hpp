// SPDX-License-Identifier: Apache-2.0
// A subcommand as main() knows it, and how it ends.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <utility>
#include <vector>

namespace parhelion {

// Exit codes are a documented part of the command line.
enum ExitCode
{
    exit_done = 0,
    exit_internal = 1,
    exit_usage = 2,
    exit_stopped = 3,
    exit_input = 4,
    exit_physics = 5,
    exit_system = 6
};

// A subcommand, and the function that runs it and returns its exit code.
using Command = std::pair<CLI::App*, std::function<int()>>;

// Returns the exit code after all printed output was written. A run that leaves files and prints no report does not need this.
// Throws SystemError if the output cannot be written.
int after_output(int code);

// Adds `bench` and its subcommands. `bench` is the last, because its subcommands take precedence over it.
std::vector<Command> add_bench_commands(CLI::App& app);

} // namespace parhelion
