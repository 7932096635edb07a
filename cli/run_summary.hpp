// SPDX-License-Identifier: Apache-2.0
// Prints the summary of a finished run to standard output.
#pragma once

#include "run/observer.hpp"

#include <string>

namespace parhelion {

void print_summary(const RunResult& result, const std::string& prefix);

} // namespace parhelion
