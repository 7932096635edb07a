// SPDX-License-Identifier: Apache-2.0
// The program: options in, one subcommand run, errors turned into one screen of text and an exit code.
#include "base/error.hpp"
#include "commands.hpp"
#include "io/text.hpp"
#include "say.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <unistd.h>

using namespace parhelion;

namespace {

// Exit codes are part of the command line's contract.
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

const CLI::Validator warning_id(
    [](const std::string& text) {
        const bool is_one = text.size() == 4 && text[0] == 'W' && text.find_first_not_of("0123456789", 1) == std::string::npos;
        return is_one ? "" : text + " is no warning's id, such as W012";
    },
    "");

const CLI::Validator file_prefix(
    [](const std::string& text) {
        const bool is_one = !text.empty() && text.back() != '/';
        return is_one ? "" : "'" + text + "' names a folder: say what names of files begin with, too, as in '" + text + "md'";
    },
    "");

void add_input_options(CLI::App& command, InputOptions& input)
{
    command.add_option("-f", input.files.mdp, "run parameters (.mdp)")->default_val("md.mdp")->type_name("FILE");
    command.add_option("-c", input.files.structure, "start configuration (.gro)")->default_val("conf.gro")->type_name("FILE");
    command.add_option("-p", input.files.topology, "topology (.top)")->default_val("topol.top")->type_name("FILE");
    command.add_option("-r", input.files.restraint_reference, "reference of position restraints (.gro); default: the start")
        ->type_name("FILE");
    command.add_option("-n", input.files.index, "index groups (.ndx)")->type_name("FILE");
    command.add_option("-I,--include", input.files.include_paths, "folder to search for #include files")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory);
    command.add_option("--allow", input.allowed, "accept a warning by its id (repeatable)")->type_name("W012")->check(warning_id);
}

void add_prefix_option(CLI::App& command, std::string& prefix)
{
    command.add_option("-o", prefix, "what the names of all output files begin with")
        ->default_val("md")
        ->type_name("PREFIX")
        ->check(file_prefix);
}

// CLI's own ranges take what is not a number.
const CLI::Validator amount(
    [](const std::string& text) {
        const std::optional<double> value = to_real(text);
        return value && *value >= 0 && *value <= 1e15 ? "" : text + " is not a number from 0 to 1e15";
    },
    "");

// What to say to users of other programs. Read letter by letter, -nt would be an index file t.
std::string advice_on(std::string_view option)
{
    constexpr std::string_view continues = "The same command continues a run by itself.";
    static const std::map<std::string_view, std::string_view> advice = {
        {"-deffnm", "Use -o PREFIX for output, and -f, -c, -p for input."},
        {"-nt", "Use --threads."},
        {"-ntomp", "Use --threads."},
        {"-ntmpi", "Use --ranks."},
        {"-nsteps", "Use --steps."},
        {"-maxh", "Use --hours."},
        {"-cpt", "Use --checkpoint."},
        {"-cpi", continues},
        {"-append", continues},
        {"-noappend", "Use another prefix (-o)."},
        {"-gpu_id", "Use --gpus for how many."},
    };
    const auto found = advice.find(option);
    return found == advice.end() ? "" : std::string(found->second);
}

const std::vector<std::string> halo_methods(halo_method_names.begin(), halo_method_names.end());

std::vector<std::string> halo_methods_of_cpus()
{
    std::vector<std::string> names;
    std::copy_if(halo_methods.begin(), halo_methods.end(), std::back_inserter(names),
                 [](const std::string& name) { return runs_on_cpus(halo_method(name)); });
    return names;
}

void add_comm_timeout(CLI::App& command, double& seconds)
{
    command.add_option("--comm-timeout", seconds, "longest wait for another rank")
        ->default_str("60s")
        ->transform(
            CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}}, CLI::AsNumberWithUnit::UNIT_REQUIRED))
        ->check(CLI::Range(0.001, 1e6))
        ->type_name("60s|5min");
}

void add_engine_options(CLI::App& command, EngineOptions& engine)
{
    command.add_option("--device", engine.device, "auto, cpu or gpu")
        ->default_val("auto")
        ->check(CLI::IsMember({"auto", "cpu", "gpu"}));
    command.add_option("--gpus", engine.gpus, "GPUs of this host, at most; default: as many as make the run faster")
        ->check(CLI::Range(1, 64));
    command.add_option("--precision", engine.precision, "mixed or double")
        ->default_val("mixed")
        ->check(CLI::IsMember({"mixed", "double"}));
    command.add_flag("--reproducible", engine.reproducible,
                     "order-independent sums: the same bits for any number of threads and ranks");
    command
        .add_option("--ranks", engine.ranks,
                    "parts that the box is divided into, each with threads or a GPU of its own; more ranks than GPUs share them")
        ->default_val(1)
        ->check(CLI::Range(1, 1024));
    command.add_option("--threads", engine.threads, "threads of each rank; 0: the cores, shared out")
        ->default_val(0)
        ->check(CLI::Range(0, 1024));
    command.add_option("--grid", engine.grid, "how the box is divided; default: the grid with the least halo")
        ->type_name("2x2x1");
    command
        .add_option("--halo", engine.halo,
                    "how ranks exchange halos: staged-host, staged-dma (GPUs only), staged-fused or direct")
        ->default_val("direct")
        ->check(CLI::IsMember(halo_methods));
    add_comm_timeout(command, engine.comm_timeout_s);
}

