// SPDX-License-Identifier: Apache-2.0
#include "series.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace parhelion {

namespace {

// A folder that goes away with its scope.
class TemporaryFolder
{
public:
    TemporaryFolder() : path_(std::filesystem::temp_directory_path() / fmt::format("parhelion-bench-{}", ::getpid()))
    {
        std::filesystem::create_directories(path_);
    }
    ~TemporaryFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace

Simulation series_simulation(std::int64_t atoms, const EngineOptions& engine)
{
    const TemporaryFolder folder;
    EthanolWaterOptions series;
    series.atoms = atoms;
    generate_ethanol_water(series, folder.path());
    InputOptions files;
    files.files.mdp = folder.path() / "md.mdp";
    files.files.structure = folder.path() / "conf.gro";
    files.files.topology = folder.path() / "topol.top";
    Diagnostics diagnostics;
    LoadedInput input = load_checked(files, diagnostics);
    return Simulation(std::move(input.system), std::move(input.parameters), simulation_options(engine));
}

} // namespace parhelion
