// SPDX-License-Identifier: Apache-2.0
// `parhelion bench`: the whole step by phase on boxes of the ethanol-water series, per atom, as a table and JSON lines.
#include "commands.hpp"
#include "describe.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
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

void command_bench(const BenchOptions& options)
{
    const std::atomic<bool> never{false};
    for (const std::int64_t atoms : options.atoms)
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
        Simulation simulation(std::move(input.system), std::move(input.parameters), simulation_options(options.engine));
        Observer nobody;
        simulation.run(options.steps / 5, nobody, never); // warm-up
        const RunSummary summary = simulation.run(options.steps, nobody, never);
        const PlanSummary& plan = simulation.plan();

        const std::string where =
            plan.on_gpu ? plan.kernel : fmt::format("{} ranks of {} threads, {}", plan.ranks, plan.threads, plan.kernel);
        fmt::print("{} atoms, {}: {:.1f} us/step, {:.2f} ns/day; list {} steps, {:.3f} nm, {:.0f} tested "
                   "pairs/atom; host load {:.3f} cores\n",
                   atoms, where, summary.us_per_step, summary.ns_per_day, plan.list_interval, plan.list_cutoff,
                   summary.pairs_per_atom, summary.host_load);
        nlohmann::ordered_json line = {{"case", "rf"},
                                       {"atoms", atoms},
                                       {"gpus", plan.on_gpu ? 1 : 0},
                                       {"ranks", plan.ranks},
                                       {"threads", plan.threads},
                                       {"steps", options.steps},
                                       {"ns_per_day", summary.ns_per_day},
                                       {"us_per_step", summary.us_per_step},
                                       {"host_load", summary.host_load},
                                       {"kernel", plan.kernel},
                                       {"precision", options.engine.precision},
                                       {"list_interval", plan.list_interval},
                                       {"list_cutoff_nm", plan.list_cutoff},
                                       {"tested_pairs_per_atom", summary.pairs_per_atom},
                                       {"machine", describe_machine()},
                                       {"version", version_text()}};
        for (const auto& [phase, us] : summary.phases)
        {
            if (us <= 0) { continue; }
            fmt::print("  {:<16} {:10.1f} us/step {:8.3f} ns/atom\n", phase, us, us * 1000 / static_cast<double>(atoms));
            line["phases"][phase] = us;
        }
        append_line(options.json, line.dump());
    }
}

} // namespace parhelion
