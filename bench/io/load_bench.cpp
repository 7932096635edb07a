// SPDX-License-Identifier: Apache-2.0
// How long reading a system takes and how much memory it needs: one JSON line. Wall time of topology, coordinates and the
// comparison of their names; peak resident memory of the process as the kernel counts it.
//   load_bench -c conf.gro -p topol.top [-D NAME] [-I DIR]
#include "io/input/gro.hpp"
#include "io/input/top.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <sys/resource.h>

using namespace parhelion;

namespace {

template <class Work>
double seconds(const Work& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measure(const std::string& coordinates, const std::string& topology, const TopologyOptions& options)
{
    Diagnostics diagnostics;
    Topology molecules;
    GroFile structure;
    const double topology_s = seconds([&] { molecules = read_topology(topology, options, diagnostics); });
    const double coordinates_s = seconds([&] { structure = read_gro(coordinates); });
    const double comparison_s = seconds([&] { compare_names(structure, molecules, diagnostics); });
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print(
        R"({{"atoms": {}, "topology_s": {:.3f}, "coordinates_s": {:.3f}, "comparison_s": {:.3f}, "total_s": {:.3f}, "peak_rss_mb": {:.1f}}})"
        "\n",
        molecules.atom_count(), topology_s, coordinates_s, comparison_s, topology_s + coordinates_s + comparison_s,
        static_cast<double>(usage.ru_maxrss) * 1024e-6);
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Measures reading of a topology and coordinates");
    std::string coordinates, topology;
    TopologyOptions options;
    std::vector<std::string> folders;
    app.add_option("-c", coordinates, ".gro file")->required();
    app.add_option("-p", topology, ".top file")->required();
    app.add_option("-D", options.defines, "preprocessor definitions");
    app.add_option("-I", folders, "folders of included files");
    CLI11_PARSE(app, argc, argv);
    options.include_paths.assign(folders.begin(), folders.end());
    try
    {
        measure(coordinates, topology, options);
    }
    catch (const InputError& error)
    {
        fmt::print(stderr, "{}\n", error.what());
        return 4;
    }
}
