// SPDX-License-Identifier: Apache-2.0
// What a run that is over shows on standard output.
#pragma once

#include "run/observer.hpp"

#include <string>

namespace parhelion {

void print_summary(const RunResult& result, const std::string& prefix);

} // namespace parhelion
