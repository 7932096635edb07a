// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "io/text.hpp"
#include "io/warning_ids.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unistd.h>

namespace parhelion {

namespace {

// Why no names of files can begin so; empty: they can.
std::string why_no_prefix(const std::string& text)
{
    constexpr long longest_ending = 24; // of a backup: "#PREFIX.last-good.gro.9999#"
    const std::filesystem::path path(text);
    const std::string name = path.filename().string();
    if (name.empty() || name == "." || name == "..")
    {
        return fmt::format("'{}' names a folder: say what names of files begin with, too, as in '{}'", text,
                           (path / "md").string());
    }
    const std::string folder = path.parent_path().empty() ? "." : path.parent_path().string();
    const long limit = ::pathconf(folder.c_str(), _PC_NAME_MAX), most = (limit > 0 ? limit : NAME_MAX) - longest_ending;
    if (static_cast<long>(name.size()) <= most) { return ""; }
    return fmt::format("'{}...' is too long: it may have {} characters, not {}, as endings are added to it", name.substr(0, 20),
                       most, name.size());
}

const CLI::Validator file_prefix([](const std::string& text) { return why_no_prefix(text); }, "");

} // namespace

const CLI::Validator mesh_method_name(
    [](const std::string& text) -> std::string {
        if (parse_mesh_method(text)) { return ""; }
        return fmt::format("{} is no way to share the mesh of PME. Use {}, with a number of ranks as in dedicated:1.", text,
                           fmt::join(mesh_method_names, " or "));
    },
    "");

const CLI::Validator amount(
    [](const std::string& text) {
        const std::optional<double> value = to_real(text);
        return value && *value >= 0 && *value <= 1e15 ? "" : text + " is not a number from 0 to 1e15";
    },
    "");

const CLI::Validator whole_number(
    [](std::string& text) {
        const std::optional<double> value = to_real(text);
        if (to_integer(text) || !value) { return std::string(); }
        constexpr double largest = 0x1p53; // beyond, not all whole numbers are doubles
        if (*value != std::floor(*value) || std::abs(*value) > largest) { return text + " is not a whole number of steps"; }
        text = std::to_string(static_cast<std::int64_t>(*value));
        return std::string();
    },
    "");

const std::vector<std::string> halo_methods(halo_method_names.begin(), halo_method_names.end());

std::vector<std::string> halo_methods_of_cpus()
{
    std::vector<std::string> names;
    std::copy_if(halo_methods.begin(), halo_methods.end(), std::back_inserter(names),
                 [](const std::string& name) { return runs_on_cpus(halo_method(name)); });
    return names;
}

void add_input_options(CLI::App& command, InputOptions& input)
{
    command.add_option("-f", input.files.mdp, "run parameters (.mdp)")->default_val("md.mdp")->type_name("FILE");
    command.add_option("-c", input.files.structure, "start configuration (.gro)")->default_val("conf.gro")->type_name("FILE");
    command.add_option("-p", input.files.topology, "topology (.top)")->default_val("topol.top")->type_name("FILE");
    command.add_option("-r", input.files.restraint_reference, "reference of position restraints (.gro); default: the start")
        ->type_name("FILE");
    command
        .add_option("-t", input.files.hand_over,
                    "start with the positions, velocities and box of another run: its checkpoint (.cpt), or a .trr")
        ->type_name("FILE");
    command
        .add_option("--time", input.files.hand_over_at, "of -t, the first frame at or after this time in ps; default: the last")
        ->check(CLI::Number)
        ->needs("-t");
    command.add_option("-n", input.files.index, "index groups (.ndx)")->type_name("FILE");
    command.add_option("-I,--include", input.files.include_paths, "folder to search for #include files")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory);
    std::vector<std::string> ids;
    for (const WarningId& warning : warning_ids) { ids.emplace_back(warning.id); }
    command.add_option("--allow", input.allowed, "accept a warning by its id (repeatable)")
        ->type_name("ID")
        ->check(CLI::IsMember(ids));
}

void add_prefix_option(CLI::App& command, std::string& prefix)
{
    command.add_option("-o", prefix, "what the names of all output files begin with")
        ->default_val("md")
        ->type_name("PREFIX")
        ->check(file_prefix);
}

void add_electrostatics(CLI::App& command, SeriesElectrostatics& electrostatics)
{
    std::map<std::string, SeriesElectrostatics> values;
    for (const SeriesElectrostatics each : {SeriesElectrostatics::ReactionField, SeriesElectrostatics::Pme})
    {
        values[electrostatics_name(each)] = each;
    }
    command.add_option("--electrostatics", electrostatics, "of the md.mdp: reaction field (default) or PME")
        ->transform(CLI::CheckedTransformer(values))
        ->type_name("rf|pme");
}

void add_comm_timeout(CLI::App& command, double& seconds)
{
    command.add_option("--comm-timeout", seconds, "longest wait for another rank")
        ->default_str("60s")
        ->transform(
            CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}}, CLI::AsNumberWithUnit::UNIT_REQUIRED))
        ->check(CLI::Range(0.001, 1e6))
        ->type_name("60s|5min");
}

void add_engine_options(CLI::App& command, EngineOptions& engine)
{
    command.add_option("--device", engine.device, "auto, cpu or gpu")
        ->default_val("auto")
        ->check(CLI::IsMember({"auto", "cpu", "gpu"}));
    command.add_option("--gpus", engine.gpus, "GPUs of this host, at most; default: as many as make the run faster")
        ->check(CLI::Range(1, 64));
    command.add_option("--precision", engine.precision, "mixed or double")
        ->default_val("mixed")
        ->check(CLI::IsMember({"mixed", "double"}));
    command.add_flag("--reproducible", engine.reproducible,
                     "order-independent sums: the same bits for any number of threads and ranks");
    command
        .add_option(
            "--ranks", engine.ranks,
            "parts that the box is divided into, each with threads of its own, or with --gpus or --device gpu a GPU; more "
            "ranks than GPUs share them (default: one, or one for each GPU that is used)")
        ->check(CLI::Range(1, most_ranks));
    command.add_option("--threads", engine.threads, "threads of each rank; 0: the cores, shared out")
        ->default_val(0)
        ->check(CLI::Range(0, 1024));
    command.add_option("--grid", engine.grid, "how the box is divided; default: the grid whose halo costs least")
        ->type_name("2x2x1");
    command
        .add_option(
            "--halo", engine.halo,
            "how ranks exchange halos: staged-host, staged-dma (GPUs only), staged-fused or direct (default: direct; between "
            "virtual nodes of GPUs staged-fused)")
        ->check(CLI::IsMember(halo_methods));
    command
        .add_option("--pme", engine.pme,
                    "how ranks share the mesh of PME: shared (each a part, where its atoms are), bricks (each a part), gathered "
                    "(each all of it), dedicated:k (k of the ranks have no atoms and do all of it) or auto")
        ->default_val("auto")
        ->check(mesh_method_name);
    add_comm_timeout(command, engine.comm_timeout_s);
}

void add_nic_options(CLI::App& command, NicOptions& nic)
{
    command.add_option("--nic-latency", nic.latency_us, "of --nodes: least time of a message between nodes, us")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 1e6));
    command.add_option("--nic-bandwidth", nic.bandwidth, "of --nodes: what leaves a node at most, GB/s")
        ->capture_default_str()
        ->check(CLI::Range(1e-3, 1e4));
}

} // namespace parhelion
