// SPDX-License-Identifier: Apache-2.0
// Reads GROMACS' run parameters (.mdp). One table (mdp_table.hpp) has every option that GROMACS knows:
// honoured, refused by name, or without effect here. Any other option is an error. Cost: linear in the file.
#pragma once

#include "io/input/error_list.hpp"
#include "io/input/mdp_value.hpp"
#include "io/input/named_list.hpp"
#include "io/input/text.hpp"
#include "model/run_parameters.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

namespace parhelion {

// The contents of an .mdp: the parameters, and the place of each option, so that later checks can refer to its line.
struct MdpInput
{
    RunParameters parameters;
    std::string file;
    std::map<std::string, MdpEntry, std::less<>> entries; // options to which the file gives a value, by GROMACS' name

    // The following depend on other options. check_parameters() moves them to `parameters`, or reports the values used instead.
    std::vector<std::string> temperature_groups;
    std::vector<double> tau_t, reference_t;                      // ps, K
    std::vector<double> compressibility, reference_p;            // 1/bar, bar
    std::vector<Annealing> annealing;                            // annealing type of each temperature group
    std::vector<int> annealing_points;                           // number of annealing points of each group
    std::vector<double> annealing_times, annealing_temperatures; // ps, K, of all groups, concatenated
    std::vector<std::string> accelerated_groups;
    std::vector<double> accelerations; // nm/ps^2, three components for each accelerated group
    std::vector<std::string> frozen_groups;
    std::vector<bool> frozen_axes;          // three flags (x, y, z) for each frozen group
    int nose_hoover_chain = 10;             // the value has no effect with leap-frog
    std::vector<std::string> energy_groups; // these groups must exist; energies are always those of the whole system
    bool shake = false;                     // true if SHAKE is asked for; it has no effect without constraints
    // Set by vdwtype = Shift or Switch. It replaces vdw-modifier.
    std::optional<LjModifier> modifier_of_vdwtype;
    bool is_of_grompp = false; // true if grompp chose coupling intervals that the user omitted
    // True if asked for. The run is then refused if the topology has anything on which they act.
    bool orientation_restraints = false, free_energy = false;
    bool ensemble_restraints = false, averages_restraints = false; // true with disre = ensemble, and with disre-tau

    bool gives(std::string_view key) const { return entries.find(key) != entries.end(); }
    // Returns the line that sets the option, or the file as a whole if no line does.
    SourceLocation where(std::string_view key) const;
};

// Parses and checks (check_parameters()) a file or a text; messages refer to it by `name`.
// Errors are kept in `errors` or, without that argument, thrown: E110 unreadable file, E101
// no key or no '=', E102 option given twice, E103 wrong type, E104 unknown option, E105 out
// of range, E106 unknown word, E107 options that contradict each other, E140 not supported.
MdpInput read_mdp_input(const MappedFile& file, Diagnostics& diagnostics, ErrorList& errors);
MdpInput read_mdp_text(std::string_view text, const std::string& name, Diagnostics& diagnostics);
// Parses and checks options from a .tpr, which have no lines. Names are as GROMACS spells them, values as in a file.
MdpInput read_mdp_options(const NamedList<std::string>& options, const std::string& name, Diagnostics& diagnostics,
                          ErrorList& errors);
RunParameters read_mdp(const std::filesystem::path& path, Diagnostics& diagnostics);

// Returns every honoured option with the value in use, in the table's order.
NamedList<std::string> mdp_values(const RunParameters& parameters);
// Returns the result of mdp_values() as lines "key = value". Reading these lines gives the same parameters.
std::string mdp_text(const RunParameters& parameters);

} // namespace parhelion
