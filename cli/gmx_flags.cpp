// SPDX-License-Identifier: Apache-2.0
#include "gmx_flags.hpp"

#include "habits.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

namespace parhelion {

namespace {

using Words = std::vector<std::string>;
constexpr GmxCommand grompp = GmxCommand::Grompp, mdrun = GmxCommand::Mdrun;

// --- translation of values

Words nothing(const Words&) { return {}; }

// Returns whether a value of GROMACS' option means the same as its default.
bool is_default(const std::string& value) { return value == "0" || value == "-1" || value == "-2" || value == "auto"; }

Words given(const char* option, const Words& values) { return {option, values[0]}; }
Words unless_default(const char* option, const Words& values) { return is_default(values[0]) ? Words{} : given(option, values); }

Words steps(const Words& values) { return values[0] == "-2" ? Words{} : given("--steps", values); }
Words hours(const Words& values) { return unless_default("--hours", values); }
Words checkpoint(const Words& values) { return {"--checkpoint", values[0] + "min"}; }
Words threads(const Words& values) { return unless_default("--threads", values); }
Words ranks(const Words& values) { return unless_default("--ranks", values); }
Words grid(const Words& values)
{
    return values[0] == "0" ? Words{} : Words{"--grid", fmt::format("{}x{}x{}", values[0], values[1], values[2])};
}
Words mesh_ranks(const Words& values) { return is_default(values[0]) ? Words{} : Words{"--pme", "dedicated:" + values[0]}; }
// Translates "0123" or "0,1,2,3" to the words for four GPUs.
Words gpus(const Words& values)
{
    const std::string& ids = values[0];
    const auto commas = std::count(ids.begin(), ids.end(), ',');
    const std::size_t count = commas > 0 ? static_cast<std::size_t>(commas) + (ids.back() == ',' ? 0 : 1) : ids.size();
    return {"--gpus", std::to_string(count)};
}
Words balancing(const Words& values)
{
    return is_default(values[0]) ? Words{} : Words{"--dlb", values[0] == "yes" ? "on" : values[0] == "no" ? "off" : values[0]};
}
Words device(const Words& values) { return unless_default("--device", values); }
Words prefix(const Words& values) { return given("-o", values); }
Words reproducible(const Words&) { return {"--reproducible"}; }
Words run_input(const Words& values) { return given("-s", values); }
Words parameters(const Words& values) { return given("-f", values); }
Words structure(const Words& values) { return given("-c", values); }
Words topology(const Words& values) { return given("-p", values); }
Words reference(const Words& values) { return given("-r", values); }
Words index(const Words& values) { return given("-n", values); }
Words hand_over(const Words& values) { return given("-t", values); }
Words time(const Words& values) { return values[0] == "-1" ? Words{} : given("--time", values); }

// --- the table

constexpr std::string_view of_cards = "On GPUs each rank is a GPU: leave it out, or say --gpus.";
constexpr std::string_view settled = "The program settles it by itself.";
constexpr std::string_view file_of_none = "What would write it is not here.";

const GmxFlag table[] = {
    {"-f", grompp, 1, Equal::Same, parameters, "-f", "every command reads it"},
    {"-c", grompp, 1, Equal::Same, structure, "-c", "every command reads it"},
    {"-p", grompp, 1, Equal::Same, topology, "-p", "every command reads it"},
    {"-r", grompp, 1, Equal::Same, reference, "-r", "default: the start"},
    {"-n", grompp, 1, Equal::Same, index, "-n", "group names are those of GROMACS"},
    {"-t", grompp, 1, Equal::Same, hand_over, "-t", "a checkpoint of ours, or a .trr of either"},
    {"-time", grompp, 1, Equal::Different, time, "--time 100", ""},
    {"-maxwarn", grompp, 1, Equal::Different, nothing, "--allow W121", ""},
    {"-rb", grompp, 1, Equal::None, nothing, "", ""},
    {"-e", grompp, 1, Equal::None, nothing, "", "The state of a coupling is in the checkpoint that -t takes."},
    {"-qmi", grompp, 1, Equal::None, nothing, "", "There is no QM/MM."},
    {"-ref", grompp, 1, Equal::None, nothing, "", "There is no enforced rotation."},
    {"-po", grompp, 1, Equal::Nothing, nothing, "", ""},
    {"-pp", grompp, 1, Equal::Nothing, nothing, "", ""},
    {"-o", grompp, 1, Equal::Nothing, nothing, "", "There is no file between grompp and mdrun."},
    {"-imd", grompp, 1, Equal::None, nothing, "", "parhelion run --imd PORT sends all atoms to who looks on."},
    {"-v", grompp, 0, Equal::Nothing, nothing, "", "parhelion check says what was read; -v of a run adds the notes."},
    {"-rmvsbds", grompp, 0, Equal::Nothing, nothing, "", "Terms of a site that no motion changes are always left out."},
    {"-zero", grompp, 0, Equal::None, nothing, "", "Parameters that are missing are an error."},
    {"-renum", grompp, 0, Equal::Nothing, nothing, "", "Types need no numbers."},
    {"-s", mdrun, 1, Equal::Same, run_input, "-s", "In place of -f, -c and -p; not needed where grompp is told, too."},
    {"-cpi", mdrun, 1, Equal::Nothing, nothing, "", ""},
    {"-table", mdrun, 1, Equal::None, nothing, "", "There are no tabulated potentials."},
    {"-tablep", mdrun, 1, Equal::None, nothing, "", "There are no tabulated potentials."},
    {"-tableb", mdrun, -1, Equal::None, nothing, "", "There are no tabulated potentials."},
    {"-rerun", mdrun, 1, Equal::None, nothing, "", ""},
    {"-ei", mdrun, 1, Equal::None, nothing, "", "There is no essential dynamics."},
    {"-multidir", mdrun, -1, Equal::None, nothing, "", "Start a run in each folder; none is coupled to another."},
    {"-awh", mdrun, 1, Equal::None, nothing, "", "There is no AWH."},
    {"-membed", mdrun, 1, Equal::None, nothing, "", "Proteins are not embedded here."},
    {"-mp", mdrun, 1, Equal::None, nothing, "", "Proteins are not embedded here."},
    {"-mn", mdrun, 1, Equal::None, nothing, "", "Proteins are not embedded here."},
    {"-o", mdrun, 1, Equal::Nothing, nothing, "", "All outputs are named after -o PREFIX."},
    {"-x", mdrun, 1, Equal::Nothing, nothing, "", ""},
    {"-cpo", mdrun, 1, Equal::Nothing, nothing, "", ""},
    {"-c", mdrun, 1, Equal::Nothing, nothing, "", "All outputs are named after -o PREFIX; -c is the start here."},
    {"-e", mdrun, 1, Equal::Nothing, nothing, "", ""},
    {"-g", mdrun, 1, Equal::Nothing, nothing, "", ""},
    {"-dhdl", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-field", mdrun, 1, Equal::None, nothing, "", "Fields act, without a file of their own."},
    {"-tpi", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-tpid", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-eo", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-px", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-pf", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-ro", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-ra", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-rs", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-rt", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-mtx", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-if", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-swap", mdrun, 1, Equal::None, nothing, "", file_of_none},
    {"-deffnm", mdrun, 1, Equal::Different, prefix, "-o md", "It names outputs alone."},
    {"-xvg", mdrun, 1, Equal::Nothing, nothing, "", "No .xvg file is written."},
    {"-dd", mdrun, 3, Equal::Different, grid, "--grid 2x2x1", "The default is the grid that costs least."},
    {"-ddorder", mdrun, 1, Equal::Nothing, nothing, "", settled},
    {"-npme", mdrun, 1, Equal::Different, mesh_ranks, "--pme dedicated:2",
     "By default all ranks share the mesh; the ranks of --ranks include these."},
    {"-nt", mdrun, 1, Equal::Different, threads, "--threads 16", "By default all cores are used."},
    {"-ntmpi", mdrun, 1, Equal::Different, ranks, "--ranks 4", of_cards},
    {"-ntomp", mdrun, 1, Equal::Different, threads, "--threads 8",
     "Of each rank, as there; by default the cores are shared out."},
    {"-ntomp_pme", mdrun, 1, Equal::Nothing, nothing, "", "All ranks have as many threads."},
    {"-pin", mdrun, 1, Equal::Nothing, nothing, "", ""},
    {"-pinoffset", mdrun, 1, Equal::Nothing, nothing, "", "taskset, or the batch system, says which cores a process may use."},
    {"-pinstride", mdrun, 1, Equal::Nothing, nothing, "", "taskset, or the batch system, says which cores a process may use."},
    {"-gpu_id", mdrun, 1, Equal::Different, gpus, "--gpus 2", "How many; CUDA_VISIBLE_DEVICES says which."},
    {"-gputasks", mdrun, 1, Equal::Nothing, nothing, "", "Each rank does all of its work on one GPU."},
    {"-ddcheck", mdrun, 0, Equal::Nothing, nothing, "", "It is always checked."},
    {"-rdd", mdrun, 1, Equal::Nothing, nothing, "", settled},
    {"-rcon", mdrun, 1, Equal::Nothing, nothing, "", settled},
    {"-dlb", mdrun, 1, Equal::Different, balancing, "--dlb on", "By default cells stay equal."},
    {"-dds", mdrun, 1, Equal::Nothing, nothing, "", settled},
    {"-nb", mdrun, 1, Equal::Different, device, "--device gpu", ""},
    {"-nstlist", mdrun, 1, Equal::Nothing, nothing, "",
     "The list is planned for this machine; nstlist of the .mdp is a lower bound."},
    {"-tunepme", mdrun, 0, Equal::Nothing, nothing, "", ""},
    {"-pme", mdrun, 1, Equal::Nothing, nothing, "", "PME is where the run is."},
    {"-pmefft", mdrun, 1, Equal::Nothing, nothing, "", "PME is where the run is."},
    {"-bonded", mdrun, 1, Equal::Nothing, nothing, "", "A whole run is on GPUs or on CPUs."},
    {"-update", mdrun, 1, Equal::Nothing, nothing, "", "A whole run is on GPUs or on CPUs."},
    {"-v", mdrun, 0, Equal::Nothing, nothing, "", "Progress is shown unless -q is given; -v adds the notes."},
    {"-pforce", mdrun, 1, Equal::None, nothing, "", "A force that is too large ends the run and is named (E501)."},
    {"-reprod", mdrun, 0, Equal::Different, reproducible, "--reproducible", "The same bits for any threads, ranks and GPUs."},
    {"-cpt", mdrun, 1, Equal::Different, checkpoint, "--checkpoint 15min", ""},
    {"-cpnum", mdrun, 0, Equal::None, nothing, "", "The latest two checkpoints are kept."},
    {"-append", mdrun, 0, Equal::Nothing, nothing, "", ""},
    {"-nsteps", mdrun, 1, Equal::Different, steps, "--steps 5000",
     "Counted from the beginning of the run, also where it goes on."},
    {"-maxh", mdrun, 1, Equal::Different, hours, "--hours 23.9", ""},
    {"-replex", mdrun, 1, Equal::None, nothing, "", "There is no replica exchange."},
    {"-nex", mdrun, 1, Equal::None, nothing, "", "There is no replica exchange."},
    {"-reseed", mdrun, 1, Equal::None, nothing, "", "There is no replica exchange."},
};

std::string shown_equal(const GmxFlag& flag)
{
    switch (flag.equal)
    {
    case Equal::Same:
        return fmt::format("same: `{}`", flag.shown);
    case Equal::Different:
        return fmt::format("`{}`", flag.shown);
    case Equal::Nothing:
        return flag.shown.empty() ? "not needed" : fmt::format("not needed; `{}`", flag.shown);
    case Equal::None:
        break;
    }
    return "**not here**";
}

void add_rows(std::string& text, GmxCommand command)
{
    text += "| option | here | |\n|---|---|---|\n";
    for (const GmxFlag& flag : table)
    {
        if (flag.command == command) { text += fmt::format("| `{}` | {} | {} |\n", flag.name, shown_equal(flag), note_on(flag)); }
    }
}

} // namespace

std::span<const GmxFlag> gmx_flags() { return table; }

std::string note_on(const GmxFlag& flag) { return flag.note.empty() ? advice_on_option(flag.name) : std::string(flag.note); }

std::string gmx_flags_manual()
{
    std::string text = R"(<!-- SPDX-License-Identifier: Apache-2.0. Written by parhelion gmx-args --table. -->
# Options of grompp and mdrun

All options of `gmx grompp` and `gmx mdrun` of GROMACS 2022, and what they are called here. `parhelion gmx-args` tells it
of a whole command line. What is not here is refused, never ignored.

## mdrun

)";
    add_rows(text, mdrun);
    text += "\n## grompp\n\n";
    add_rows(text, grompp);
    return text;
}

} // namespace parhelion
