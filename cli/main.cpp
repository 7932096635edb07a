// SPDX-License-Identifier: Apache-2.0
// The program: parses options, runs one subcommand, and turns errors into one screen of text and an exit code.
#include "base/error.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "completion.hpp"
#include "failure.hpp"
#include "habits.hpp"
#include "options.hpp"
#include "say.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace parhelion;

namespace {

std::vector<std::string_view> command_names(const CLI::App& app)
{
    std::vector<std::string_view> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    {
        names.push_back(command->get_name());
    }
    return names;
}

// Formats the help in lines that fit into the terminal's width.
struct HelpThatFits : CLI::Formatter
{
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override
    {
        return fitted(CLI::Formatter::make_help(app, std::move(name), mode), stdout);
    }
};

Command add_run(CLI::App& app)
{
    const auto options = std::make_shared<RunOptions>();
    CLI::App* command = app.add_subcommand("run", "read, check, plan, simulate");
    add_input_options(*command, options->request.input);
    add_engine_options(*command, options->request.numerics, options->request.placement);
    add_prefix_option(*command, options->request.output.prefix);
    add_connection_options(*command, *options);
    add_imd_options(*command, *options);
    add_many_options(*command, *options);
    RunLength& length = options->request.length;
    command->add_option("--steps", length.steps, "number of steps, as 5000 or 5e3; -1: no end (default: nsteps of the .mdp)")
        ->transform(whole_number)
        ->check(amount_or_no_end);
    command->add_option("--ns", length.ns, "simulated time in ns, instead of --steps")->excludes("--steps")->check(amount);
    command->add_option("--hours", length.hours, "stop after this wall time")->check(amount);
    RunOutputs& output = options->request.output;
    command->add_option("--checkpoint", output.checkpoint_s, "time between checkpoints")
        ->default_str("15min")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}},
                                          CLI::AsNumberWithUnit::UNIT_REQUIRED))
        ->check(CLI::Range(0.0, 1e9))
        ->type_name("30s|15min|2h");
    command->add_option("--trace", output.trace, "write a timeline of the latest steps, for ui.perfetto.dev")->type_name("FILE");
    command->add_flag("--rst7", output.rst7, "write the last configuration as a restart file of AMBER, too: PREFIX.rst7");
    command->add_flag("--h5md", output.h5md,
                      "write the trajectory as H5MD, too (frames of the .trr, or of the .xtc if there is no .trr): PREFIX.h5md");
    command->add_flag("--new", output.fresh, "start afresh, even if PREFIX.cpt says how to continue");
    command->add_flag("--json", options->json, "print the report as JSON on standard output, and all else on standard error")
        ->excludes("--multi");
    command->add_flag("-q,--quiet", options->quiet, "no progress and no messages but warnings");
    command->add_flag("-v,--verbose", options->verbose, "notes as well as warnings");
    options->request.end_process = end_at_once_by;
    tell_rules(*command);
    return {command, [options] {
                const int code = command_run(*options);
                return options->json ? after_output(code) : code;
            }};
}

Command add_energy(CLI::App& app)
{
    const auto options = std::make_shared<EnergyOptions>();
    CLI::App* command = app.add_subcommand("energy", "one force evaluation: PREFIX.energy.json, PREFIX.forces.npy");
    add_input_options(*command, options->input);
    add_engine_options(*command, options->engine.numerics, options->engine.placement);
    add_prefix_option(*command, options->prefix);
    tell_rules(*command);
    return {command, [options] { return command_energy(*options), after_output(exit_done); }};
}

Command add_check(CLI::App& app)
{
    const auto options = std::make_shared<CheckOptions>();
    CLI::App* command = app.add_subcommand("check", "everything but the steps: what was read, plan, memory, forecast");
    add_input_options(*command, options->input);
    add_engine_options(*command, options->engine.numerics, options->engine.placement);
    tell_rules(*command);
    return {command, [options] { return command_check(*options), after_output(exit_done); }};
}

Command add_convert(CLI::App& app)
{
    const auto options = std::make_shared<ConvertOptions>();
    CLI::App* command = app.add_subcommand("convert", "write what was read as one folder of .top, .gro and .mdp");
    add_input_options(*command, options->input);
    for (const char* const of_other_start : {"--time", "-t"}) { command->remove_option(command->get_option(of_other_start)); }
    command->add_option("-d", options->folder, "folder to write into")->required()->type_name("DIR");
    command->add_flag("--force", options->force, "write over files that exist");
    return {command, [options] { return command_convert(*options), after_output(exit_done); }};
}

