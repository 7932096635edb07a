// SPDX-License-Identifier: Apache-2.0
#include "io/input/write_input.hpp"

#include "base/error.hpp"
#include "io/input/gro.hpp"
#include "io/input/mdp.hpp"
#include "io/input/top_writer.hpp"

#include <fstream>
#include <system_error>

namespace parhelion {

namespace {

constexpr int decimals_of_positions = 12;

void write_text(const std::filesystem::path& path, const std::string& text)
{
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) { throw SystemError("cannot write " + path.string()); }
}

// Returns the .mdp text without options that were applied to the topology when it was read.
std::string options_of(RunParameters parameters)
{
    parameters.constraints = ConstraintMode::None;
    parameters.mass_repartition_factor = 1;
    parameters.defines.clear();
    parameters.include_paths.clear();
    return mdp_text(parameters);
}

std::string index_of(const System& system)
{
    constexpr int in_a_line = 15;
    std::string text;
    for (const auto& [name, atoms] : system.groups)
    {
        text += "[ " + name + " ]\n";
        for (std::size_t i = 0; i < atoms.size(); ++i)
        {
            text += std::to_string(atoms[i] + 1) + (i % in_a_line + 1 == in_a_line || i + 1 == atoms.size() ? '\n' : ' ');
        }
    }
    return text;
}

} // namespace

std::vector<std::string> write_input(const std::filesystem::path& folder, const LoadedInput& input)
{
    PARHELION_EXPECTS(!input.hand_over);
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) { throw SystemError(folder.string() + ": " + failure.message()); }
    const System& system = input.system;
    write_text(folder / "md.mdp", options_of(input.parameters));
    write_topology(folder / "topol.top", system.topology);
    write_gro(folder / "conf.gro", system.topology, system.title, system.box, system.x, system.v, decimals_of_positions);
    std::vector<std::string> options = {"-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top"};
    if (!system.restraint_reference.empty())
    {
        write_gro(folder / "reference.gro", system.topology, system.title, system.restraint_reference_box,
                  system.restraint_reference, {}, decimals_of_positions);
        options.insert(options.end(), {"-r", "reference.gro"});
    }
    if (!system.groups.empty())
    {
        write_text(folder / "index.ndx", index_of(system));
        options.insert(options.end(), {"-n", "index.ndx"});
    }
    return options;
}

} // namespace parhelion
