// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

std::string version_text()
{
#if defined(__clang__)
    constexpr const char* compiler = "clang " __clang_version__;
#else
    constexpr const char* compiler = "g++ " __VERSION__;
#endif
    return fmt::format("parhelion {} ({}), {}, host only", PARHELION_VERSION, PARHELION_COMMIT, compiler);
}

LoadedInput load_checked(const InputOptions& options, Diagnostics& diagnostics)
{
    LoadedInput input = load_gromacs(options.files, diagnostics);
    std::string refused;
    for (const Warning& warning : diagnostics.warnings)
    {
        const bool allowed = std::find(options.allowed.begin(), options.allowed.end(), warning.id) != options.allowed.end();
        fmt::print(stderr, "warning: {}{}\n", warning.text(), allowed ? " (allowed)" : "");
        if (!allowed && refused.find(warning.id) == std::string::npos) { refused += " --allow " + warning.id; }
    }
    if (!refused.empty())
    {
        throw InputError("E001", {}, fmt::format("the warnings above stop the run. If each is what you want, add:{}", refused));
    }
    return input;
}

SimulationOptions simulation_options(const EngineOptions& options)
{
    if (options.device == "cuda")
    {
        throw InputError("E002", {},
                         "this program was built without CUDA. Use --device cpu (or auto), or build the preset that has it.");
    }
    SimulationOptions result;
    result.precision = options.precision == "double" ? Precision::Double : Precision::Mixed;
    result.summation = options.reproducible ? Summation::Reproducible : Summation::Fast;
    result.threads = options.threads;
    return result;
}

} // namespace parhelion
