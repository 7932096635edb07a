// SPDX-License-Identifier: Apache-2.0
// Figures of benchmarks. bench/gpu/plot_scaling.py, which is embedded in the program, draws them in the python3 of the PATH.
#pragma once

#include <filesystem>
#include <string>

namespace parhelion {

// Checks that figures can be drawn, before a long measurement. Throws SystemError if python3 has no matplotlib.
void expect_plotting();
// Draws PREFIX-rate and PREFIX-work, .svg and .png, from a file of `bench scaling --json`. Throws SystemError.
void plot_scaling(const std::filesystem::path& lines, const std::string& prefix);

} // namespace parhelion
