// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "io/input/text.hpp"
#include "io/input/warning_ids.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <unistd.h>

namespace parhelion {

namespace {

// Returns the reason why file names cannot begin with this text, or nothing if they can.
std::string why_no_prefix(const std::string& text)
{
    constexpr long longest_ending = 24; // the longest ending is that of a backup: "#PREFIX.last-good.gro.9999#"
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

// Parses, for example, "2x2x1": numbers of cells along x, y and z.
std::array<int, 3> parse_grid(const std::string& text)
{
    std::array<int, 3> grid{};
    int end = 0;
    const int read = std::sscanf(text.c_str(), "%4dx%4dx%4d%n", &grid[0], &grid[1], &grid[2], &end);
    const bool is_one = read == 3 && end == static_cast<int>(text.size()) && *std::min_element(grid.begin(), grid.end()) >= 1;
    if (is_one && std::int64_t{grid[0]} * grid[1] * grid[2] <= most_ranks) { return grid; }
    throw InputError(
        "E007", {},
        fmt::format("--grid {} is no grid. Give the cells in x, y and z, {} at most, as in 2x2x1.", text, most_ranks));
}

// Parses, for example, "2x4": two virtual nodes of four ranks.
NicEmulation parse_nodes(const std::string& text)
{
    NicEmulation nodes;
    int end = 0;
    const int read = std::sscanf(text.c_str(), "%4dx%4d%n", &nodes.nodes, &nodes.ranks_per_node, &end);
    const bool is_one = read == 2 && end == static_cast<int>(text.size()) && std::min(nodes.nodes, nodes.ranks_per_node) >= 1;
    if (is_one && std::int64_t{nodes.nodes} * nodes.ranks_per_node <= most_ranks) { return nodes; }
    throw InputError(
        "E010", {},
        fmt::format("--nodes {} are none. Give nodes and the ranks of each, {} ranks at most, as in 2x4.", text, most_ranks));
}

// Parses, for example, "dedicated:2". `shared:1` is refused; `dedicated` needs a number.
MeshChoice parse_mesh_choice(const std::string& text)
{
    const std::size_t colon = text.find(':');
    const auto name = std::find(mesh_method_names.begin(), mesh_method_names.end(), text.substr(0, colon));
    const auto method = static_cast<MeshMethod>(name - mesh_method_names.begin());
    const std::optional<std::int64_t> ranks = colon == std::string::npos ? 0 : to_integer(text.substr(colon + 1));
    const bool fits = method == MeshMethod::Dedicated ? ranks && *ranks >= 1 && *ranks < most_ranks : colon == std::string::npos;
    if (name != mesh_method_names.end() && fits) { return {method, static_cast<int>(*ranks)}; }
    throw CLI::ValidationError(
        "--pme", fmt::format("{} is no way to share the mesh of PME. Use {}, with a number of ranks as in dedicated:1.", text,
                             fmt::join(mesh_method_names, " or ")));
}

// Adds an option whose value is one of an enum's names. `names` has them in the order of the enum.
template <class Enum, class Target, class Names>
CLI::Option* add_choice(CLI::App& command, const std::string& option, Target& target, const Names& names,
                        const std::string& description)
{
    const auto store = [&target, &names](const std::string& text) {
        target = static_cast<Enum>(std::find(names.begin(), names.end(), text) - names.begin());
    };
    return command.add_option_function<std::string>(option, store, description)
        ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())));
}

// Adds an option that takes several values. `parse` checks each value and converts it.
template <class T, class Parse>
CLI::Option* add_each(CLI::App& command, const std::string& option, std::vector<T>& target, const Parse& parse,
                      const std::string& description)
{
    const auto store = [&target, parse](const std::vector<std::string>& texts) {
        target.clear();
        std::transform(texts.begin(), texts.end(), std::back_inserter(target), parse);
    };
    return command.add_option_function<std::vector<std::string>>(option, store, description);
}

} // namespace

