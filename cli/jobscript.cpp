// SPDX-License-Identifier: Apache-2.0
// `parhelion jobscript`: writes a script for Slurm's sbatch. The script runs a simulation and submits itself again until
// all steps are done. Slurm signals the run before the time limit; the run then writes a checkpoint and exits with 3.
#include "commands.hpp"
#include "shell_word.hpp"

#include <fmt/format.h>

namespace parhelion {

namespace {

constexpr int seconds_to_stop = 120; // time from the signal to the time limit; a checkpoint takes a second, more on a slow disk
constexpr int most_restarts = 1000;  // ends a chain of jobs that make no progress

// Returns the layout: with several nodes a process for each GPU, otherwise one for each node, with all its GPUs or cores.
std::string layout(const JobscriptOptions& job)
{
    const int tasks = job.nodes > 1 && job.gpus > 0 ? job.gpus : 1;
    std::string text = fmt::format("#SBATCH --nodes={}\n#SBATCH --ntasks-per-node={}\n", job.nodes, tasks);
    if (job.gpus > 0) { text += fmt::format("#SBATCH --gres=gpu:{}\n", job.gpus); }
    if (job.cpus > 0) { text += fmt::format("#SBATCH --cpus-per-task={}\n", job.cpus); }
    else if (job.gpus == 0) { text += "#SBATCH --exclusive\n"; } // reserves all cores of a node
    if (!job.partition.empty()) { text += fmt::format("#SBATCH --partition={}\n", job.partition); }
    if (!job.account.empty()) { text += fmt::format("#SBATCH --account={}\n", job.account); }
    return text;
}

std::string placement(const JobscriptOptions& job)
{
    if (job.gpus == 0) { return " --device cpu"; }
    return job.nodes > 1 ? " --device gpu --transport nvshmem" : fmt::format(" --gpus {}", job.gpus);
}

std::string run_line(const JobscriptOptions& job)
{
    std::string command = "srun --kill-on-bad-exit=0";
    if (job.cpus > 0) { command += " --cpus-per-task=\"$SLURM_CPUS_PER_TASK\""; } // srun ignores sbatch's value since 22.05
    command += fmt::format(" parhelion run -q -o {}{}", shell_word(job.prefix), placement(job));
    for (const std::string& word : job.run) { command += " " + shell_word(word); }
    return command;
}

} // namespace

void command_jobscript(const JobscriptOptions& job)
{
    const std::string name = std::filesystem::path(job.prefix).filename().string();
    fmt::print(
        "#!/bin/bash\n"
        "#SBATCH --job-name={0}\n"
        "{1}"
        "#SBATCH --time={2}\n"
        "#SBATCH --signal=TERM@{3}\n"
        "#SBATCH --requeue\n"
        "#SBATCH --open-mode=append\n"
        "#SBATCH --output={0}-%j.out\n"
        "\n"
        "# {3} s before the time is over Slurm signals the run, not this script. The run leaves a checkpoint and ends with 3:\n"
        "# this job goes into the queue again, and the same command goes on. 0: all steps are done; else it is an error.\n"
        "{4}\n"
        "code=$?\n"
        "if [ $code -eq 3 ] && [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {5} ]; then\n"
        "    scontrol requeue \"$SLURM_JOB_ID\"\n"
        "fi\n"
        "exit $code\n",
        shell_word(name), layout(job), job.time, seconds_to_stop, run_line(job), most_restarts);
}

} // namespace parhelion