// A file must not get the number of a standard stream that is closed: what is printed would go into it.
void occupy_standard_streams()
{
    int descriptor = 0;
    while (descriptor >= 0 && descriptor <= STDERR_FILENO) { descriptor = ::open("/dev/null", O_RDWR); }
    if (descriptor >= 0) { ::close(descriptor); }
}

int run_command(const std::function<int()>& command)
{
    const auto complain = [](const std::string& text, int code) {
        say(stderr, "{}\n", text);
        return code;
    };
    try
    {
        return command();
    }
    catch (const InputError& e)
    {
        return complain(e.what(), exit_input);
    }
    catch (const PhysicsError& e)
    {
        return complain(e.what(), exit_physics);
    }
    catch (const CommError& e)
    {
        std::fflush(nullptr);
        end_at_once(e.what());
    }
    catch (const SystemError& e)
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

void parhelion::end_at_once(const std::string& sentence)
{
    say(stderr, "E601 {}\n", sentence);
    std::_Exit(exit_system);
}

int main(int argc, char** argv)
{
    occupy_standard_streams();
    CLI::App app{"Parhelion: molecular dynamics from GROMACS inputs."};
    app.set_version_flag("--version", version_text());
    app.require_subcommand(1);

    RunOptions run;
    CLI::App* run_app = app.add_subcommand("run", "read, check, plan, simulate");
    add_input_options(*run_app, run.input);
    add_engine_options(*run_app, run.engine);
    add_prefix_option(*run_app, run.prefix);
    run_app->add_option("--steps", run.steps, "number of steps (default: nsteps of the .mdp)")->check(amount);
    run_app->add_option("--ns", run.ns, "simulated time in ns, instead of --steps")->excludes("--steps")->check(amount);
    run_app->add_option("--hours", run.hours, "stop after this wall time")->check(amount);
    run_app->add_option("--checkpoint", run.checkpoint_s, "time between checkpoints")
        ->default_str("15min")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}},
                                          CLI::AsNumberWithUnit::UNIT_REQUIRED))
        ->check(CLI::Range(0.0, 1e9))
        ->type_name("30s|15min|2h");
    run_app->add_option("--trace", run.trace, "write when what ran in the latest steps, for ui.perfetto.dev")->type_name("FILE");
    run_app->add_flag("--new", run.fresh, "start afresh, even if PREFIX.cpt says how to continue");
    run_app->add_flag("--json", run.json, "print the report as JSON on standard output, and all else on standard error");
    run_app->add_flag("-q,--quiet", run.quiet, "no progress");
    run_app->add_flag("-v,--verbose", run.verbose, "notes as well as warnings");

    EnergyOptions energy;
    CLI::App* energy_app = app.add_subcommand("energy", "one force evaluation: PREFIX.energy.json, PREFIX.forces.npy");
    add_input_options(*energy_app, energy.input);
    add_engine_options(*energy_app, energy.engine);
    add_prefix_option(*energy_app, energy.prefix);

    CheckOptions check;
    CLI::App* check_app = app.add_subcommand("check", "everything but the steps: what was read, plan, memory, forecast");
    add_input_options(*check_app, check.input);
    add_engine_options(*check_app, check.engine);

    GenerateOptions generate;
    CLI::App* generate_app = app.add_subcommand("generate", "write benchmark inputs");
    generate_app->require_subcommand(1);
    CLI::App* series_app = generate_app->add_subcommand("ethanol-water", "the water/ethanol series, 3 000 to 46 million atoms");
    series_app->add_option("--atoms", generate.series.atoms, "number of atoms, a size of the series")->default_val(45000);
    series_app->add_option("-d", generate.folder, "folder to write conf.gro, topol.top, md.mdp into")
        ->default_val(".")
        ->type_name("DIR");
    series_app->add_flag("--force", generate.force, "write over files that exist");
    series_app->add_option("--electrostatics", generate.electrostatics, "rf or pme")
        ->default_val("rf")
        ->check(CLI::IsMember({"rf", "pme"}));
    series_app->add_option("--seed", generate.series.seed, "seed of the velocities")->default_val(2026);

    CLI::App* doctor_app = app.add_subcommand("doctor", "what this machine has and what would be used");

    BenchOptions bench;
    CLI::App* bench_app =
        app.add_subcommand("bench", "built-in measurements: whole steps by phase, and on a GPU by kernel");
    bench_app->add_option("--atoms", bench.atoms, "sizes of the ethanol-water series")
        ->default_val(std::vector<std::int64_t>{45000});
    bench_app->add_option("--steps", bench.steps, "steps to time")->default_val(300)->check(CLI::Range(1, 1000000000));
    bench_app->add_option("--json", bench.json, "append JSON lines to this file")->type_name("FILE");
    add_engine_options(*bench_app, bench.engine);
    BenchHaloOptions bench_halo;
    CLI::App* bench_halo_app = bench_app->add_subcommand("halo", "the halo exchange by itself: coordinates out, forces back");
    bench_halo_app->add_option("--ranks", bench_halo.ranks, "numbers of ranks")
        ->default_val(std::vector<int>{2, 4, 8})
        ->check(CLI::Range(2, 1024));
    bench_halo_app->add_option("--halo-atoms", bench_halo.halo_atoms, "halo atoms of a rank")
        ->default_val(std::vector<std::int64_t>{1000, 10000, 100000})
        ->check(CLI::Range(1, 10000000));
    bench_halo_app->add_option("--halo", bench_halo.methods, "methods")
        ->default_val(halo_methods_of_cpus())
        ->check(CLI::IsMember(halo_methods_of_cpus()));
    bench_halo_app->add_option("--threads", bench_halo.threads, "threads of each rank")
        ->default_val(1)
        ->check(CLI::Range(1, 1024));
    bench_halo_app->add_option("--exchanges", bench_halo.exchanges, "exchanges to time")
        ->default_val(200)
        ->check(CLI::Range(10, 1000000));
    bench_halo_app->add_option("--json", bench_halo.json, "append JSON lines to this file")->type_name("FILE");
    BenchCommOptions bench_comm;
    CLI::App* bench_comm_app = bench_app->add_subcommand("comm", "how fast GPUs talk: signals, messages, stores, sums");
    bench_comm_app->add_option("--gpus", bench_comm.gpus, "numbers of GPUs; one GPU carries two ranks (default: all)")
        ->check(CLI::Range(1, 64));
    bench_comm_app->add_option("--repetitions", bench_comm.repetitions, "of each timing, of which the least is reported")
        ->default_val(10)
        ->check(CLI::Range(1, 1000));
    bench_comm_app->add_option("--json", bench_comm.json, "append JSON lines to this file")->type_name("FILE");
    BenchScalingOptions bench_scaling;
    CLI::App* bench_scaling_app = bench_app->add_subcommand("scaling", "whole steps by size, number of GPUs and halo method");
    bench_scaling_app->add_option("--atoms", bench_scaling.atoms, "sizes of the ethanol-water series")
        ->default_val(std::vector<std::int64_t>{45000, 90000, 180000, 360000, 720000});
    bench_scaling_app->add_option("--gpus", bench_scaling.gpus, "numbers of GPUs")
        ->default_val(std::vector<int>{1, 2, 4})
        ->check(CLI::Range(1, 64));
    bench_scaling_app->add_option("--halo", bench_scaling.methods, "methods")
        ->default_val(std::vector<std::string>{"direct"})
        ->check(CLI::IsMember(halo_methods));
    bench_scaling_app->add_option("--steps", bench_scaling.steps, "steps to time, after half as many")
        ->default_val(5000)
        ->check(CLI::Range(1, 1000000000));
    add_comm_timeout(*bench_scaling_app, bench_scaling.comm_timeout_s);
    bench_scaling_app->add_option("--json", bench_scaling.json, "append JSON lines to this file")->type_name("FILE");

    for (int i = 2; i < argc && std::string_view(argv[1]) == "run"; ++i)
    {
        if (const std::string advice = advice_on(argv[i]); !advice.empty())
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

    if (*run_app)
    {
        return run_command([&] { return command_run(run) == RunEnd::Stopped ? exit_stopped : exit_done; });
    }
    if (*energy_app)
    {
        return run_command([&] { return command_energy(energy), exit_done; });
    }
    if (*check_app)
    {
        return run_command([&] { return command_check(check), exit_done; });
    }
    if (*series_app)
    {
        generate.series.electrostatics =
            generate.electrostatics == "pme" ? SeriesElectrostatics::Pme : SeriesElectrostatics::ReactionField;
        return run_command([&] { return command_generate(generate), exit_done; });
    }
    if (*doctor_app)
    {
        return run_command([] { return command_doctor(), exit_done; });
    }
    if (*bench_halo_app)
    {
        return run_command([&] { return command_bench_halo(bench_halo), exit_done; });
    }
    if (*bench_comm_app)
    {
        return run_command([&] { return command_bench_comm(bench_comm), exit_done; });
    }
    if (*bench_scaling_app)
    {
        return run_command([&] { return command_bench_scaling(bench_scaling), exit_done; });
    }
    return run_command([&] { return command_bench(bench), exit_done; });
}
