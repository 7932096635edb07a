// SPDX-License-Identifier: Apache-2.0
// Identifies the program in the log, the report and measurements.
#pragma once

#include <string>

namespace parhelion {

// Returns version, commit, compiler and GPU support: "parhelion 0.1.0 (9d8bce7), g++ 12.2.0, host only".
std::string version_text();

} // namespace parhelion
