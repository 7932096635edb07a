// SPDX-License-Identifier: Apache-2.0
// Figures of benchmarks, drawn by bench/gpu/plot_scaling.py, which is part of the program, in the python3 of the PATH.
#pragma once

#include <filesystem>
#include <string>

namespace parhelion {

// Throws SystemError if python3 has no matplotlib: to be called before what takes long.
void expect_plotting();
// PREFIX-rate and PREFIX-work, .svg and .png, of a file that `bench scaling --json` has written. Throws SystemError.
void plot_scaling(const std::filesystem::path& lines, const std::string& prefix);

} // namespace parhelion
