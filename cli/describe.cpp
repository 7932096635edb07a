// SPDX-License-Identifier: Apache-2.0
#include "describe.hpp"

#include "device/cores.hpp"

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace parhelion {

namespace {

// Sums of many decimal numbers are off by some 1e-12.
double without_noise(double sum) { return std::abs(sum) < 1e-6 ? 0 : sum; }

} // namespace

std::string describe_system(const System& system)
{
    const Topology& topology = system.topology;
    std::string text = fmt::format("system    {}: {} atoms, {} molecules, {} atom types, {} constraints, charge {:+.4g} e\n",
                                   topology.name, topology.atom_count(), topology.molecule_count(), topology.types(),
                                   topology.constraint_count(), without_noise(topology.total_charge()));
    text += "molecules";
    for (const MoleculeBlock& block : topology.blocks)
    {
        text += fmt::format(" {} x {}", block.count, topology.molecule_types[block.type].name);
    }
    const double volume = system.box.x * system.box.y * system.box.z;
    text += fmt::format("\nbox       {:.5f} x {:.5f} x {:.5f} nm, density {:.1f} kg/m^3\n", system.box.x, system.box.y,
                        system.box.z, topology.total_mass() / volume * units::kg_per_m3);
    return text;
}

std::string describe_start(const std::optional<HandOver>& hand_over)
{
    return hand_over ? fmt::format("start     {}\n", hand_over->text) : "";
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

std::string describe_plan(const PlanSummary& plan)
{
    const std::string ranks = plan.ranks == 1 ? ""
                                              : fmt::format("{} ranks ({}, halo {})", plan.ranks, grid_text(plan.grid),
                                                            halo_method_names[static_cast<std::size_t>(plan.halo)]);
    const std::string gpus = plan.gpus > 1 ? fmt::format("{} GPUs", plan.gpus) : "GPU";
    const std::string where =
        plan.on_gpu ? fmt::format("{}, {}{}{}", gpus, plan.kernel, ranks.empty() ? "" : ", ", ranks)
                    : fmt::format("CPU, {}{}{} thread{}, pair kernel {}", ranks, ranks.empty() ? "" : ", each with ",
                                  plan.threads, plan.threads == 1 ? "" : "s", plan.kernel);
    const auto line_if_any = [](const std::string& name, const std::string& text) {
        return text.empty() ? "" : fmt::format("{:<10}{}\n", name, text);
    };
    return fmt::format("plan      {}\n"
                       "{}{}{}"
                       "pair list rebuilt every {} steps, cut-off {:.4f} nm (buffer {:.4f} nm)\n"
                       "intervals energies {}, temperature {}, pressure {}, centre of mass {} steps\n"
                       "memory    {:.0f} MB\n",
                       where, line_if_any("GPUs", plan.gpus_remark), line_if_any("links", plan.links),
                       line_if_any("threads", threads_remark(plan)), plan.list_interval, plan.list_cutoff, plan.buffer,
                       plan.energy_interval, plan.temperature_interval, plan.pressure_interval, plan.com_interval,
                       static_cast<double>(plan.bytes) * 1e-6);
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
