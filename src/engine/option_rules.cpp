// SPDX-License-Identifier: Apache-2.0
#include "engine/option_rules.hpp"

#include "base/error.hpp"
#include "comm/launch/launch_processes.hpp"
#include "comm/transports/plugin_files.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

namespace {

bool is_launched(const OptionFacts& f) { return !f.launcher.empty(); }
bool has_several_processes(const OptionFacts& f) { return is_launched(f) || f.processes > 1; }
bool wants_gpus(const OptionFacts& f) { return f.placement.wants_gpus(); }
bool is_by(const OptionFacts& f, TransportKind transport) { return f.connection.transport == transport; }
bool is_between_gpus(const OptionFacts& f) { return is_by(f, TransportKind::Peer) || is_by(f, TransportKind::Nvshmem); }
bool is_by_plugin(const OptionFacts& f)
{
    return f.connection.transport >= TransportKind::Mpi && f.connection.transport <= TransportKind::OpenShmem;
}
bool leaves_node(const OptionFacts& f) { return f.leaves_node || (wants_gpus(f) && f.connection.emulated_nodes() != nullptr); }

bool have_whole_nodes(const OptionFacts& f)
{
    const NicEmulation* const nodes = f.connection.emulated_nodes();
    if (nodes == nullptr) { return true; }
    const ProcessOptions shares{.processes = f.processes, .ranks = ranks_of(f)};
    for (int process = 0; process < f.processes; ++process)
    {
        if (ranks_of_process(process, shares).first % nodes->ranks_per_node != 0) { return false; }
    }
    return true;
}

// An option or fact that a rule concerns. given() returns how the user gave it, or "" if it was not given.
struct Subject
{
    std::string_view name;
    std::string (*given)(const OptionFacts&);
};
std::string number(int value) { return value > 0 ? std::to_string(value) : ""; }
constexpr std::string_view launcher = "a launcher", input = "the input";
const std::array<Subject, 13> subjects = {{
    {"--device",
     [](const OptionFacts& f) {
         const Device device = f.placement.device;
         return device == Device::Auto ? "" : std::string(device_names[static_cast<std::size_t>(device)]);
     }},
    {"--gpus", [](const OptionFacts& f) { return number(f.placement.gpus); }},
    {"--ranks", [](const OptionFacts& f) { return number(f.placement.ranks); }},
    {"--grid",
     [](const OptionFacts& f) {
         const std::array<int, 3>& grid = f.placement.grid;
         return grid[0] == 0 ? "" : fmt::format("{}x{}x{}", grid[0], grid[1], grid[2]);
     }},
    {"--halo",
     [](const OptionFacts& f) {
         return f.placement.halo ? std::string(halo_method_names[static_cast<std::size_t>(*f.placement.halo)]) : "";
     }},
    {"--pme",
     [](const OptionFacts& f) {
         const MeshMethod method = f.placement.pme;
         if (method == MeshMethod::Auto) { return std::string(); }
         const std::string_view name = mesh_method_names[static_cast<std::size_t>(method)];
         return f.placement.mesh_ranks > 0 ? fmt::format("{}:{}", name, f.placement.mesh_ranks) : std::string(name);
     }},
    {"--processes", [](const OptionFacts& f) { return f.placement.processes > 1 ? number(f.placement.processes) : ""; }},
    {"--transport",
     [](const OptionFacts& f) {
         return std::string(is_by(f, TransportKind::Auto) ? "" : transport_name(f.connection.transport));
     }},
    {"--nodes",
     [](const OptionFacts& f) {
         const std::optional<NicEmulation>& nodes = f.connection.nodes;
         return nodes ? fmt::format("{}x{}", nodes->nodes, nodes->ranks_per_node) : "";
     }},
    {launcher,
     [](const OptionFacts& f) {
         return is_launched(f) ? fmt::format("{} process{} of {}", f.processes, f.processes == 1 ? "" : "es", f.launcher) : "";
     }},
    {input, [](const OptionFacts& f) { return f.is_one_ranks ? "a minimisation" : std::string(f.only_on_cpus); }},
    {"--trust-network", [](const OptionFacts&) { return std::string(); }},
    {"--multi", [](const OptionFacts& f) { return f.folders > 0 ? fmt::format("of {} folders", f.folders) : ""; }},
}};

struct Rule
{
    std::string_view id;
    std::vector<std::string_view> about;
    std::string_view rule, advice;
    bool (*is_broken)(const OptionFacts&);
};

// The rules in the order in which they are checked. A rule may rely on the rules before it.
const std::vector<Rule>& rules()
{
    static const std::vector<Rule> table = {
        {"E005",
         {"--gpus", "--device"},
         "a run on CPUs takes no GPUs",
         "Leave one of them out.",
         [](const OptionFacts& f) { return f.placement.device == Device::Cpu && f.placement.gpus > 0; }},
        {"E003",
         {"--gpus", "--device", input},
         "boxes that pressure shears and comm-mode = linear-acceleration-correction run on CPUs",
         "Use --device cpu (or auto) and leave --gpus out.",
         [](const OptionFacts& f) { return wants_gpus(f) && !f.only_on_cpus.empty(); }},
        {"E008",
         {"--grid", "--ranks", "--pme"},
         "each rank has one cell of the grid, but those that --pme dedicated:k takes",
         "Leave --grid or --ranks out.",
         [](const OptionFacts& f) {
             const RunPlacement& p = f.placement;
             return p.grid[0] != 0 && p.ranks > 0 && p.ranks != p.ranks_asked_for();
         }},
        {"E006",
         {"--halo", "--device", "--gpus"},
         "staged-dma uses the copy engines of GPUs, and is not for runs on CPUs",
         "Use staged-host, staged-fused or direct, or give --gpus.",
         [](const OptionFacts& f) { return f.is_on_cpus && !runs_on_cpus(f.placement.halo_method()); }},
        {"E010",
         {"--processes", launcher},
         "processes that a launcher has started start no others",
         "Leave --processes out.",
         [](const OptionFacts& f) { return is_launched(f) && f.placement.processes > 1; }},
        {"E010",
         {"--transport", "--processes", "--gpus", "--device", launcher},
         "peer and nvshmem are between GPUs of several processes",
         "Give --processes, if no launcher has started several, and --gpus or --device gpu; or leave --transport out.",
         [](const OptionFacts& f) { return is_between_gpus(f) && !(has_several_processes(f) && wants_gpus(f)); }},
        {"E010",
         {"--device", "--gpus", "--transport", launcher},
         "GPUs of processes that a launcher has started reach each other in NVSHMEM's memory, one for each process",
         "Give --device gpu --transport nvshmem, without --gpus; for GPUs of one host start one process; or use --device cpu.",
         [](const OptionFacts& f) {
             return is_launched(f) && wants_gpus(f) && (!is_by(f, TransportKind::Nvshmem) || f.placement.gpus > 0);
         }},
        {"E010",
         {"--transport", launcher},
         "nic-emulation is for one host, and not for processes that a launcher has started",
         "Start one process, with --processes if there are to be several.",
         [](const OptionFacts& f) { return is_launched(f) && is_by(f, TransportKind::NicEmulation); }},
        {"E010",
         {"--transport", "--nodes"},
         "nic-emulation joins the nodes of --nodes, and of other transports nvshmem alone has nodes",
         "Give both, as in --transport nic-emulation --nodes 2x4, or neither.",
         [](const OptionFacts& f) {
             return is_by(f, TransportKind::NicEmulation) ? !f.connection.nodes
                                                          : f.connection.nodes && !is_by(f, TransportKind::Nvshmem);
         }},
        {"E010",
         {"--trust-network", launcher},
         "only processes that a launcher has started have a network between them",
         "Leave --trust-network out.",
         [](const OptionFacts& f) { return f.connection.trust_network && !is_launched(f); }},
        {"E010",
         {"--transport", launcher},
         "mpi, mpi-rma, mpi-put and openshmem are for processes that a launcher of their library has started (mpirun, mpiexec, "
         "oshrun)",
         "Start this process so, or leave --transport out.",
         [](const OptionFacts& f) {
             return is_by_plugin(f) && !is_launched(f) && plugins_of_launcher(transport_name(f.connection.transport)).empty();
         }},
        {"E010",
         {"--transport", "--ranks", "--grid", launcher},
         "with mpi, mpi-rma, mpi-put and openshmem each process is one rank",
         "Leave --ranks and --grid out.",
         [](const OptionFacts& f) { return is_launched(f) && is_by_plugin(f) && ranks_of(f) != f.processes; }},
        {"E010",
         {"--nodes", "--ranks", "--grid", "--processes", launcher},
         "there are as many ranks as the nodes have",
         "Leave --ranks and --grid out, or give nodes of as many.",
         [](const OptionFacts& f) { return f.connection.nodes && ranks_of(f) != f.connection.nodes->ranks(); }},
        {"E010",
         {"--halo", "--nodes", "--transport"},
         "between nodes of GPUs halos are staged-fused",
         "Use --halo staged-fused.",
         [](const OptionFacts& f) {
             return leaves_node(f) && f.placement.halo.value_or(HaloMethod::StagedFused) != HaloMethod::StagedFused;
         }},
        {"E010",
         {"--pme", "--nodes", "--transport"},
         "between nodes of GPUs the mesh of PME is not dedicated",
         "Use another way, or auto.",
         [](const OptionFacts& f) { return leaves_node(f) && f.placement.pme == MeshMethod::Dedicated; }},
        {"E010",
         {"--halo", "--processes", "--gpus", "--device", launcher},
         "several processes with GPUs need a halo method that no host takes part in",
         "Use --halo direct or staged-fused.",
         [](const OptionFacts& f) {
             const HaloMethod halo = f.placement.halo_method();
             return has_several_processes(f) && wants_gpus(f) && halo != HaloMethod::Direct && halo != HaloMethod::StagedFused;
         }},
        {"E010",
         {"--transport", "--processes", "--gpus", "--ranks", "--grid", launcher},
         "with nvshmem each process has one rank and one GPU",
         "Give --processes alone, or --gpus the same number.",
         [](const OptionFacts& f) {
             const bool has_as_many_gpus = f.placement.gpus == 0 || f.placement.gpus == f.processes;
             return is_by(f, TransportKind::Nvshmem) && (ranks_of(f) != f.processes || !has_as_many_gpus);
         }},
        {"E010",
         {"--processes", "--ranks", "--grid", "--nodes", launcher},
         "each process has one rank at least",
         "Give more --ranks, or fewer processes.",
         [](const OptionFacts& f) { return ranks_of(f) < f.processes; }},
        {"E010",
         {"--nodes", "--processes"},
         "each process has whole nodes",
         "Give as many --processes as nodes, or fewer that divide them.",
         [](const OptionFacts& f) { return !have_whole_nodes(f); }},
        {"E010",
         {"--multi", "--processes", launcher},
         "the runs of --multi are all in one process",
         "Leave --processes out, or start the runs one by one.",
         [](const OptionFacts& f) { return f.folders > 0 && has_several_processes(f); }},
        {"E010",
         {"--multi", "--nodes"},
         "the runs of --multi have no virtual nodes",
         "Leave --nodes out.",
         [](const OptionFacts& f) { return f.folders > 0 && f.connection.nodes; }},
        {"E010",
         {"--multi", "--ranks", "--grid", "--gpus", "--device"},
         "on GPUs each run of --multi has one rank and one GPU",
         "Leave --ranks and --grid out; --gpus says among how many GPUs the runs are dealt.",
         [](const OptionFacts& f) { return f.folders > 0 && wants_gpus(f) && f.placement.ranks_asked_for() > 1; }},
        {"E010",
         {"--trace", "--processes", launcher},
         "--trace sees the ranks of one process alone",
         "Use one process, or leave --trace out.",
         [](const OptionFacts& f) { return f.has_trace && has_several_processes(f); }},
        {"E010",
         {"--processes", launcher, input},
         "a minimisation runs in one process",
         "Use one process.",
         [](const OptionFacts& f) { return f.is_one_ranks && has_several_processes(f); }},
    };
    return table;
}

template <class Words>
std::string joined(const Words& words)
{
    std::string line;
    for (const auto& word : words) { (line += line.empty() ? "" : ", ") += word; }
    return line;
}

// Returns the options that the rule concerns, as the user gave them: "--gpus 2, --device cpu".
std::string given(const Rule& rule, const OptionFacts& facts)
{
    std::vector<std::string> words;
    for (const std::string_view name : rule.about)
    {
        const auto* const subject =
            std::find_if(subjects.begin(), subjects.end(), [&](const Subject& s) { return s.name == name; });
        const std::string value = subject == subjects.end() ? "" : subject->given(facts);
        if (!value.empty()) { words.push_back(name.starts_with("--") ? fmt::format("{} {}", name, value) : value); }
    }
    return words.empty() ? std::string(rule.about.front()) : joined(words);
}

} // namespace

