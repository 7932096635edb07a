// SPDX-License-Identifier: Apache-2.0
// The program: options in, one subcommand run, errors turned into one screen of text and an exit code.
#include "base/error.hpp"
#include "commands.hpp"
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

std::vector<std::string_view> command_names(const CLI::App& app)
{
    std::vector<std::string_view> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    {
        names.push_back(command->get_name());
    }
    return names;
}

// Of what has been printed, all is where it should be. A run leaves files and does not need this, unless it prints its report.
int after_output(int code)
{
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) { return code; }
    throw SystemError(std::string("standard output: ") + std::strerror(errno));
}

// A subcommand, and what it does and exits with.
using Command = std::pair<CLI::App*, std::function<int()>>;

Command add_run(CLI::App& app)
{
    const auto options = std::make_shared<RunOptions>();
    CLI::App* command = app.add_subcommand("run", "read, check, plan, simulate");
    add_input_options(*command, options->input);
    add_engine_options(*command, options->engine);
    add_prefix_option(*command, options->prefix);
    command->add_option("--processes", options->processes, "processes of this host that the ranks are spread over (default: one)")
        ->check(CLI::Range(1, most_ranks));
    command
        ->add_option(
            "--transport", options->transport,
            "what carries messages between processes that a launcher has started: tcp; by the launcher's library mpi "
            "(messages), mpi-rma (shared windows on a host, MPI_Put between hosts), mpi-put (MPI_Put alone) or openshmem; "
            "between GPUs of --processes: peer (pages that processes pass to each other) or nvshmem (its heap, and its puts "
            "where NVLink ends), also between hosts; "
            "nic-emulation (an emulated network) between the virtual nodes of --nodes; auto: tcp or peer")
        ->capture_default_str()
        ->check(CLI::IsMember(std::vector<std::string>(transport_names.begin(), transport_names.end())));
    command
        ->add_option(
            "--nodes", options->nodes,
            "with --transport nic-emulation: virtual nodes, and the ranks of each; with nvshmem: as if NVLink ended there")
        ->type_name("2x4");
    add_nic_options(*command, options->nic);
    command->add_flag("--trust-network", options->trust_network,
                      "of processes that a launcher has started: do not seal what they send by TCP, as nobody else can write to "
                      "the wire");
    command->add_option("--steps", options->steps, "number of steps, as 5000 or 5e3 (default: nsteps of the .mdp)")
        ->transform(whole_number)
        ->check(amount);
    command->add_option("--ns", options->ns, "simulated time in ns, instead of --steps")->excludes("--steps")->check(amount);
    command->add_option("--hours", options->hours, "stop after this wall time")->check(amount);
    command->add_option("--checkpoint", options->checkpoint_s, "time between checkpoints")
        ->default_str("15min")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}},
                                          CLI::AsNumberWithUnit::UNIT_REQUIRED))
        ->check(CLI::Range(0.0, 1e9))
        ->type_name("30s|15min|2h");
    command->add_option("--trace", options->trace, "write a timeline of the latest steps, for ui.perfetto.dev")
        ->type_name("FILE");
    command->add_flag("--new", options->fresh, "start afresh, even if PREFIX.cpt says how to continue");
    command->add_flag("--json", options->json, "print the report as JSON on standard output, and all else on standard error");
    command->add_flag("-q,--quiet", options->quiet, "no progress and no messages but warnings");
    command->add_flag("-v,--verbose", options->verbose, "notes as well as warnings");
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
    add_engine_options(*command, options->engine);
    add_prefix_option(*command, options->prefix);
    return {command, [options] { return command_energy(*options), after_output(exit_done); }};
}

