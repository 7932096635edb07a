// SPDX-License-Identifier: Apache-2.0
// Reads GROMACS' run parameters (.mdp). Every option GROMACS knows is in one table (mdp_table.hpp): honoured, refused by name, or
// without effect here; whatever is not in the table is an error. Cost: linear in the file.
#pragma once

#include "io/error_list.hpp"
#include "io/mdp_value.hpp"
#include "io/named_list.hpp"
#include "io/text.hpp"
#include "model/run_parameters.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

namespace parhelion {

// What one .mdp says: the parameters, and where each option stood, so that later checks can point at its line.
struct MdpInput
{
    RunParameters parameters;
    std::string file;
    std::map<std::string, MdpEntry, std::less<>> entries; // by GROMACS' name; only options that the file sets to something

    // What depends on other options: check_parameters moves it into `parameters`, or says what is used instead.
    std::vector<std::string> temperature_groups;
    std::vector<double> tau_t, reference_t;                      // ps, K
    std::vector<double> compressibility, reference_p;            // 1/bar, bar
    std::vector<Annealing> annealing;                            // of each of the temperature groups
    std::vector<int> annealing_points;                           // how many each has
    std::vector<double> annealing_times, annealing_temperatures; // ps, K, of all groups one after another
    std::vector<std::string> accelerated_groups;
    std::vector<double> accelerations; // nm/ps^2, three of each accelerated group
    std::vector<std::string> frozen_groups;
    std::vector<bool> frozen_axes;          // three of each frozen group
    int nose_hoover_chain = 10;             // leap-frog has none
    std::vector<std::string> energy_groups; // which must exist; energies are those of the whole system
    bool shake = false;                     // where nothing is constrained, either algorithm will do
    // vdwtype = Shift or Switch: what takes the place of vdw-modifier.
    std::optional<LjModifier> modifier_of_vdwtype;
    // Asked for, and refused if the topology has anything that they act on.
    bool orientation_restraints = false, free_energy = false;
    bool ensemble_restraints = false, averages_restraints = false; // of distances: disre = ensemble, disre-tau

    bool gives(std::string_view key) const { return entries.find(key) != entries.end(); }
    // The line that sets the option, or the file as a whole.
    SourceLocation where(std::string_view key) const;
};

// Parses and checks (check_parameters) a file or a text; `name` stands for the file in messages. What is wrong is kept in
// `errors`, or thrown where there is no such argument: E110 unreadable file, E101 no key or no '=', E102 option given twice, E103
// wrong type, E104 unknown option, E105 out of range, E106 unknown word, E107 options that contradict each other, E140 not
// supported.
MdpInput read_mdp_input(const MappedFile& file, Diagnostics& diagnostics, ErrorList& errors);
MdpInput read_mdp_text(std::string_view text, const std::string& name, Diagnostics& diagnostics);
RunParameters read_mdp(const std::filesystem::path& path, Diagnostics& diagnostics);

// Every honoured option and the value in use, in the table's order.
NamedList<std::string> mdp_values(const RunParameters& parameters);
// The same, one "key = value" line each; reads back to the same parameters.
std::string mdp_text(const RunParameters& parameters);

} // namespace parhelion