Command add_generate(CLI::App& app)
{
    const auto options = std::make_shared<GenerateOptions>();
    CLI::App* generate = app.add_subcommand("generate", "write benchmark inputs");
    generate->require_subcommand(1);
    CLI::App* command = generate->add_subcommand("ethanol-water", "the water/ethanol series, 3 000 to 46 million atoms");
    command->add_option("--atoms", options->series.atoms, "number of atoms, a size of the series")->default_val(45000);
    command->add_option("-d", options->folder, "folder to write conf.gro, topol.top, md.mdp into")
        ->default_val(".")
        ->type_name("DIR");
    command->add_flag("--force", options->force, "write over files that exist");
    add_electrostatics(*command, options->series.electrostatics);
    command->add_option("--seed", options->series.seed, "seed of the velocities")->default_val(2026);
    return {command, [options] { return command_generate(*options), after_output(exit_done); }};
}

Command add_tune(CLI::App& app)
{
    const auto options = std::make_shared<TuneOptions>();
    CLI::App* command = app.add_subcommand("tune", "try ways of running an input for a minute: which is fastest here");
    add_input_options(*command, options->input);
    add_numerics_options(*command, options->engine.numerics);
    RunPlacement& placement = options->engine.placement;
    add_device_option(*command, placement.device);
    command->add_option("--gpus", placement.gpus, "GPUs, at most (default: all)")->check(CLI::Range(1, 64));
    command->add_option("--threads", placement.threads, "threads of all ranks, at most; 0: the cores")
        ->default_val(0)
        ->check(CLI::Range(0, 1024));
    command->add_option("--seconds", options->seconds, "how long, in all")->default_val(60)->check(CLI::Range(1.0, 86400.0));
    command->add_option("--json", options->json, "append JSON lines to this file")->type_name("FILE");
    return {command, [options] { return command_tune(*options), after_output(exit_done); }};
}

Command add_report(CLI::App& app)
{
    const auto options = std::make_shared<ReportOptions>();
    CLI::App* command = app.add_subcommand("report", "a page of what a run has left: PREFIX.report.html; of two, side by side");
    command->add_option("PREFIX", options->prefixes, "what -o of the run was; two to compare")->required()->expected(1, 2);
    command->add_flag("--json", options->json, "print the numbers as JSON on standard output, in place of the page");
    return {command, [options] { return command_report(*options), after_output(exit_done); }};
}

Command add_analyse(CLI::App& app)
{
    const auto options = std::make_shared<AnalyseOptions>();
    CLI::App* command = app.add_subcommand("analyse", "what limits a step, from a timeline of run --trace; two are compared");
    command->add_option("TRACE", options->traces, "what --trace of a run has written; two to compare")
        ->required()
        ->expected(1, 2)
        ->type_name("FILE");
    command->add_flag("--json", options->json, "print the numbers as JSON on standard output, in place of tables");
    command->add_option("--html", options->page, "write a page with figures and all tables")->type_name("FILE");
    return {command, [options] { return command_analyse(*options), after_output(exit_done); }};
}

Command add_watch(CLI::App& app)
{
    const auto prefix = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("watch", "show how far a run is, until it ends");
    command->add_option("PREFIX", *prefix, "what -o of the run was")->required();
    return {command, [prefix] { return after_output(command_watch(*prefix) == RunEnd::Stopped ? exit_stopped : exit_done); }};
}

Command add_info(CLI::App& app)
{
    const auto options = std::make_shared<InfoOptions>();
    CLI::App* command = app.add_subcommand("info", "what is in a file, of every format that is read or written");
    command->add_option("FILE", options->file, "the file")->required();
    command->add_flag("--json", options->json, "as JSON");
    return {command, [options] { return command_info(*options), after_output(exit_done); }};
}

Command add_cite(CLI::App& app)
{
    const auto prefix = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("cite", "what to cite of a run, or of all methods: text, then BibTeX");
    command->add_option("PREFIX", *prefix, "what -o of the run was (default: all methods)");
    return {command, [prefix] { return command_cite(*prefix), after_output(exit_done); }};
}

Command add_gmx_args(CLI::App& app)
{
    const auto options = std::make_shared<GmxArgsOptions>();
    CLI::App* command = app.add_subcommand("gmx-args", "what a command line of grompp or mdrun is called here");
    command->add_flag("--table", options->table, "print the table of all their options, in Markdown");
    command->prefix_command(); // words with dashes are options of GROMACS, not of this program
    return {command, [options, command] {
                options->words = command->remaining();
                return command_gmx_args(*options), after_output(exit_done);
            }};
}

// Throws CLI::ParseError if `parhelion run` would not accept these words.
void expect_to_be_taken(std::vector<std::string> words)
{
    CLI::App app;
    add_run(app);
    std::reverse(words.begin(), words.end()); // CLI expects the words in reverse order
    words.emplace_back("run");
    app.parse(words);
}

