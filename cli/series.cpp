// SPDX-License-Identifier: Apache-2.0
#include "series.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <string>

namespace parhelion {

namespace {

// A new folder with an unpredictable name that only its owner can access. Its destructor removes it.
class TemporaryFolder
{
public:
    TemporaryFolder()
    {
        std::string name = std::filesystem::temp_directory_path() / "parhelion-bench-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr)
        {
            throw SystemError(fmt::format("{}  mkdtemp failed: {} (errno {})", name, std::strerror(errno), errno));
        }
        path_ = name;
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

LoadedInput series_input(std::int64_t atoms, SeriesElectrostatics electrostatics)
{
    const TemporaryFolder folder;
    EthanolWaterOptions series;
    series.atoms = atoms, series.electrostatics = electrostatics;
    generate_ethanol_water(series, folder.path());
    InputOptions files;
    files.files.mdp = folder.path() / "md.mdp";
    files.files.structure = folder.path() / "conf.gro";
    files.files.topology = folder.path() / "topol.top";
    Diagnostics diagnostics;
    return load_checked(files, Purpose::Run, diagnostics);
}

Simulation series_simulation(std::int64_t atoms, SeriesElectrostatics electrostatics, const EngineOptions& engine)
{
    LoadedInput input = series_input(atoms, electrostatics);
    return Simulation(std::move(input.system), std::move(input.parameters), simulation_options(engine));
}

} // namespace parhelion
