// SPDX-License-Identifier: Apache-2.0
#include "support/refdata.hpp"

#include "base/error.hpp"
#include "io/input/gro.hpp"
#include "io/input/top.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <zlib.h>

namespace parhelion::test {

namespace {

// Of "etoh" or "etoh/pme": the folder of the system, and that of the reference.
std::string folder(const std::string& name)
{
    return std::string(PARHELION_SOURCE_DIR) + "/tests/data/refdata/" + name.substr(0, name.find('/'));
}
bool has_mesh(const std::string& name) { return name.ends_with("/pme"); }
std::string reference(const std::string& name) { return folder(name) + (has_mesh(name) ? "/pme" : "/rf"); }

// The whole text of a file, gzipped or not.
std::string read_text(const std::string& path)
{
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), &gzclose);
    if (!file) { throw std::runtime_error("cannot open " + path); }
    std::string text;
    char block[1 << 16];
    int n;
    while ((n = gzread(file.get(), block, sizeof block)) > 0) { text.append(block, static_cast<std::size_t>(n)); }
    if (n < 0) { throw std::runtime_error("cannot unpack " + path); }
    return text;
}

// Splits off the next line.
bool next_line(const std::string& text, std::size_t& position, std::string& line)
{
    if (position >= text.size()) { return false; }
    const std::size_t end = std::min(text.find('\n', position), text.size());
    line = text.substr(position, end - position);
    position = end + 1;
    return true;
}

// "Disper._corr." -> "Disper. corr.", "LJ_(SR)(kJ/mol)" -> "LJ (SR)".
std::string term_name(std::string word)
{
    std::replace(word.begin(), word.end(), '_', ' ');
    for (const char* unit : {"(kJ/mol)", "(bar)", "(K)", "(nm)", "(nm^3)", "(nm/ps)", "(kg/m^3)", "(bar nm)"})
    {
        const std::string suffix = unit;
        if (word.size() > suffix.size() && word.compare(word.size() - suffix.size(), suffix.size(), suffix) == 0)
        {
            return word.substr(0, word.size() - suffix.size());
        }
    }
    return word;
}

std::vector<double> numbers(const std::string& line)
{
    std::vector<double> row;
    const char* at = line.c_str();
    char* end = nullptr;
    for (double value = std::strtod(at, &end); end != at; value = std::strtod(at, &end))
    {
        row.push_back(value);
        at = end;
    }
    return row;
}

std::vector<Vec3<double>> read_forces(const std::string& path)
{
    const std::string text = read_text(path);
    std::vector<Vec3<double>> forces;
    std::string line;
    for (std::size_t position = 0; next_line(text, position, line);)
    {
        if (line.empty() || line[0] == '#') { continue; }
        const std::vector<double> row = numbers(line);
        if (row.size() != 4 || row[0] != static_cast<double>(forces.size() + 1)) { throw std::runtime_error(path + ": " + line); }
        forces.push_back({row[1], row[2], row[3]});
    }
    return forces;
}

// "name value unit" lines; of a file with "## section" lines, those of the section asked for.
EnergyTable read_energies(const std::string& path, const std::string& section)
{
    const std::string text = read_text(path);
    EnergyTable table;
    bool inside = section.empty(), found = inside;
    std::string line;
    for (std::size_t position = 0; next_line(text, position, line);)
    {
        if (line.rfind("##", 0) == 0)
        {
            inside = line.compare(2, std::string::npos, " " + section) == 0;
            found |= inside;
            continue;
        }
        std::istringstream words(line);
        std::string name;
        double value = 0;
        if (inside && words >> name >> value) { table.set(term_name(name), value); }
    }
    if (!found) { throw std::runtime_error(path + " has no section " + section); }
    return table;
}

} // namespace

Refdata load_refdata(const std::string& name, ConstraintMode constraints)
{
    Refdata data;
    data.name = name;
    RunParameters& p = data.parameters; // sp.mdp, in its order
    p.dt = 0.002;
    p.list_interval = 1;
    p.buffer_tolerance = -1;
    p.list_cutoff = 1.0;
    p.lj_modifier = LjModifier::PotentialShift;
    p.lj_cutoff = 0.9;
    p.dispersion_correction = DispersionCorrection::EnergyPressure;
    p.coulomb = has_mesh(name) ? CoulombKind::Pme : CoulombKind::ReactionField;
    p.coulomb_potential_shift = has_mesh(name);
    p.coulomb_cutoff = 0.9;
    p.epsilon_r = 1;
    p.epsilon_rf = 0;
    p.constraints = constraints;
    p.lincs_order = 8;
    p.lincs_iterations = 4;
    p.continuation = true;
    p.com_mode = ComMode::None;
    p.energy_calc = p.energy_out = 1;

    Diagnostics diagnostics;
    data.system.topology = read_topology(folder(name) + "/topol.top", {}, diagnostics);
    convert_bonds_to_constraints(data.system.topology, constraints);
    const GroFile gro = read_gro(folder(name) + "/conf.gro");
    data.system.title = gro.title;
    data.system.box = gro.box;
    data.system.x = gro.x;
    data.system.v = gro.v;
    return data;
}

