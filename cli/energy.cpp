// SPDX-License-Identifier: Apache-2.0
// `parhelion energy`: evaluates forces once, for scripts and for comparison with other programs.
#include "commands.hpp"
#include "io/output/npy.hpp"
#include "io/output/output_file.hpp"
#include "run/backup.hpp"
#include "run/describe.hpp"
#include "run/energy_table.hpp"
#include "say.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace parhelion {

namespace {

nlohmann::json to_json(const Mat3<double>& m)
{
    nlohmann::json rows = nlohmann::json::array();
    for (int a = 0; a < 3; ++a) { rows.push_back({m[a].x, m[a].y, m[a].z}); }
    return rows;
}

} // namespace

void command_energy(const EnergyOptions& options)
{
    const std::string json = options.prefix + ".energy.json", npy = options.prefix + ".forces.npy";
    protect_input(options.input.files, {json, npy});
    const SimulationOptions engine = simulation_options(options.engine);
    Diagnostics diagnostics;
    LoadedInput input = load_checked(options.input, Purpose::SinglePoint, diagnostics);
    const EnergyTable table(input.system.topology, input.parameters, input.system.box);
    const Topology topology = input.system.topology;
    Simulation simulation(std::move(input.system), std::move(input.parameters), engine, state_of(input.hand_over));
    if (const std::string remark = threads_remark(simulation.plan()); !remark.empty()) { say(stderr, "note: {}\n", remark); }
    const SinglePoint point = simulation.evaluate();
    expect_finite(simulation, point, topology);
    if (!point.trouble.empty()) { say(stderr, "warning: a run would end here. {}\n", point.trouble); }
    if (!point.remark.empty()) { say(stderr, "warning: {}\n", point.remark); }

    nlohmann::ordered_json energies;
    const std::vector<double> values = table.values(point.observables);
    for (std::size_t i = 0; i < table.potential_terms(); ++i) { energies[table.names()[i]] = values[i]; }
    energies["Potential"] = point.observables.potential;
    energies["Kinetic En."] = point.observables.kinetic_energy;
    energies["Total Energy"] = point.observables.total;
    energies["Conserved En."] = point.observables.conserved;
    nlohmann::ordered_json result;
    result["atoms"] = topology.atom_count();
    result["energies"] = energies;
    result["virial"] = to_json(point.observables.virial);
    result["virial_forces"] = to_json(point.observables.forces.virial);
    result["pressure"] = point.observables.pressure;
    result["temperature"] = point.observables.temperature;
    result["units"] = {
        {"energy", "kJ/mol"}, {"virial", "kJ/mol"}, {"pressure", "bar"}, {"temperature", "K"}, {"force", "kJ/mol/nm"}};

    for (const std::string& output : {json, npy})
    {
        if (const std::string kept = move_to_backup(output); !kept.empty()) { fmt::print("kept: {}\n", kept); }
    }
    write_text_file(json, result.dump(2) + '\n');
    write_npy(npy, point.forces);
    for (const auto& [name, value] : energies.items()) { fmt::print("{:<16} {:20.10g} kJ/mol\n", name, value.get<double>()); }
    fmt::print("{:<16} {:20.10g} bar\nwritten: {} {}\n", "Pressure", point.observables.pressure, json, npy);
}

} // namespace parhelion
