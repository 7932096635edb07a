// SPDX-License-Identifier: Apache-2.0
// Which program this is, for the log, the report and measurements.
#pragma once

#include <string>

namespace parhelion {

// "parhelion 0.1.0 (9d8bce7), g++ 12.2.0, host only": version, commit, compiler, and whether there is code for GPUs.
std::string version_text();

} // namespace parhelion
