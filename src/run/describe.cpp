// SPDX-License-Identifier: Apache-2.0
#include "run/describe.hpp"

#include "device/cores.hpp"
#include "model/minimisers.hpp"
#include "run/progress.hpp"

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace parhelion {

namespace {

// Returns a sum without its rounding error: sums of many decimal numbers are off by some 1e-12.
double without_noise(double sum) { return std::abs(sum) < 1e-6 ? 0 : sum; }

// Returns, for example, "300 K (v-rescale)" or "300/310 K (sd)"; nothing if the temperature is not coupled.
std::string temperature_text(const RunParameters& p)
{
    const bool stochastic = p.integrator == Integrator::StochasticDynamics;
    if (p.thermostat == Thermostat::None && !stochastic) { return ""; }
    std::string references;
    double latest = -1;
    for (const TemperatureGroup& group : p.temperature_groups)
    {
        if (group.tau <= 0 || group.reference == latest) { continue; }
        references += fmt::format("{}{:g}", references.empty() ? "" : "/", group.reference);
        latest = group.reference;
    }
    const char* const name = stochastic                               ? "sd"
                             : p.thermostat == Thermostat::VRescale   ? "v-rescale"
                             : p.thermostat == Thermostat::NoseHoover ? "Nose-Hoover"
                                                                      : "Berendsen";
    return references.empty() ? "" : fmt::format("{} K ({})", references, name);
}

std::string pressure_text(const RunParameters& p)
{
    if (p.barostat == Barostat::None) { return ""; }
    const char* const name = p.barostat == Barostat::CRescale           ? "C-rescale"
                             : p.barostat == Barostat::ParrinelloRahman ? "Parrinello-Rahman"
                                                                        : "Berendsen";
    const Vec3<double>& reference = p.reference_pressure;
    switch (p.box_coupling)
    {
    case BoxCoupling::SemiIsotropic:
        return fmt::format("{:g}/{:g} bar ({}, semiisotropic)", reference.x, reference.z, name);
    case BoxCoupling::Anisotropic:
        return fmt::format("{:g}/{:g}/{:g} bar ({}, anisotropic)", reference.x, reference.y, reference.z, name);
    case BoxCoupling::SurfaceTension:
        return fmt::format("{:g} bar nm, {:g} bar ({}, surface-tension)", p.surface_tension, reference.z, name);
    default:
        return fmt::format("{:g} bar ({})", reference.x, name);
    }
}

std::string time_text(double ps) { return ps < 1000 ? fmt::format("{:g} ps", ps) : fmt::format("{:g} ns", ps * 1e-3); }

// Returns how often the sequence of `period` blocks that begins at `first` is repeated.
std::size_t repeats(const std::vector<MoleculeBlock>& blocks, std::size_t first, std::size_t period)
{
    std::size_t n = 1;
    const auto same = [&](std::size_t i) {
        return blocks[i].type == blocks[i - period].type && blocks[i].count == blocks[i - period].count;
    };
    for (std::size_t i = first + period; i < blocks.size() && same(i); ++i) { n += (i - first + 1) % period == 0 ? 1 : 0; }
    return n;
}

// Returns, for example, "100 x ETH 700 x SOL". Repeated sequences are folded: "200 x (1 x PROT 7023 x SOL)".
std::string molecules_text(const Topology& topology)
{
    constexpr std::size_t longest_period = 8, most_shown = 40;
    std::vector<MoleculeBlock> blocks;
    for (const MoleculeBlock& block : topology.blocks)
    {
        if (!blocks.empty() && blocks.back().type == block.type) { blocks.back().count += block.count; }
        else { blocks.push_back(block); }
    }
    std::string text;
    std::size_t shown = 0;
    for (std::size_t at = 0; at < blocks.size();)
    {
        if (shown >= most_shown) { return text + fmt::format(" and {} more blocks", blocks.size() - at); }
        std::size_t period = 1, times = 1;
        for (std::size_t p = 2; p <= longest_period && at + p <= blocks.size(); ++p)
        {
            if (const std::size_t n = repeats(blocks, at, p); n > 1 && n * p > times * period) { period = p, times = n; }
        }
        std::string once;
        for (std::size_t i = at; i < at + period; ++i)
        {
            once += fmt::format("{}{} x {}", once.empty() ? "" : " ", blocks[i].count,
                                topology.molecule_types[static_cast<std::size_t>(blocks[i].type)].name);
        }
        text += times == 1 ? " " + once : fmt::format(" {} x ({})", times, once);
        at += period * times, shown += period;
    }
    return text;
}

// Returns the operations that are done at intervals, with their intervals; nothing if there are no such operations.
std::string intervals_text(const PlanSummary& plan)
{
    std::string text;
    for (const auto& [what, steps] : {std::pair("energies", plan.energy_interval),
                                      {"temperature", plan.temperature_interval},
                                      {"pressure", plan.pressure_interval},
                                      {"centre of mass", plan.com_interval}})
    {
        if (steps > 0) { text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, steps); }
    }
    return text.empty() ? "" : text + " steps";
}

// Returns the temperature and crowding for which pair lists are planned; nothing if atoms fill the box evenly.
std::string list_conditions_text(const PlanSummary& plan)
{
    if (plan.list_crowding <= 1) { return ""; }
    return fmt::format(", for atoms of up to {:.0f} K that see up to {:.{}f} times the mean density of the box",
                       plan.list_temperature, plan.list_crowding, plan.list_crowding < 10 ? 1 : 0);
}

std::string list_text(const PlanSummary& plan)
{
    const std::string when = plan.keeps_lists          ? "rebuilt when an atom has moved by half of the buffer"
                             : plan.list_interval == 1 ? "made in every step"
                                                       : fmt::format("rebuilt every {} steps", plan.list_interval);
    const std::string buffer = plan.buffer > 0 ? fmt::format(" (buffer {:.4f} nm)", plan.buffer) : "";
    return fmt::format("{}, cut-off {:.4f} nm{}{}", when, plan.list_cutoff, buffer, list_conditions_text(plan));
}

std::string angles_text(const Box<double>& box)
{
    if (box.is_rectangular()) { return ""; }
    const Vec3<double>&diagonal = box.diagonal(), &tilt = box.tilt();
    const Vec3<double> a{diagonal.x, 0, 0}, b{tilt.x, diagonal.y, 0}, c{tilt.y, tilt.z, diagonal.z};
    const auto angle = [](const Vec3<double>& p, const Vec3<double>& q) {
        return std::acos(dot(p, q) / (norm(p) * norm(q))) * 180 / units::pi;
    };
    return fmt::format(", angles {:.2f}, {:.2f} and {:.2f} degrees", angle(b, c), angle(a, c), angle(a, b));
}

} // namespace