int ranks_of(const OptionFacts& facts)
{
    const RunPlacement& placement = facts.placement;
    if (const int asked = placement.ranks_asked_for(); asked > 0) { return asked; }
    if (const NicEmulation* const nodes = facts.connection.emulated_nodes()) { return nodes->ranks(); }
    return wants_gpus(facts) ? std::max(facts.processes, placement.gpus) : facts.processes;
}

void expect_to_go_together(const OptionFacts& facts)
{
    for (const Rule& rule : rules())
    {
        if (!rule.is_broken(facts)) { continue; }
        throw InputError(std::string(rule.id), {}, fmt::format("{}: {}. {}", given(rule, facts), rule.rule, rule.advice));
    }
}

void expect_to_leave_nodes(HaloMethod halo, MeshMethod mesh)
{
    OptionFacts facts;
    facts.placement.halo = halo, facts.placement.pme = mesh, facts.leaves_node = true;
    expect_to_go_together(facts);
}

std::string rules_in_words(const std::function<bool(std::string_view option)>& has_option)
{
    std::string lines = "What goes with what:\n";
    for (const Rule& rule : rules())
    {
        const bool is_of_command = std::all_of(rule.about.begin(), rule.about.end(), [&](std::string_view name) {
            return name == input || (name.starts_with("--") ? has_option(name) : has_option("--processes"));
        });
        if (is_of_command) { lines += fmt::format("  {}: {}\n", joined(rule.about), rule.rule); }
    }
    return lines;
}

std::string option_manual()
{
    std::string text = R"(<!-- SPDX-License-Identifier: Apache-2.0. Written by tools/print_option_manual.cpp. -->
# Which options go together

`parhelion COMMAND --help` lists the options. A command line that breaks one of these rules is refused before anything
is read, with exit code 2, the id of the rule, and what was given. "A launcher" has started several processes (`srun`,
`torchrun`, `mpirun`); "the input" is what the files ask for, and rules about it are judged once they are read.

| id | about | rule | otherwise |
|---|---|---|---|
)";
    const auto quoted = [](std::string_view name) {
        return name.starts_with("--") ? fmt::format("`{}`", name) : std::string(name);
    };
    for (const Rule& rule : rules())
    {
        std::vector<std::string> about;
        std::transform(rule.about.begin(), rule.about.end(), std::back_inserter(about), quoted);
        text += fmt::format("| {} | {} | {} | {} |\n", rule.id, joined(about), rule.rule, rule.advice);
    }
    return text;
}

} // namespace parhelion