Command add_jobscript(CLI::App& app)
{
    const auto options = std::make_shared<JobscriptOptions>();
    CLI::App* command =
        app.add_subcommand("jobscript", "print a script for Slurm's sbatch that continues by itself until a run is done");
    command->add_option("--nodes", options->nodes, "nodes")->default_val(1)->check(CLI::Range(1, most_ranks));
    command->add_option("--gpus", options->gpus, "GPUs of each node (default: none, a run on CPUs)")->check(CLI::Range(1, 64));
    command->add_option("--cpus", options->cpus, "cores of each process (default: with GPUs what Slurm gives, else whole nodes)")
        ->check(CLI::Range(1, 1024));
    const CLI::Validator duration(
        [](const std::string& text) {
            const bool is_one = !text.empty() && text.find_first_not_of("0123456789:-") == std::string::npos;
            return is_one ? "" : text + " is no time as Slurm writes it, as 24:00:00 or 2-12:00:00";
        },
        "");
    command->add_option("--time", options->time, "of a part of the run")
        ->default_val("24:00:00")
        ->type_name("TIME")
        ->check(duration);
    add_prefix_option(*command, options->prefix);
    command->add_option("--partition", options->partition, "Slurm's partition")->type_name("NAME");
    command->add_option("--account", options->account, "Slurm's account")->type_name("NAME");
    command->add_option("run", options->run, "behind --: more options for parhelion run, as -- -f npt.mdp --ns 100");
    command->callback([options] { expect_to_be_taken(options->run); });
    return {command, [options] { return command_jobscript(*options), after_output(exit_done); }};
}

Command add_completion(CLI::App& app)
{
    const auto shell = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("completion", "print the completion of commands and options for a shell");
    command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
    return {command, [&app, shell] { return fmt::print("{}", completion_script(app, *shell)), after_output(exit_done); }};
}

Command add_man(CLI::App& app)
{
    CLI::App* command = app.add_subcommand("man", "print the man page, as in parhelion man | man -l -");
    return {command, [&app] { return fmt::print("{}", man_page(app, version_text())), after_output(exit_done); }};
}

// Opens closed standard streams. Otherwise a file could get such a stream's number, and printed text would go into the file.
void occupy_standard_streams()
{
    int descriptor = 0;
    while (descriptor >= 0 && descriptor <= STDERR_FILENO) { descriptor = ::open("/dev/null", O_RDWR); }
    if (descriptor >= 0) { ::close(descriptor); }
}

int run_command(const std::function<int()>& command)
{
    try
    {
        return command();
    }
    catch (...)
    {
        const Failure failure = failure_of(std::current_exception());
        say_fitted(stderr, failure.text + "\n");
        if (!failure.ends_at_once) { return failure.code; }
        std::fflush(nullptr);
        std::_Exit(failure.code);
    }
}

} // namespace

int parhelion::after_output(int code)
{
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) { return code; }
    throw SystemError(std::string("standard output: ") + std::strerror(errno));
}

void parhelion::end_at_once_by(const std::exception_ptr& error)
{
    std::_Exit(run_command([&]() -> int { std::rethrow_exception(error); }));
}

int main(int argc, char** argv)
{
    occupy_standard_streams();
    std::signal(SIGXFSZ, SIG_IGN); // a file that exceeds a size limit is then an ordinary error
    CLI::App app{"Parhelion: molecular dynamics from GROMACS inputs."};
    app.formatter(std::make_shared<HelpThatFits>()); // subcommands inherit it
    app.set_version_flag("--version", version_text());
    app.require_subcommand(1);
    std::vector<Command> commands = {add_run(app),      add_energy(app), add_check(app),  add_convert(app),
                                     add_generate(app), add_tune(app),   add_report(app), add_analyse(app),
                                     add_watch(app),    add_info(app),   add_cite(app)};
    commands.emplace_back(app.add_subcommand("doctor", "what this machine has and what would be used"),
                          [] { return command_doctor(), after_output(exit_done); });
    commands.emplace_back(app.add_subcommand("docs", "open the manual that was installed with this program, or say where it is"),
                          [] { return command_docs(), after_output(exit_done); });
    for (const auto add : {add_gmx_args, add_jobscript, add_completion, add_man}) { commands.push_back(add(app)); }
    for (Command& command : add_bench_commands(app)) { commands.push_back(std::move(command)); }

    if (const std::string unknown = unknown_command(command_names(app), argc > 1 ? argv[1] : "-"); !unknown.empty())
    {
        say(stderr, "{}\n", unknown);
        return exit_usage;
    }
    for (int i = 2; i < argc && reads_input(argv[1]); ++i)
    {
        if (const std::string advice = advice_on_option(argv[i]); !advice.empty())
        {
            say(stderr, "{} is not an option here. {}\n", argv[i], advice);
            return exit_usage;
        }
    }
    try
    {
        app.parse(argc, argv);
    }
    catch (const CLI::ParseError& e)
    {
        return app.exit(e) == 0 ? exit_done : exit_usage;
    }
    catch (const InputError& e) // an option's value was refused with an id
    {
        say(stderr, "{}\n", e.what());
        return exit_usage;
    }
    const auto asked_for = std::find_if(commands.begin(), commands.end(), [](const Command& c) { return c.first->parsed(); });
    return run_command(asked_for->second);
}