std::string describe_system(const System& system)
{
    const Topology& topology = system.topology;
    std::string text = fmt::format("system    {}: {} atoms, {} molecules, {} atom types, {} constraints, charge {:+.4g} e\n",
                                   topology.name, topology.atom_count(), topology.molecule_count(), topology.types(),
                                   topology.constraint_count(), without_noise(topology.total_charge()));
    if (const std::int64_t sites = topology.site_count(); sites > 0)
    {
        text += fmt::format("          {} virtual sites\n", sites);
    }
    text += "molecules" + molecules_text(topology);
    const double volume = system.box.volume();
    const Vec3<double> edge = system.box.edge_lengths();
    text += fmt::format("\nbox       {:.5f} x {:.5f} x {:.5f} nm{}, density {:.1f} kg/m^3\n", edge.x, edge.y, edge.z,
                        angles_text(system.box), topology.total_mass() / volume * units::kg_per_m3);
    return text;
}

std::string describe_run(const RunParameters& p, std::int64_t steps)
{
    const std::string constrained = p.constraints == ConstraintMode::HBonds     ? ", h-bonds constrained"
                                    : p.constraints == ConstraintMode::AllBonds ? ", all bonds constrained"
                                                                                : "";
    if (is_minimisation(p.integrator))
    {
        return fmt::format("run       minimisation ({}){}, until no force is above {:g} kJ/mol/nm{}\n",
                           minimiser(p.integrator).name, constrained, p.em_tolerance,
                           steps < 0 ? "" : fmt::format(" or after {} steps", steps));
    }
    const std::string temperature = temperature_text(p), pressure = pressure_text(p);
    const char* const ensemble = pressure.empty() ? (temperature.empty() ? "NVE" : "NVT") : (temperature.empty() ? "NPH" : "NPT");
    const std::string length = steps < 0 ? "without end" : time_text(static_cast<double>(steps) * p.dt);
    return fmt::format("run       {} {}{}{}, {:g} fs{}\n", length, ensemble, temperature.empty() ? "" : " " + temperature,
                       pressure.empty() ? "" : " " + pressure, p.dt * 1000, constrained);
}

std::string describe_output(const RunParameters& p, const RunOutputs& output)
{
    const bool minimises = is_minimisation(p.integrator), has_trr = p.x_out > 0 || p.v_out > 0 || p.f_out > 0;
    std::string text;
    const auto add = [&](const char* ending, std::initializer_list<int> intervals) {
        int shortest = 0;
        for (const int steps : intervals) { shortest = steps > 0 && (shortest == 0 || steps < shortest) ? steps : shortest; }
        if (shortest == 0) { return; }
        const std::string each = minimises ? fmt::format("{} steps", shortest) : time_text(shortest * p.dt);
        text += fmt::format("{}{} each {}", output.prefix, ending, each) + ", ";
    };
    add(".xtc", {p.compressed_out});
    add(".trr", {p.x_out, p.v_out, p.f_out});
    if (output.h5md && !has_trr) { add(".h5md", {p.compressed_out}); }
    if (output.h5md && has_trr) { add(".h5md", {p.x_out, p.v_out, p.f_out}); }
    add(".edr", {p.energy_out});
    add(".log", {p.log_out});
    return fmt::format("output    {}{}\n", text,
                       minimises ? "no checkpoints" : "checkpoint each " + duration_text(output.checkpoint_s));
}

std::string describe_start(const std::optional<HandOver>& hand_over)
{
    return hand_over ? fmt::format("start     {}\n", hand_over->text) : "";
}