const CLI::Validator amount(
    [](const std::string& text) {
        const std::optional<double> value = to_real(text);
        return value && *value >= 0 && *value <= 1e15 ? "" : text + " is not a number from 0 to 1e15";
    },
    "");

const CLI::Validator amount_or_no_end(
    [](const std::string& text) {
        return text == "-1" || amount(std::string(text)).empty() ? "" : text + " is not a number from 0 to 1e15, nor -1";
    },
    "");

const CLI::Validator whole_number(
    [](std::string& text) {
        const std::optional<double> value = to_real(text);
        if (to_integer(text) || !value) { return std::string(); }
        constexpr double largest = 0x1p53; // above this, a double cannot represent all integers
        if (*value != std::floor(*value) || std::abs(*value) > largest) { return text + " is not a whole number of steps"; }
        text = std::to_string(static_cast<std::int64_t>(*value));
        return std::string();
    },
    "");

void add_input_options(CLI::App& command, InputOptions& input)
{
    command.add_option("-f", input.files.mdp, "run parameters (.mdp)")->default_val("md.mdp")->type_name("FILE");
    command.add_option("-c", input.files.structure, "start configuration (.gro, or AMBER's inpcrd or rst7)")
        ->default_val("conf.gro")
        ->type_name("FILE");
    command.add_option("-p", input.files.topology, "topology (.top, or AMBER's prmtop)")
        ->default_val("topol.top")
        ->type_name("FILE");
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
    CLI::Option* const run_input =
        command.add_option("-s", input.files.run_input, "run input of gmx grompp (.tpr), in place of -f, -c, -p, -r and -n");
    run_input->type_name("FILE");
    for (const char* const other : {"-f", "-c", "-p", "-r", "-n", "-I"}) { run_input->excludes(other); }
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

void add_comm_timeout(CLI::App& command, std::chrono::nanoseconds& timeout)
{
    const auto store = [&timeout](double seconds) {
        timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
    };
    command.add_option_function<double>("--comm-timeout", store, "longest wait for another rank")
        ->default_str("60s")
        ->transform(
            CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}}, CLI::AsNumberWithUnit::UNIT_REQUIRED))
        ->check(CLI::Range(0.001, 1e6))
        ->type_name("60s|5min");
}

void add_device_option(CLI::App& command, Device& device)
{
    add_choice<Device>(command, "--device", device, device_names, "auto, cpu or gpu")->default_str("auto");
}

void add_precision_option(CLI::App& command, Precision& precision)
{
    add_choice<Precision>(command, "--precision", precision, precision_names, "mixed or double")->default_str("mixed");
}

void add_numerics_options(CLI::App& command, RunNumerics& numerics)
{
    add_precision_option(command, numerics.precision);
    command.add_flag_callback(
        "--reproducible", [&numerics] { numerics.summation = Summation::Reproducible; },
        "order-independent sums: the same bits for any number of threads and ranks");
}

namespace {

void add_placement_options(CLI::App& command, RunPlacement& placement)
{
    command
        .add_option(
            "--ranks", placement.ranks,
            "parts that the box is divided into, each with threads of its own, or with --gpus or --device gpu a GPU; more "
            "ranks than GPUs share them (default: one, or one for each GPU that is used)")
        ->check(CLI::Range(1, most_ranks));
    command.add_option("--threads", placement.threads, "threads of each rank; 0: the cores, shared out")
        ->default_val(0)
        ->check(CLI::Range(0, 1024));
    command
        .add_option_function<std::string>(
            "--grid", [&placement](const std::string& text) { placement.grid = parse_grid(text); },
            "how the box is divided; default: the grid whose halo costs least")
        ->type_name("2x2x1");
    add_choice<HaloMethod>(
        command, "--halo", placement.halo, halo_method_names,
        "how ranks exchange halos: staged-host, staged-dma (GPUs only), staged-fused or direct (default: direct; between "
        "virtual nodes of GPUs staged-fused)");
    const auto share_mesh = [&placement](const std::string& text) {
        const MeshChoice choice = parse_mesh_choice(text);
        placement.pme = choice.method, placement.mesh_ranks = choice.ranks;
    };
    command
        .add_option_function<std::string>(
            "--pme", share_mesh,
            "how ranks share the mesh of PME: shared (each a part, where its atoms are), bricks (each a part), gathered "
            "(each all of it), dedicated:k (k of the ranks have no atoms and do all of it) or auto")
        ->default_str("auto");
    add_choice<Balancing>(
        command, "--dlb", placement.balancing, balancing_names,
        "whether borders of cells move so that ranks work equally long: on (if the slowest works 5 % longer than the mean), auto "
        "(if 10 %) or off (equal cells)")
        ->default_str("off");
}

} // namespace

