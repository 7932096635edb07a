// SPDX-License-Identifier: Apache-2.0
// Exit codes, and how errors become text for people and an exit code.
#pragma once

#include <exception>
#include <string>

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

struct Failure
{
    std::string text;
    int code;
    bool ends_at_once = false; // true if blocked threads or GPUs may delay a regular end of the process
};
Failure failure_of(const std::exception_ptr& error);

} // namespace parhelion