std::string size_text(std::uintmax_t bytes)
{
    const auto b = static_cast<double>(bytes);
    return b < 1e6   ? fmt::format("{:.1f} kB", b * 1e-3)
           : b < 1e9 ? fmt::format("{:.1f} MB", b * 1e-6)
                     : fmt::format("{:.2f} GB", b * 1e-9);
}

std::string grid_text(const std::array<int, 3>& grid) { return fmt::format("{}x{}x{}", grid[0], grid[1], grid[2]); }

std::string describe_seeds(const PlanSummary& plan)
{
    return fmt::format("seed {}{}", plan.seed, plan.velocity_seed ? fmt::format(", of velocities {}", *plan.velocity_seed) : "");
}

std::string threads_remark(const PlanSummary& plan)
{
    const int threads = plan.ranks * plan.threads, cores = available_cores();
    if (plan.on_gpu || threads <= cores) { return ""; }
    return fmt::format("{} threads share {} core{}: they wait for each other, and fewer would be faster", threads, cores,
                       cores == 1 ? "" : "s");
}

std::string helpers_remark(const PlanSummary& plan)
{
    std::string names;
    for (const HelperPlace& helper : plan.helpers)
    {
        if (helper.needs == HelperNeeds::Core && !helper.is_alone) { names += (names.empty() ? "" : ", ") + helper.name; }
    }
    if (names.empty()) { return ""; }
    return fmt::format(
        "N640 no core of its own for: {}. Messages wait for compute threads to give up theirs, and times tell little "
        "of the network. Use fewer --ranks or --threads.",
        names);
}

std::string mesh_method_text(const PlanSummary& plan)
{
    if (plan.ranks == 1 || !plan.mesh) { return ""; }
    const MeshPlan& mesh = *plan.mesh;
    return fmt::format("{}{}", mesh_method_names[static_cast<std::size_t>(mesh.method)],
                       mesh.method == MeshMethod::Dedicated ? fmt::format(":{}", mesh.ranks) : "");
}

static std::string mesh_text(const PlanSummary& plan)
{
    if (!plan.mesh) { return ""; }
    const std::string method = mesh_method_text(plan);
    const int interval = plan.mesh->interval;
    const int of_dispersion = plan.mesh->of_dispersion;
    return fmt::format(
        "{} grid points, order {}, beta {:.6f} nm^-1, forces to about {:.2g} kJ/mol/nm{}{}{}", grid_text(plan.mesh->points),
        plan.mesh->order, plan.mesh->beta, plan.mesh->force_error, method.empty() ? "" : ", " + method,
        interval == 1 ? "" : fmt::format(", computed every {} steps", interval),
        of_dispersion == 0 ? ""
                           : fmt::format("; dispersion on {} mesh{} of the same size, beta {:.6f} nm^-1", of_dispersion,
                                         of_dispersion == 1 ? "" : "es", plan.mesh->dispersion_beta));
}

std::string describe_plan(const PlanSummary& plan)
{
    const std::string ranks = plan.ranks == 1
                                  ? ""
                                  : fmt::format("{} ranks ({}, halo {}){}", plan.ranks, grid_text(plan.grid),
                                                halo_method_names[static_cast<std::size_t>(plan.halo)],
                                                plan.processes == 1 ? "" : fmt::format(" in {} processes", plan.processes));
    const std::string gpus = plan.gpus > 1 ? fmt::format("{} GPUs", plan.gpus) : "GPU";
    const std::string where =
        plan.on_gpu ? fmt::format("{}, {}{}{}", gpus, plan.kernel, ranks.empty() ? "" : ", ", ranks)
                    : fmt::format("CPU, {}{}{} thread{}, pair kernel {}", ranks, ranks.empty() ? "" : ", each with ",
                                  plan.threads, plan.threads == 1 ? "" : "s", plan.kernel);
    const auto line_if_any = [](const std::string& name, const std::string& text) {
        return text.empty() ? "" : fmt::format("{:<10}{}\n", name, text);
    };
    return fmt::format("plan      {}\n"
                       "{}{}{}{}{}"
                       "pair list {}\n"
                       "{}{}"
                       "memory    {:.0f} MB\n",
                       where, line_if_any("GPUs", plan.gpus_remark), line_if_any("links", plan.links),
                       line_if_any("transport", plan.transport), line_if_any("threads", threads_remark(plan)),
                       line_if_any("helpers", helpers_text(plan.helpers)), list_text(plan), line_if_any("PME", mesh_text(plan)),
                       line_if_any("intervals", intervals_text(plan)), static_cast<double>(plan.bytes) * 1e-6);
}

std::string describe_machine()
{
    std::string model = "unknown processor";
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);)
    {
        if (line.rfind("model name", 0) == 0 && line.find(':') != std::string::npos)
        {
            model = line.substr(line.find(':') + 2);
            break;
        }
    }
    const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
    return fmt::format("{}, {} core{}, {:.1f} GiB", model, std::thread::hardware_concurrency(),
                       std::thread::hardware_concurrency() == 1 ? "" : "s", memory / (1024.0 * 1024.0 * 1024.0));
}

} // namespace parhelion
