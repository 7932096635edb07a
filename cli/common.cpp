// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "io/text.hpp"
#include "say.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>

namespace parhelion {

std::array<int, 3> parse_grid(const std::string& text, int ranks, int mesh_ranks)
{
    std::array<int, 3> grid{};
    if (text.empty()) { return grid; }
    int end = 0;
    const int read = std::sscanf(text.c_str(), "%4dx%4dx%4d%n", &grid[0], &grid[1], &grid[2], &end);
    const bool is_one = read == 3 && end == static_cast<int>(text.size()) && *std::min_element(grid.begin(), grid.end()) >= 1;
    if (!is_one || std::int64_t{grid[0]} * grid[1] * grid[2] > most_ranks)
    {
        throw InputError(
            "E007", {},
            fmt::format("--grid {} is no grid. Give the cells in x, y and z, {} at most, as in 2x2x1.", text, most_ranks));
    }
    if (ranks > 0 && grid[0] * grid[1] * grid[2] + mesh_ranks != ranks)
    {
        throw InputError(
            "E008", {},
            fmt::format("--grid {} has {} cells but --ranks is {} (each rank has one cell{}). Leave one of them out.", text,
                        grid[0] * grid[1] * grid[2], ranks,
                        mesh_ranks > 0 ? fmt::format(", but the {} for the mesh", mesh_ranks) : ""));
    }
    return grid;
}

NicEmulation parse_nodes(const std::string& text, const NicOptions& options)
{
    NicEmulation nics;
    int end = 0;
    const int read = std::sscanf(text.c_str(), "%4dx%4d%n", &nics.nodes, &nics.ranks_per_node, &end);
    const bool is_one = read == 2 && end == static_cast<int>(text.size()) && std::min(nics.nodes, nics.ranks_per_node) >= 1;
    if (!is_one || std::int64_t{nics.nodes} * nics.ranks_per_node > most_ranks)
    {
        throw InputError(
            "E010", {},
            fmt::format("--nodes {} are none. Give nodes and the ranks of each, {} ranks at most, as in 2x4.", text, most_ranks));
    }
    nics.latency = std::chrono::nanoseconds(std::llround(options.latency_us * 1e3));
    nics.bandwidth = options.bandwidth;
    return nics;
}

HaloMethod halo_method(const std::string& name)
{
    return static_cast<HaloMethod>(std::find(halo_method_names.begin(), halo_method_names.end(), name) -
                                   halo_method_names.begin());
}

std::optional<MeshChoice> parse_mesh_method(const std::string& text)
{
    const std::size_t colon = text.find(':');
    const auto name = std::find(mesh_method_names.begin(), mesh_method_names.end(), text.substr(0, colon));
    if (name == mesh_method_names.end()) { return std::nullopt; }
    const auto method = static_cast<MeshMethod>(name - mesh_method_names.begin());
    const std::optional<std::int64_t> ranks = colon == std::string::npos ? 0 : to_integer(text.substr(colon + 1));
    const bool fits = method == MeshMethod::Dedicated ? ranks && *ranks >= 1 && *ranks < most_ranks : colon == std::string::npos;
    return fits ? std::optional(MeshChoice{method, static_cast<int>(*ranks)}) : std::nullopt;
}

LoadedInput load_checked(const InputOptions& options, Purpose purpose, Diagnostics& diagnostics)
{
    return read_input(options, purpose, diagnostics, [](const std::string& line) { say(stderr, "{}\n", line); });
}

RunNumerics numerics(const EngineOptions& options)
{
    return {options.precision == "double" ? Precision::Double : Precision::Mixed,
            options.reproducible ? Summation::Reproducible : Summation::Fast};
}

RunPlacement placement(const EngineOptions& options)
{
    RunPlacement result;
    result.device = options.device == "gpu" ? Device::Gpu : options.device == "cpu" ? Device::Cpu : Device::Auto;
    result.gpus = options.gpus;
    result.ranks = options.ranks;
    result.threads = options.threads;
    const MeshChoice mesh = *parse_mesh_method(options.pme); // checked on the command line
    result.pme = mesh.method;
    result.mesh_ranks = mesh.ranks;
    result.grid = parse_grid(options.grid, options.ranks, mesh.ranks);
    if (!options.halo.empty()) { result.halo = halo_method(options.halo); }
    result.comm_timeout =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.comm_timeout_s));
    return result;
}

SimulationOptions simulation_options(const EngineOptions& options)
{
    SimulationOptions result = simulation_options(numerics(options), placement(options));
    result.when_held = [](const std::string& sentence) { end_at_once_by(std::make_exception_ptr(SystemError(sentence))); };
    return result;
}

} // namespace parhelion
