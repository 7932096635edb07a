// SPDX-License-Identifier: Apache-2.0
// `parhelion bench standard`: runs the same systems on every machine, so that machines and programs can be compared. These are
// the water/ethanol series with reaction field and with PME, JAC (DHFR in water), and boxes of copies of JAC about as large as
// ApoA1, cellulose and STMV. Where OpenMM's benchmark script has the same JSON field, its name, unit and values are used.
#include "base/error.hpp"
#include "commands.hpp"
#include "generate/copies.hpp"
#include "run/describe.hpp"
#include "run/samples.hpp"
#include "series.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace parhelion {

namespace {

struct StandardSystem
{
    std::string test;
    std::optional<SeriesElectrostatics> series; // nothing: JAC
    std::int64_t atoms = 0;                     // number of atoms of the series; unused for JAC
    std::array<int, 3> copies{1, 1, 1};         // copies of JAC's box along each edge
};

std::vector<StandardSystem> all_systems(const BenchStandardOptions& options)
{
    std::vector<StandardSystem> all;
    const std::vector<std::int64_t> sizes =
        options.is_short ? std::vector<std::int64_t>{3000} : std::vector<std::int64_t>{45000, 90000, 180000, 360000, 720000};
    for (const SeriesElectrostatics electrostatics : {SeriesElectrostatics::Pme, SeriesElectrostatics::ReactionField})
    {
        for (const std::int64_t atoms : sizes)
        {
            all.push_back({fmt::format("water-{}-{}", electrostatics_name(electrostatics), atoms), electrostatics, atoms});
        }
    }
    if (options.jac.empty()) { return all; }
    all.push_back({"jac", std::nullopt});
    if (options.is_short) { return all; }
    for (const std::array<int, 3> copies : {std::array{2, 2, 1}, {3, 3, 2}, {3, 3, 5}})
    {
        all.push_back({"jac-" + grid_text(copies), std::nullopt, 0, copies});
    }
    return all;
}

// Returns the systems that the options name, or all systems if they name none.
std::vector<StandardSystem> chosen_systems(const BenchStandardOptions& options)
{
    std::vector<StandardSystem> all = all_systems(options);
    if (options.tests.empty()) { return all; }
    std::vector<StandardSystem> chosen;
    for (const std::string& name : options.tests)
    {
        const auto found = std::find_if(all.begin(), all.end(), [&](const StandardSystem& one) { return one.test == name; });
        if (found == all.end())
        {
            std::vector<std::string> names;
            for (const StandardSystem& one : all) { names.push_back(one.test); }
            throw InputError("E010", {},
                             fmt::format("--test {} is no standard system{}. Give some of {}.", name,
                                         options.jac.empty() && name.starts_with("jac") ? " without --jac" : "",
                                         fmt::join(names, ", ")));
        }
        chosen.push_back(*found);
    }
    return chosen;
}

LoadedInput input_of(const StandardSystem& system, const BenchStandardOptions& options)
{
    if (system.series) { return series_input(system.atoms, *system.series); }
    InputOptions files;
    files.files.mdp = options.jac / "md.mdp";
    files.files.structure = options.jac / "conf.gro";
    files.files.topology = options.jac / "topol.top";
    Diagnostics diagnostics;
    return copies_of(load_checked(files, Purpose::Run, diagnostics), system.copies);
}

// Returns the JSON fields about the input, with the names and values of OpenMM's benchmark script.
nlohmann::ordered_json physics_json(const LoadedInput& input)
{
    const RunParameters& p = input.parameters;
    const Topology& topology = input.system.topology;
    constexpr double heaviest_hydrogen = 4.5; // u; also heavier than any hydrogen that has taken mass from its neighbour
    double hydrogen = 0;
    bool has_constraints = false, has_bonds = false;
    for (const MoleculeType& type : topology.molecule_types)
    {
        for (const Atom& atom : type.atoms)
        {
            const bool is_one = atom.name.starts_with('H') && atom.mass < heaviest_hydrogen;
            hydrogen = is_one ? std::max(hydrogen, static_cast<double>(atom.mass)) : hydrogen;
        }
        has_constraints = has_constraints || !type.constraints.empty() || !type.settles.empty();
        has_bonds = has_bonds || !type.of(InteractionKind::HarmonicBond).empty();
    }
    const bool has_thermostat = p.thermostat != Thermostat::None || p.integrator == Integrator::StochasticDynamics;
    return {{"cutoff", p.coulomb_cutoff},
            {"constraints", !has_constraints ? "None"
                            : has_bonds      ? "HBonds"
                                             : "AllBonds"},
            {"hydrogen_mass", fmt::format("{:.4g}", hydrogen)},
            {"ensemble", p.barostat != Barostat::None ? "NPT"
                         : has_thermostat             ? "NVT"
                                                      : "NVE"},
            {"timestep_in_fs", 1000 * p.dt},
            {"electrostatics", p.coulomb == CoulombKind::Pme ? "pme" : "rf"}};
}

nlohmann::ordered_json to_json(const StandardSystem& system, const nlohmann::ordered_json& physics, std::int64_t atoms,
                               Precision precision, const PlanSummary& plan, const Samples& samples)
{
    const RunSummary& summary = samples.median();
    nlohmann::ordered_json line = {{"test", system.test}};
    line.update(physics);
    line["precision"] = precision_names[static_cast<std::size_t>(precision)];
    line["platform"] = plan.on_gpu ? "CUDA" : "CPU";
    line["platform_properties"] = plan.on_gpu ? nlohmann::ordered_json{{"DeviceName", plan.kernel}}
                                              : nlohmann::ordered_json{{"Threads", std::to_string(plan.threads * plan.ranks)}};
    line["steps"] = summary.timed_steps;
    line["elapsed_time"] = 1e-6 * summary.us_per_step * static_cast<double>(summary.timed_steps);
    line["ns_per_day"] = summary.ns_per_day;
    line["ns_per_day_samples"] = nlohmann::ordered_json::array();
    for (const RunSummary& run : samples.runs) { line["ns_per_day_samples"].push_back(run.ns_per_day); }
    line.update({{"program", "Parhelion"},
                 {"atoms", atoms},
                 {"gpus", plan.gpus},
                 {"ranks", plan.ranks},
                 {"threads", plan.threads},
                 {"grid", grid_text(plan.grid)},
                 {"pme", mesh_method_text(plan)},
                 {"list_interval", plan.list_interval},
                 {"kernel", plan.kernel},
                 {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
                 {"machine", describe_machine()},
                 {"version", version_text()}});
    return line;
}

std::string where(const PlanSummary& plan)
{
    if (!plan.on_gpu) { return fmt::format("CPU, {} thread{}", plan.threads, plan.threads == 1 ? "" : "s"); }
    return fmt::format("{} GPU{}", plan.gpus, plan.gpus == 1 ? "" : "s");
}

void print_head(const BenchStandardOptions& options)
{
    fmt::print("{}\n{}\nThe median of {} windows of about {:g} s, with the least and the largest; the windows follow each other "
               "in one simulation.\n",
               version_text(), describe_machine(), options.repetitions, options.seconds);
    fmt::print("{:<18} {:>9} {:<15} {:>7} {:<8} {:<9} {:>9} {:>19} {:>6}\n", "test", "atoms", "on", "dt (fs)", "ensemble",
               "precision", "ns/day", "least .. largest", "ratio");
}

void print_line(const nlohmann::ordered_json& line, const PlanSummary& plan, const Samples& samples, double first)
{
    const double rate = samples.median().ns_per_day, of_time = rate * samples.median().us_per_step; // equal for all samples
    fmt::print("{:<18} {:>9} {:<15} {:>7g} {:<8} {:<9} {:>9.1f} {:>19} {:>6.2f}\n", line["test"].get<std::string>(),
               line["atoms"].get<std::int64_t>(), where(plan), line["timestep_in_fs"].get<double>(),
               line["ensemble"].get<std::string>(), line["precision"].get<std::string>(), rate,
               fmt::format("{:.1f} .. {:.1f}", of_time / samples.spread.max, of_time / samples.spread.min), rate / first);
    std::fflush(stdout);
}

// Returns the numbers of GPUs with which each system is measured; 0 means the CPU.
std::vector<int> places(const BenchStandardOptions& options)
{
    if (!options.gpus.empty())
    {
        gpus_here(*std::max_element(options.gpus.begin(), options.gpus.end()));
        return options.gpus;
    }
    const bool on_gpus = options.device == Device::Gpu || (options.device == Device::Auto && has_gpus());
    return on_gpus ? powers_of_two_and_all(static_cast<int>(gpus_here(0).size())) : std::vector<int>{0};
}

} // namespace

void command_bench_standard(const BenchStandardOptions& options)
{
    expect_writable(options.json);
    const std::atomic<bool> never{false};
    const std::vector<StandardSystem> systems = chosen_systems(options);
    const std::vector<int> numbers_of_gpus = places(options);
    print_head(options);
    for (const StandardSystem& system : systems)
    {
        const LoadedInput input = input_of(system, options);
        const nlohmann::ordered_json physics = physics_json(input);
        double first = 0; // ns/day of the first number of GPUs
        for (const int gpus : numbers_of_gpus)
        {
            EngineOptions engine;
            engine.numerics.precision = options.precision;
            engine.placement.device = gpus > 0 ? Device::Gpu : Device::Cpu;
            engine.placement.gpus = gpus, engine.placement.threads = options.threads;
            try
            {
                Simulation simulation(input.system, input.parameters, simulation_options(engine));
                const std::int64_t steps = steps_of_window(simulation, options.seconds, 20, never);
                const Samples samples = take_samples(simulation, steps, options.repetitions, never);
                if (first == 0) { first = samples.median().ns_per_day; }
                const nlohmann::ordered_json line =
                    to_json(system, physics, input.system.topology.atom_count(), options.precision, simulation.plan(), samples);
                print_line(line, simulation.plan(), samples, first);
                append_line(options.json, line.dump());
            }
            catch (const InputError& error) // the box cannot be divided among this number of GPUs; other measurements go on
            {
                fmt::print("{:<18} {:>9} {} GPUs: not run: {}\n", system.test, input.system.topology.atom_count(), gpus,
                           error.what());
            }
        }
    }
}

} // namespace parhelion
