// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "say.hpp"

#include <cstdio>

namespace parhelion {

std::string mesh_choice_text(const MeshChoice& choice)
{
    const std::string name(mesh_method_names[static_cast<std::size_t>(choice.method)]);
    return choice.ranks > 0 ? name + ":" + std::to_string(choice.ranks) : name;
}
std::string halo_name(HaloMethod method) { return std::string(halo_method_names[static_cast<std::size_t>(method)]); }

LoadedInput load_checked(const InputOptions& options, Purpose purpose, Diagnostics& diagnostics)
{
    return read_input(options, purpose, diagnostics, [](const std::string& line) { say_fitted(stderr, line + "\n"); });
}

SimulationOptions simulation_options(const EngineOptions& options)
{
    expect_to_go_together({.placement = options.placement});
    SimulationOptions result(options.numerics, options.placement, {});
    result.when_held = [](const std::string& sentence) { end_at_once_by(std::make_exception_ptr(SystemError(sentence))); };
    return result;
}

} // namespace parhelion