Command add_check(CLI::App& app)
{
    const auto options = std::make_shared<CheckOptions>();
    CLI::App* command = app.add_subcommand("check", "everything but the steps: what was read, plan, memory, forecast");
    add_input_options(*command, options->input);
    add_engine_options(*command, options->engine);
    return {command, [options] { return command_check(*options), after_output(exit_done); }};
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

Command add_bench(CLI::App& app)
{
    const auto options = std::make_shared<BenchOptions>();
    CLI::App* command = app.add_subcommand("bench", "built-in measurements: whole steps by phase, and on a GPU by kernel");
    command->add_option("--atoms", options->atoms, "sizes of the ethanol-water series")
        ->default_val(std::vector<std::int64_t>{45000});
    add_electrostatics(*command, options->electrostatics);
    command->add_option("--steps", options->steps, "steps to time")->default_val(300)->check(CLI::Range(1, 1000000000));
    command->add_option("--json", options->json, "append JSON lines to this file")->type_name("FILE");
    add_engine_options(*command, options->engine);
    return {command, [options] { return command_bench(*options), after_output(exit_done); }};
}

Command add_bench_halo(CLI::App& app)
{
    const auto options = std::make_shared<BenchHaloOptions>();
    CLI::App* command = app.add_subcommand("halo", "the halo exchange by itself: coordinates out, forces back");
    CLI::Option* ranks = command->add_option("--ranks", options->ranks, "numbers of ranks")
                             ->default_val(std::vector<int>{2, 4, 8})
                             ->check(CLI::Range(2, 1024));
    command->add_option("--nodes", options->nodes, "virtual nodes and the ranks of each, with an emulated network between them")
        ->type_name("2x1 2x4 ...")
        ->excludes(ranks);
    add_nic_options(*command, options->nic);
    command
        ->add_option("--proxies", options->proxies,
                     "of --nodes: where the threads are that carry messages: own (a core each), polling or sleeping (on cores of "
                     "threads that compute)")
        ->default_val(std::vector<std::string>{"own"})
        ->check(CLI::IsMember({"own", "polling", "sleeping"}));
    command->add_option("--halo-atoms", options->halo_atoms, "halo atoms of a rank")
        ->default_val(std::vector<std::int64_t>{1000, 10000, 100000})
        ->check(CLI::Range(1, 10000000));
    command->add_option("--halo", options->methods, "methods")
        ->default_val(halo_methods_of_cpus())
        ->check(CLI::IsMember(halo_methods_of_cpus()));
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
    command->add_option("--grid", options->grids, "grids, with a GPU for each cell (default: those whose halos cost least)")
        ->type_name("2x2x1 ...")
        ->excludes(gpus);
    command->add_option("--halo", options->methods, "methods")
        ->default_val(std::vector<std::string>{"direct"})
        ->check(CLI::IsMember(halo_methods));
    command->add_option("--pme", options->pme, "with PME: how GPUs share its mesh, one after another")
        ->default_val(std::vector<std::string>{"auto"})
        ->check(mesh_method_name);
    command
        ->add_option("--steps", options->steps,
                     "steps of a sample; of more than 1000 a tenth, 500 to 20 000, goes by before time counts")
        ->default_val(5000)
        ->check(CLI::Range(1, 1000000000));
    command->add_option("--repetitions", options->repetitions, "samples of each timing: their median, least and largest are told")
        ->default_val(5)
        ->check(CLI::Range(1, 1000));
    add_comm_timeout(*command, options->comm_timeout_s);
    CLI::Option* json = command->add_option("--json", options->json, "append JSON lines to this file")->type_name("FILE");
    command
        ->add_option("--plot", options->plot,
                     "draw what the file of --json holds: PREFIX-rate and PREFIX-work, .svg and .png (needs matplotlib)")
        ->type_name("PREFIX")
        ->needs(json);
    return {command, [options] { return command_bench_scaling(*options), after_output(exit_done); }};
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
        const bool is_usage = e.id() <= "E010" && e.id() != "E001"; // of the command line itself
        return complain(e.what(), is_usage ? exit_usage : exit_input);
    }
    catch (const PhysicsError& e)
    {
        return complain(e.what(), exit_physics);
    }
    catch (const CommError& e)
    {
        std::fflush(nullptr); // threads and GPUs may hold up any other end
        std::_Exit(complain(fmt::format("E601 {}", e.what()), exit_system));
    }
    catch (const SystemError& e)
    {
        return complain(fmt::format("E601 {}", e.what()), exit_system);
    }
    catch (const std::system_error& e) // of files, or a thread that cannot be started
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
    std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error like others
    CLI::App app{"Parhelion: molecular dynamics from GROMACS inputs."};
    app.set_version_flag("--version", version_text());
    app.require_subcommand(1);
    std::vector<Command> commands = {add_run(app), add_energy(app), add_check(app), add_generate(app)};
    commands.emplace_back(app.add_subcommand("doctor", "what this machine has and what would be used"),
                          [] { return command_doctor(), after_output(exit_done); });
    const Command bench = add_bench(app);
    const std::vector<CLI::Option*> of_bench =
        bench.first->get_options([](const CLI::Option* o) { return !o->check_name("--help"); });
    for (const auto add : {add_bench_halo, add_bench_comm, add_bench_scaling})
    {
        commands.push_back(add(*bench.first));
        for (CLI::Option* option : of_bench) { commands.back().first->excludes(option); } // it would do nothing
    }
    commands.push_back(bench); // behind its subcommands, which stand for it

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
    const auto asked_for = std::find_if(commands.begin(), commands.end(), [](const Command& c) { return c.first->parsed(); });
    return run_command(asked_for->second);
}
