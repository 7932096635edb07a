// SPDX-License-Identifier: Apache-2.0
// The runs of tests/data/sites, which have virtual sites of every kind, as tests of CPU and GPU take them.
#pragma once

#include "io/input/load.hpp"
#include "model/virtual_sites.hpp"
#include "run_helpers.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace parhelion::test {

inline std::string site_file(const std::string& name) { return std::string(PARHELION_SOURCE_DIR) + "/tests/data/sites/" + name; }

inline Refdata load_sites(const std::string& run)
{
    Diagnostics diagnostics;
    LoadedInput input =
        load_gromacs({site_file(run + ".mdp"), site_file("conf.gro"), site_file("topol.top"), {}, {}, {}}, diagnostics);
    return {run, std::move(input.system), std::move(input.parameters)};
}

// With forces that vanish at the cut-off, shorter than it so that a box holds eight cells.
inline Refdata load_smooth(const std::string& run)
{
    Refdata data = load_sites(run);
    RunParameters& p = data.parameters;
    p.lj_cutoff = p.coulomb_cutoff = 0.6, p.list_cutoff = 0.62;
    p.lj_modifier = LjModifier::ForceSwitch, p.lj_switch = 0.4;
    p.pme_order = 8, p.mesh_spacing = 0.06, p.ewald_tolerance = 1e-8;
    return data;
}

// Twelve steps with all that moves atoms: constraints, friction or thermostats, and a box that is scaled.
inline Refdata moved_by_everything(const std::string& run, Integrator integrator)
{
    Refdata data = load_smooth(run);
    RunParameters& p = data.parameters;
    p.integrator = integrator, p.pme_order = 4, p.mesh_spacing = 0.12;
    p.temperature_groups = {{"System", 0.1, 300}};
    if (integrator == Integrator::LeapFrog) { p.thermostat = Thermostat::VRescale, p.temperature_interval = 2; }
    p.barostat = Barostat::CRescale, p.pressure_interval = 4, p.compressibility = {4.5e-5, 4.5e-5, 4.5e-5};
    p.reference_pressure = {500, 500, 500}, p.random_seed = 5, p.com_mode = ComMode::Linear, p.com_interval = 3;
    p.generate_velocities = true, p.generation_seed = 3, p.generation_temperature = 300, p.continuation = false;
    p.x_out = p.v_out = p.f_out = 4, p.list_interval = 3, p.dt = 0.0005;
    return data;
}

// Two boxes next to each other.
inline Refdata twice_along_x(Refdata data)
{
    System& system = data.system;
    const std::vector<MoleculeBlock> blocks = system.topology.blocks;
    system.topology.blocks.insert(system.topology.blocks.end(), blocks.begin(), blocks.end());
    system.topology.finish();
    const std::size_t atoms = system.x.size();
    const double edge = system.box.diagonal().x;
    for (std::size_t i = 0; i < atoms; ++i) { system.x.push_back(system.x[i] + Vec3<double>{edge, 0, 0}); }
    system.box.diagonal().x = 2 * edge;
    system.v.clear();
    return data;
}

// Energies by name, of gmx_d.
inline std::map<std::string, double> reference_energies(const std::string& run)
{
    std::ifstream file(site_file(run + "_energies.txt"));
    std::map<std::string, double> energies;
    std::string name;
    for (double value = 0; file >> name >> value;)
    {
        std::replace(name.begin(), name.end(), '-', ' ');
        energies[name] = value;
    }
    return energies;
}

inline Mat3<double> reference_virial(const std::string& run)
{
    const std::map<std::string, double> energies = reference_energies(run);
    Mat3<double> virial;
    for (int a = 0; a < 3; ++a)
    {
        for (int b = 0; b < 3; ++b) { virial[a][b] = energies.at(std::string("Vir ") + "XYZ"[a] + "XYZ"[b]); }
    }
    return virial;
}

inline std::vector<Vec3<double>> reference_forces(const std::string& run)
{
    std::ifstream file(site_file(run + "_forces.txt"));
    std::vector<Vec3<double>> forces;
    for (Vec3<double> f; file >> f.x >> f.y >> f.z;) { forces.push_back(f); }
    return forces;
}

// How far sites of a frame are from where their constructing atoms say, nm.
inline double off_place(const Refdata& data, const Frame& frame)
{
    std::vector<Vec3<double>> placed = frame.x;
    place_sites(data.system.topology, frame.box, placed);
    return largest_distance(frame.x, placed, frame.box);
}

} // namespace parhelion::test
