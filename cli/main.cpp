// SPDX-License-Identifier: Apache-2.0
// The program: parses options, runs one subcommand, and turns errors into one screen of text and an exit code.
#include "base/error.hpp"
#include "commands.hpp"
#include "completion.hpp"
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

// Exit codes are a documented part of the command line.
enum ExitCode
{
    exit_done = 0,
    exit_internal = 1,
    exit_usage = 2,
    exit_stopped = 3,
    exit_input = 4,
    exit_physics = 5,
    exit_system = 6
};

std::vector<std::string_view> command_names(const CLI::App& app)
{
    std::vector<std::string_view> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    {
        names.push_back(command->get_name());
    }
    return names;
}

// Returns the exit code after all printed output was written. A run that leaves files and prints no report does not need this.
int after_output(int code)
{
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) { return code; }
    throw SystemError(std::string("standard output: ") + std::strerror(errno));
}

// Formats the help in lines that fit into the terminal's width.
struct HelpThatFits : CLI::Formatter
{
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override
    {
        return fitted(CLI::Formatter::make_help(app, std::move(name), mode), stdout);
    }
};

// A subcommand, and the function that runs it and returns its exit code.
using Command = std::pair<CLI::App*, std::function<int()>>;

Command add_run(CLI::App& app)
{
    const auto options = std::make_shared<RunOptions>();
    CLI::App* command = app.add_subcommand("run", "read, check, plan, simulate");
    add_input_options(*command, options->request.input);
    add_engine_options(*command, options->request.numerics, options->request.placement);
    add_prefix_option(*command, options->request.output.prefix);
    add_connection_options(*command, *options);
    add_imd_options(*command, *options);
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
    command->add_flag("--new", output.fresh, "start afresh, even if PREFIX.cpt says how to continue");
    command->add_flag("--json", options->json, "print the report as JSON on standard output, and all else on standard error");
    command->add_flag("-q,--quiet", options->quiet, "no progress and no messages but warnings");
    command->add_flag("-v,--verbose", options->verbose, "notes as well as warnings");
    options->request.end_process = end_at_once_by;
    tell_rules(*command);
    return {command, [options] {
                const int code = command_run(*options) == RunEnd::Stopped ? exit_stopped : exit_done;
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

Command add_bench(CLI::App& app)
{
    const auto options = std::make_shared<BenchOptions>();
    CLI::App* command = app.add_subcommand("bench", "built-in measurements: whole steps by phase, and on a GPU by kernel");
    command->add_option("--atoms", options->atoms, "sizes of the ethanol-water series")
        ->default_val(std::vector<std::int64_t>{45000});
    add_electrostatics(*command, options->electrostatics);
    command->add_option("--steps", options->steps, "steps to time")->default_val(300)->check(CLI::Range(1, 1000000000));
    command->add_option("--json", options->json, "append JSON lines to this file")->type_name("FILE");
    add_engine_options(*command, options->engine.numerics, options->engine.placement);
    return {command, [options] { return command_bench(*options), after_output(exit_done); }};
}

Command add_bench_halo(CLI::App& app)
{
    const auto options = std::make_shared<BenchHaloOptions>();
    CLI::App* command = app.add_subcommand("halo", "the halo exchange by itself: coordinates out, forces back");
    CLI::Option* ranks = command->add_option("--ranks", options->ranks, "numbers of ranks")
                             ->default_val(std::vector<int>{2, 4, 8})
                             ->check(CLI::Range(2, 1024));
    CLI::Option* nodes = add_node_shapes(*command, options->nodes)->excludes(ranks);
    for (CLI::Option* option : add_nic_options(*command, options->nic)) { option->needs(nodes); }
    command
        ->add_option("--proxies", options->proxies,
                     "of --nodes: where the threads are that carry messages: own (a core each), polling or sleeping (on cores of "
                     "threads that compute)")
        ->default_val(std::vector<std::string>{"own"})
        ->check(CLI::IsMember({"own", "polling", "sleeping"}));
    command->add_option("--halo-atoms", options->halo_atoms, "halo atoms of a rank")
        ->default_val(std::vector<std::int64_t>{1000, 10000, 100000})
        ->check(CLI::Range(1, 10000000));
    add_halo_methods(*command, options->methods, {HaloMethod::StagedHost, HaloMethod::StagedFused, HaloMethod::Direct},
                     runs_on_cpus);
    command->add_option("--threads", options->threads, "threads of each rank")->default_val(1)->check(CLI::Range(1, 1024));
    command->add_option("--exchanges", options->exchanges, "exchanges to time")->default_val(200)->check(CLI::Range(10, 1000000));
    command->add_option("--json", options->json, "append JSON lines to this file")->type_name("FILE");
    return {command, [options] { return command_bench_halo(*options), after_output(exit_done); }};
}

Command add_bench_comm(CLI::App& app)
{
    const auto options = std::make_shared<BenchCommOptions>();
    CLI::App* command = app.add_subcommand("comm", "how fast GPUs talk: signals, messages, stores, sums (needs a GPU)");
    command->add_option("--gpus", options->gpus, "numbers of GPUs; one GPU carries two ranks (default: all)")
        ->check(CLI::Range(1, 64));
    command->add_option("--repetitions", options->repetitions, "of each timing, of which the least is reported")
        ->default_val(10)
        ->check(CLI::Range(1, 1000));
    command->add_option("--json", options->json, "append JSON lines to this file")->type_name("FILE");
    return {command, [options] { return command_bench_comm(*options), after_output(exit_done); }};
}

Command add_bench_scaling(CLI::App& app)
{
    const auto options = std::make_shared<BenchScalingOptions>();
    CLI::App* command = app.add_subcommand("scaling", "whole steps by size, number of GPUs and halo method (needs GPUs)");
    command->add_option("--atoms", options->atoms, "sizes of the ethanol-water series")
        ->default_val(std::vector<std::int64_t>{45000, 90000, 180000, 360000, 720000});
    add_electrostatics(*command, options->electrostatics);
    CLI::Option* gpus = command->add_option("--gpus", options->gpus, "numbers of GPUs (default: powers of two, and all)")
                            ->check(CLI::Range(1, 64));
    add_grids(*command, options->grids)->excludes(gpus);
    add_halo_methods(*command, options->methods, {HaloMethod::Direct}, [](HaloMethod) { return true; });
    add_mesh_choices(*command, options->pme);
    command
        ->add_option("--steps", options->steps,
                     "steps of a sample; of more than 1000 a tenth, 500 to 20 000, goes by before time counts")
        ->default_val(5000)
        ->check(CLI::Range(1, 1000000000));
    command->add_option("--repetitions", options->repetitions, "samples of each timing: their median, least and largest are told")
        ->default_val(5)
        ->check(CLI::Range(1, 1000));
    add_comm_timeout(*command, options->comm_timeout);
    CLI::Option* json = command->add_option("--json", options->json, "append JSON lines to this file")->type_name("FILE");
    command
        ->add_option("--plot", options->plot,
                     "draw what the file of --json holds: PREFIX-rate and PREFIX-work, .svg and .png (needs matplotlib)")
        ->type_name("PREFIX")
        ->needs(json);
    return {command, [options] { return command_bench_scaling(*options), after_output(exit_done); }};
}

Command add_bench_standard(CLI::App& app)
{
    const auto options = std::make_shared<BenchStandardOptions>();
    CLI::App* command = app.add_subcommand("standard", "the same systems on every machine, in the words of OpenMM's benchmark");
    command->add_option("--test", options->tests, "names of systems, as water-pme-45000 (default: all)")->type_name("NAME");
    command->add_option("--jac", options->jac, "folder with conf.gro, topol.top and md.mdp of JAC, for it and boxes of it")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory);
    add_device_option(*command, options->device);
    command->add_option("--gpus", options->gpus, "numbers of GPUs (default: powers of two, and all)")->check(CLI::Range(1, 64));
    command->add_option("--threads", options->threads, "on CPUs; 0: the cores")->default_val(0)->check(CLI::Range(0, 1024));
    add_precision_option(*command, options->precision);
    CLI::Option* seconds = command->add_option("--seconds", options->seconds, "about how long a window of steps takes")
                               ->default_val(10)
                               ->check(CLI::Range(0.01, 3600.0));
    command->add_option("--repetitions", options->repetitions, "windows of each system, whose median is told")
        ->default_val(3)
        ->check(CLI::Range(1, 1000));
    command
        ->add_flag_callback(
            "--short", [options] { options->is_short = true, options->seconds = 0.05; },
            "the smallest systems for a moment, to see that it works")
        ->excludes(seconds);
    command->add_option("--json", options->json, "append JSON lines to this file")->type_name("FILE");
    return {command, [options] { return command_bench_standard(*options), after_output(exit_done); }};
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
    const auto complain = [](const std::string& text, int code) {
        say_fitted(stderr, text + "\n");
        return code;
    };
    try
    {
        return command();
    }
    catch (const InputError& e)
    {
        const bool is_usage = e.id() <= "E010" && e.id() != "E001"; // an error in the command line
        return complain(e.what(), is_usage ? exit_usage : exit_input);
    }
    catch (const PhysicsError& e)
    {
        return complain(e.what(), exit_physics);
    }
    catch (const CommError& e)
    {
        std::fflush(nullptr); // blocked threads or GPUs may delay a regular end
        std::_Exit(complain(fmt::format("E601 {}", e.what()), exit_system));
    }
    catch (const SystemError& e)
    {
        return complain(fmt::format("E601 {}", e.what()), exit_system);
    }
    catch (const std::system_error& e) // from files, or from a thread that could not be started
    {
        return complain(fmt::format("E601 {}", e.what()), exit_system);
    }
    catch (const std::bad_alloc&)
    {
        return complain("E602 out of memory (the system is larger than this machine's memory).", exit_system);
    }
    catch (const std::exception& e)
    {
        return complain(fmt::format("internal error: {}", e.what()), exit_internal);
    }
}

} // namespace

void parhelion::end_at_once_by(const std::exception_ptr& error)
{
    std::_Exit(run_command([&]() -> int { std::rethrow_exception(error); }));
}

int main(int argc, char** argv)
{
    occupy_standard_streams();
    std::signal(SIGXFSZ, SIG_IGN); // a file that exceeds a size limit is then an ordinary error
    CLI::App app{"Parhelion: molecular dynamics from GROMACS inputs."};
    app.formatter(std::make_shared<HelpThatFits>()); // it applies to subcommands as well
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
    const Command bench = add_bench(app);
    const std::vector<CLI::Option*> of_bench =
        bench.first->get_options([](const CLI::Option* o) { return !o->check_name("--help"); });
    for (const auto add : {add_bench_halo, add_bench_comm, add_bench_scaling, add_bench_standard})
    {
        commands.push_back(add(*bench.first));
        for (CLI::Option* option : of_bench) { commands.back().first->excludes(option); } // the option would have no effect
    }
    commands.push_back(bench); // last, because its subcommands take precedence over it

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