void add_engine_options(CLI::App& command, RunNumerics& numerics, RunPlacement& placement)
{
    add_device_option(command, placement.device);
    command.add_option("--gpus", placement.gpus, "GPUs of this host, at most; default: as many as make the run faster")
        ->check(CLI::Range(1, 64));
    add_numerics_options(command, numerics);
    add_placement_options(command, placement);
    add_comm_timeout(command, placement.comm_timeout);
}

std::array<CLI::Option*, 2> add_nic_options(CLI::App& command, NicEmulation& nic)
{
    const auto store = [&nic](double us) { nic.latency = std::chrono::nanoseconds(std::llround(us * 1e3)); };
    CLI::Option* const latency =
        command.add_option_function<double>("--nic-latency", store, "of --nodes: least time of a message between nodes, us")
            ->default_str("3")
            ->check(CLI::Range(0.0, 1e6));
    CLI::Option* const bandwidth =
        command.add_option("--nic-bandwidth", nic.bandwidth, "of --nodes: what leaves a node at most, GB/s")
            ->capture_default_str()
            ->check(CLI::Range(1e-3, 1e4));
    return {latency, bandwidth};
}

void add_connection_options(CLI::App& command, RunOptions& options)
{
    RunConnection& connection = options.request.connection;
    command
        .add_option("--processes", options.request.placement.processes,
                    "processes of this host that the ranks are spread over (default: one)")
        ->check(CLI::Range(1, most_ranks));
    add_choice<TransportKind>(
        command, "--transport", connection.transport, transport_names,
        "what carries messages between processes that a launcher has started: tcp; by the launcher's library mpi "
        "(messages), mpi-rma (shared windows on a host, MPI_Put between hosts), mpi-put (MPI_Put alone) or openshmem; "
        "between GPUs of --processes: peer (pages that processes pass to each other) or nvshmem (its heap, and its puts "
        "where NVLink ends), also between hosts; "
        "nic-emulation (an emulated network) between the virtual nodes of --nodes; auto: tcp or peer")
        ->default_str("auto");
    // These options come before --nodes, whose values are stored with theirs: CLI processes options in the order of definition.
    const std::array<CLI::Option*, 2> nic = add_nic_options(command, options.nic);
    const auto store_nodes = [&connection, &options](const std::string& text) {
        connection.nodes = parse_nodes(text);
        connection.nodes->latency = options.nic.latency, connection.nodes->bandwidth = options.nic.bandwidth;
    };
    CLI::Option* const nodes =
        command
            .add_option_function<std::string>(
                "--nodes", store_nodes,
                "with --transport nic-emulation: virtual nodes, and the ranks of each; with nvshmem: as if NVLink ended there")
            ->type_name("2x4");
    for (CLI::Option* option : nic) { option->needs(nodes); }
    command.add_flag("--trust-network", connection.trust_network,
                     "of processes that a launcher has started: do not seal what they send by TCP, as nobody else can write to "
                     "the wire");
}