void couple_as_nhpr(RunParameters& p)
{
    p.thermostat = Thermostat::NoseHoover;
    p.temperature_interval = 1;
    p.temperature_groups = {{"System", 0.5, 300}};
    p.barostat = Barostat::ParrinelloRahman;
    p.pressure_interval = 1;
    p.tau_p = 2.0;
    p.reference_pressure = {1, 1, 1};
    p.compressibility = {4.5e-5, 4.5e-5, 4.5e-5};
}

void couple_edges(RunParameters& p, const std::string& edges)
{
    p.box_coupling = edges == "semi"   ? BoxCoupling::SemiIsotropic
                     : edges == "each" ? BoxCoupling::Anisotropic
                                       : BoxCoupling::SurfaceTension;
    p.compressibility = {4.5e-5, edges == "each" ? 3e-5 : 4.5e-5, edges == "semi" || edges == "tension" ? 3e-5 : 0};
    p.reference_pressure = {1, 1, edges == "semi" ? 200.0 : 1};
    if (edges == "each") { p.reference_pressure = {1, 200, -100}; }
    p.surface_tension = p.box_coupling == BoxCoupling::SurfaceTension ? 600 : 0;
}

std::vector<Vec3<double>> refdata_forces(const std::string& name, const std::string& kind)
{
    return read_forces(reference(name) + "/forces" + (kind.empty() ? "" : "_" + kind) + ".txt.gz");
}

std::vector<Vec3<double>> refdata_class_forces(const std::string& name, const std::string& class_name)
{
    return read_forces(reference(name) + "/classes/forces_" + class_name + ".txt.gz");
}

double EnergyTable::operator[](const std::string& term) const
{
    const auto found = values_.find(term);
    if (found == values_.end()) { throw std::runtime_error("no energy term '" + term + "' in the reference"); }
    return found->second;
}

Mat3<double> EnergyTable::tensor(const std::string& prefix) const
{
    constexpr const char* elements[3][3] = {{"-XX", "-XY", "-XZ"}, {"-YX", "-YY", "-YZ"}, {"-ZX", "-ZY", "-ZZ"}};
    Mat3<double> m;
    for (int a = 0; a < 3; ++a)
    {
        for (int b = 0; b < 3; ++b) { m[a][b] = (*this)[prefix + elements[a][b]]; }
    }
    return m;
}

EnergyTable refdata_energies(const std::string& name, const std::string& kind)
{
    return read_energies(reference(name) + "/energies" + (kind.empty() ? "" : "_" + kind) + ".txt", "");
}

EnergyTable refdata_class_energies(const std::string& name, const std::string& class_name)
{
    return read_energies(reference(name) + "/classes/energies.txt", class_name);
}

std::vector<EnergyTable> refdata_energy_series(const std::string& name, const std::string& run)
{
    const std::string path = reference(name) + "/" + run + ".energies.txt.gz";
    std::string text = read_text(path);
    // The one unit with a blank would split its column's title in two.
    const std::size_t blank = text.find("(bar nm)");
    if (blank != std::string::npos) { text[blank + 4] = '_'; }
    std::size_t position = 0;
    std::string line;
    next_line(text, position, line);
    std::istringstream header(line.substr(1));
    std::vector<std::string> names;
    for (std::string word; header >> word;) { names.push_back(names.empty() ? "Time" : term_name(word)); }
    std::vector<EnergyTable> series;
    while (next_line(text, position, line))
    {
        const std::vector<double> row = numbers(line);
        if (row.size() != names.size()) { throw std::runtime_error(path + ": columns do not match their titles"); }
        series.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i) { series.back().set(names[i], row[i]); }
    }
    return series;
}

std::vector<ReferenceState> refdata_states(const std::string& name, const std::string& run)
{
    const std::string path = reference(name) + "/" + run + ".state.txt.gz";
    const std::string text = read_text(path);
    std::vector<ReferenceState> states;
    std::string line;
    for (std::size_t position = 0; next_line(text, position, line);)
    {
        if (line.rfind("# step", 0) == 0)
        {
            ReferenceState state;
            std::istringstream words(line);
            std::string skip;
            double zero = 0;
            words >> skip >> skip >> state.step >> skip >> state.time >> skip >> skip;
            words >> state.box.diagonal().x >> zero >> zero >> zero >> state.box.diagonal().y >> zero >> zero >> zero >>
                state.box.diagonal().z;
            if (!words) { throw std::runtime_error(path + ": " + line); }
            states.push_back(state);
        }
        else if (!line.empty() && line[0] != '#')
        {
            const std::vector<double> row = numbers(line);
            if (row.size() != 7 || states.empty()) { throw std::runtime_error(path + ": " + line); }
            states.back().x.push_back({row[1], row[2], row[3]});
            states.back().v.push_back({row[4], row[5], row[6]});
        }
    }
    return states;
}

} // namespace parhelion::test
