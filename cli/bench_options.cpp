// SPDX-License-Identifier: Apache-2.0
// The options of `parhelion bench` and its subcommands.
#include "command.hpp"
#include "commands.hpp"
#include "options.hpp"

#include <memory>

namespace parhelion {

namespace {

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

Command add_bench_multi(CLI::App& app)
{
    const auto options = std::make_shared<BenchMultiOptions>();
    CLI::App* command = app.add_subcommand("multi", "how fast several simulations are together, as those of run --multi");
    command->add_option("--runs", options->runs, "numbers of simulations at a time")
        ->default_val(std::vector<int>{1, 2, 4, 8, 16})
        ->check(CLI::Range(1, 1024));
    CLI::Option* const atoms =
        command->add_option("--atoms", options->atoms, "a size of the ethanol-water series, with PME")->default_val(24000);
    command->add_option("--jac", options->jac, "folder with conf.gro, topol.top and md.mdp, in place of the series")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory)
        ->excludes(atoms);
    add_device_option(*command, options->device);
    command->add_option("--gpus", options->gpus, "GPUs among which they are dealt")->default_val(1)->check(CLI::Range(1, 64));
    command->add_option("--threads", options->threads, "of each simulation; 0: the cores, divided")
        ->default_val(0)
        ->check(CLI::Range(0, 1024));
    command->add_option("--seconds", options->seconds, "how long a window is")->default_val(10)->check(CLI::Range(0.01, 3600.0));
    command->add_option("--repetitions", options->repetitions, "windows, whose median is told")
        ->default_val(3)
        ->check(CLI::Range(1, 1000));
    command->add_option("--json", options->json, "append JSON lines to this file")->type_name("FILE");
    return {command, [options] { return command_bench_multi(*options), after_output(exit_done); }};
}

} // namespace

std::vector<Command> add_bench_commands(CLI::App& app)
{
    const Command bench = add_bench(app);
    const std::vector<CLI::Option*> of_bench =
        bench.first->get_options([](const CLI::Option* o) { return !o->check_name("--help"); });
    std::vector<Command> commands;
    for (const auto add : {add_bench_halo, add_bench_comm, add_bench_scaling, add_bench_standard, add_bench_multi})
    {
        commands.push_back(add(*bench.first));
        for (CLI::Option* option : of_bench) { commands.back().first->excludes(option); } // the option would have no effect
    }
    commands.push_back(bench);
    return commands;
}

} // namespace parhelion
