// SPDX-License-Identifier: Apache-2.0
// A subcommand as main() knows it, and how it ends.
#pragma once

#include "failure.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <utility>
#include <vector>

namespace parhelion {

// A subcommand, and the function that runs it and returns its exit code.
using Command = std::pair<CLI::App*, std::function<int()>>;

// Returns the exit code after all printed output was written. A run that leaves files and prints no report does not need this.
// Throws SystemError if the output cannot be written.
int after_output(int code);

// Adds `bench` and its subcommands. `bench` is the last, because its subcommands take precedence over it.
std::vector<Command> add_bench_commands(CLI::App& app);

} // namespace parhelion