// These options come before --imd, whose value is stored with theirs: CLI processes options in the order of definition.
void add_imd_options(CLI::App& command, RunOptions& options)
{
    const auto imd = std::make_shared<ImdOptions>();
    std::vector<CLI::Option*> of_imd = {
        command.add_option("--imd-every", options.request.output.stream_every, "of --imd: steps between frames")
            ->check(CLI::Range(1, 1000000000)),
        command.add_flag("--imd-wait", imd->waits, "of --imd: the run waits while nobody looks on, or has no room for a frame"),
        command.add_flag("--imd-kill", imd->may_end, "of --imd: who looks on may end the run"),
        command.add_option("--imd-address", imd->address.host, "of --imd: of this host, where others can reach it")
            ->default_str("127.0.0.1"),
        command.add_option("--imd-version", imd->version, "of --imd: of the protocol, 2 or 3")
            ->default_val(3)
            ->check(CLI::IsMember({2, 3}))};
    const auto store = [imd, &options](int port) {
        imd->address.port = port;
        options.imd = *imd;
        if (options.request.output.stream_every == 0) { options.request.output.stream_every = 100; }
    };
    CLI::Option* const port =
        command
            .add_option_function<int>("--imd", store,
                                      "let one look on by IMDv3, as MDAnalysis does, at this port; 0: one that is free")
            ->type_name("PORT")
            ->check(CLI::Range(0, 65535));
    for (CLI::Option* option : of_imd) { option->needs(port); }
}

void add_many_options(CLI::App& command, RunOptions& options)
{
    CLI::Option* const folders =
        command
            .add_option(
                "--multi", options.folders,
                "folders with a run each, in this process and several at a time; the files of other options are within each "
                "folder")
            ->type_name("DIR")
            ->excludes("--imd");
    command
        .add_option(
            "--multi-at-once", options.at_once,
            "of --multi: runs at a time, at most; others wait (default: on GPUs as many as fit into their memory, on CPUs "
            "as many as there are cores for)")
        ->check(CLI::Range(1, 1024))
        ->needs(folders);
}

void add_halo_methods(CLI::App& command, std::vector<HaloMethod>& methods, std::vector<HaloMethod> by_default,
                      bool (*is_one)(HaloMethod))
{
    std::vector<std::string> names, default_names;
    for (std::size_t i = 0; i < halo_method_names.size(); ++i)
    {
        if (is_one(static_cast<HaloMethod>(i))) { names.emplace_back(halo_method_names[i]); }
    }
    std::transform(by_default.begin(), by_default.end(), std::back_inserter(default_names), halo_name);
    methods = std::move(by_default);
    const auto parse = [](const std::string& text) {
        return static_cast<HaloMethod>(std::find(halo_method_names.begin(), halo_method_names.end(), text) -
                                       halo_method_names.begin());
    };
    add_each(command, "--halo", methods, parse, "methods")
        ->default_str(fmt::format("[{}]", fmt::join(default_names, ",")))
        ->check(CLI::IsMember(names));
}

void add_mesh_choices(CLI::App& command, std::vector<MeshChoice>& choices)
{
    choices = {MeshChoice{}};
    add_each(command, "--pme", choices, parse_mesh_choice, "with PME: how GPUs share its mesh, one after another")
        ->default_str("[auto]");
}

CLI::Option* add_grids(CLI::App& command, std::vector<std::array<int, 3>>& grids)
{
    return add_each(command, "--grid", grids, parse_grid,
                    "grids, with a GPU for each cell (default: those whose halos cost least)")
        ->type_name("2x2x1 ...");
}

CLI::Option* add_node_shapes(CLI::App& command, std::vector<NicEmulation>& nodes)
{
    return add_each(command, "--nodes", nodes, parse_nodes,
                    "virtual nodes and the ranks of each, with an emulated network between them")
        ->type_name("2x1 2x4 ...");
}

void tell_rules(CLI::App& command)
{
    command.footer(rules_in_words(
        [&command](std::string_view option) { return command.get_option_no_throw(std::string(option)) != nullptr; }));
}

} // namespace parhelion
