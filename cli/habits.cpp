// SPDX-License-Identifier: Apache-2.0
#include "habits.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace parhelion {

namespace {

using Advice = std::map<std::string_view, std::string_view>;

std::string found_in(const Advice& advice, std::string_view word)
{
    const auto found = advice.find(word);
    return found == advice.end() ? "" : std::string(found->second);
}

} // namespace

bool reads_input(std::string_view command)
{
    return command == "run" || command == "check" || command == "energy" || command == "convert" || command == "tune";
}

std::string advice_on_option(std::string_view option)
{
    constexpr std::string_view continues = "The same command continues a run by itself.";
    constexpr std::string_view named_after_prefix = "All outputs are named after -o PREFIX.";
    constexpr std::string_view log_has_it = "PREFIX.log has the parameters in use; files are not written out again.";
    constexpr std::string_view where = "Use --device cpu or gpu: a whole run is on one of them.";
    constexpr std::string_view automatic = "The program settles it by itself.";
    static const Advice advice = {
        {"-deffnm", "Use -o PREFIX for output, and -s PREFIX.tpr for input."},
        {"-maxwarn", "Accept warnings one by one, by their ids: --allow W121."},
        {"-time", "Use --time."},
        {"-nt", "Use --threads."},
        {"-ntomp", "Use --threads."},
        {"-ntmpi", "Use --ranks."},
        {"-nsteps", "Use --steps."},
        {"-maxh", "Use --hours."},
        {"-cpt", "Use --checkpoint, with a unit: --checkpoint 15min."},
        {"-dd", "Use --grid, as in --grid 2x2x1."},
        {"-cpi", continues},
        {"-append", continues},
        {"-noappend", "Use another prefix (-o)."},
        {"-cpo", named_after_prefix},
        {"-e", named_after_prefix},
        {"-g", named_after_prefix},
        {"-x", named_after_prefix},
        {"-po", log_has_it},
        {"-pp", log_has_it},
        {"-rb", "There is no free energy, and so no state B: use -r."},
        {"-reprod", "Use --reproducible."},
        {"-gpu_id", "Use --gpus for how many."},
        {"-nb", where},
        {"-bonded", where},
        {"-update", where},
        {"-pme", where},
        {"-pin", automatic},
        {"-dlb", "Use --dlb on or --dlb auto; off is the default."},
        {"-npme", "Use --pme dedicated:2, for instance."},
        {"-tunepme", automatic},
        {"-rerun", "A trajectory cannot be run again. parhelion energy evaluates one structure."},
    };
    return found_in(advice, option);
}

std::string unknown_command(const std::vector<std::string_view>& known, std::string_view word)
{
    constexpr std::string_view one_command =
        "grompp and mdrun are one command here: parhelion run -f md.mdp -c conf.gro -p "
        "topol.top -o md, or parhelion run -s topol.tpr -o md (parhelion check only reads and "
        "plans).";
    constexpr std::string_view of_gromacs = "Use GROMACS' own on the files of a run; it opens all of them.";
    static const Advice advice = {
        {"mdrun", one_command},
        {"grompp", one_command},
        {"convert-tpr", "More steps are asked for with parhelion run --steps."},
        {"tune_pme", one_command},
        {"trjconv", of_gromacs},
        {"eneconv", of_gromacs},
        {"editconf", of_gromacs},
        {"solvate", of_gromacs},
        {"genion", of_gromacs},
        {"pdb2gmx", of_gromacs},
        {"make_ndx", of_gromacs},
    };
    if (word.starts_with('-') || std::find(known.begin(), known.end(), word) != known.end()) { return ""; }
    if (const std::string gromacs = found_in(advice, word); !gromacs.empty())
    {
        return fmt::format("'{}' is a command of GROMACS. {}", word, gromacs);
    }
    const std::string nearest = nearest_word(word, known);
    return fmt::format("'{}' is no command.{} See parhelion --help.", word,
                       nearest.empty() ? "" : fmt::format(" Did you mean {}?", nearest));
}

} // namespace parhelion
