// SPDX-License-Identifier: Apache-2.0
// `parhelion tune`: finds the fastest way of running an input on this machine. Prints a table and the command line to use.
#include "run/tune.hpp"
#include "commands.hpp"
#include "run/describe.hpp"
#include "say.hpp"
#include "shell_word.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace parhelion {

namespace {

std::string words_of(const Way& way)
{
    std::string words = way.options();
    if (way.list_interval > 0) { words += fmt::format(" (nstlist = {})", way.list_interval); }
    return words.empty() ? "default" : words.substr(words.find_first_not_of(' '));
}

// Returns the plan of a way in words.
std::string plan_text(const PlanSummary& plan)
{
    std::string text = plan.on_gpu ? fmt::format("{} GPU{}", plan.gpus, plan.gpus == 1 ? "" : "s")
                                   : fmt::format("{}x{} threads", plan.ranks, plan.threads);
    if (plan.ranks > 1)
    {
        text += fmt::format(", {}, {}", grid_text(plan.grid), halo_name(plan.halo));
        if (const std::string mesh = mesh_method_text(plan); !mesh.empty()) { text += ", " + mesh; }
    }
    return text;
}

constexpr const char* row_format = "{:<38} {:<36} {:>5} {:>10} {:>19} {:>9}\n";

void print_try(const Try& one)
{
    if (!one.refused.empty()) { say(stdout, "{:<38} not for this input: {}\n", words_of(one.way), one.refused); }
    else
    {
        const Spread& spread = one.samples.spread;
        say(stdout, row_format, words_of(one.way), plan_text(one.plan), one.plan.list_interval,
            fmt::format("{:.1f}", one.samples.us_per_step[spread.median]),
            fmt::format("{:.1f} .. {:.1f}", spread.min, spread.max), fmt::format("{:.2f}", one.samples.median().ns_per_day));
    }
    std::fflush(stdout);
}

// Returns the command line that runs this input in this way.
std::string command_line(const InputOptions& input, const Way& way)
{
    const InputFiles& files = input.files;
    std::string line = "parhelion run";
    const auto add = [&](const char* option, const std::string& value) {
        if (!value.empty()) { line += fmt::format(" {} {}", option, shell_word(value)); }
    };
    if (!files.run_input.empty()) { add("-s", files.run_input); }
    else
    {
        add("-f", files.mdp), add("-c", files.structure), add("-p", files.topology);
        add("-r", files.restraint_reference), add("-n", files.index);
        for (const auto& folder : files.include_paths) { add("-I", folder); }
    }
    add("-t", files.hand_over);
    if (files.hand_over_at) { add("--time", fmt::format("{}", *files.hand_over_at)); }
    for (const std::string& id : input.allowed) { add("--allow", id); }
    return line + way.options();
}

nlohmann::ordered_json to_json(const Try& one, bool is_fastest)
{
    nlohmann::ordered_json line = {
        {"case", "tune"}, {"way", words_of(one.way)}, {"options", one.way.options()}, {"nstlist", one.way.list_interval}};
    if (!one.refused.empty())
    {
        line["refused"] = one.refused;
        return line;
    }
    line.update({{"gpus", one.plan.gpus},
                 {"ranks", one.plan.ranks},
                 {"threads", one.plan.threads},
                 {"grid", grid_text(one.plan.grid)},
                 {"halo", one.plan.ranks > 1 ? halo_name(one.plan.halo) : ""},
                 {"pme", mesh_method_text(one.plan)},
                 {"list_interval", one.plan.list_interval},
                 {"ns_per_day", one.samples.median().ns_per_day},
                 {"us_per_step", one.samples.median().us_per_step},
                 {"us_per_step_samples", one.samples.us_per_step},
                 {"fastest", is_fastest},
                 {"kernel", one.plan.kernel},
                 {"machine", describe_machine()},
                 {"version", version_text()}});
    return line;
}

void write_json(const std::filesystem::path& file, const Tuning& tuning, const std::string& command)
{
    for (std::size_t i = 0; i < tuning.tries.size(); ++i)
    {
        append_line(file, to_json(tuning.tries[i], i == tuning.fastest).dump());
    }
    nlohmann::ordered_json last = {{"case", "tune result"},
                                   {"command", command},
                                   {"nstlist", tuning.tries[tuning.fastest].way.list_interval},
                                   {"confirmed", tuning.is_confirmed},
                                   {"not_tried", nlohmann::ordered_json::array()}};
    for (const Way& way : tuning.not_tried) { last["not_tried"].push_back(words_of(way)); }
    append_line(file, last.dump());
}

void print_end(const Tuning& tuning, const std::string& command, const std::filesystem::path& mdp)
{
    const Try &best = tuning.tries[tuning.fastest], &by_default = tuning.tries[0];
    if (!tuning.not_tried.empty())
    {
        std::string list;
        for (const Way& way : tuning.not_tried) { list += (list.empty() ? "" : ", ") + words_of(way); }
        say_fitted(stdout, fmt::format("not tried for want of time (--seconds): {}\n", list));
    }
    if (tuning.fastest == 0) { say(stdout, "Nothing is faster than the default beyond what windows scatter.\n"); }
    else
    {
        say_fitted(stdout, fmt::format("{} is {:.0f} % faster than the default{}.\n", words_of(best.way),
                                       100 * (by_default.samples.median().us_per_step / best.samples.median().us_per_step - 1),
                                       tuning.is_confirmed ? ", also when measured again"
                                                           : "; there was no time to measure both again: try --seconds 120"));
    }
    say(stdout, "\n{}\n", command);
    if (best.way.list_interval > 0)
    {
        say(stdout, "with nstlist = {}{}\n", best.way.list_interval, mdp.empty() ? "" : " in " + mdp.string());
    }
}

} // namespace

void command_tune(const TuneOptions& options)
{
    expect_writable(options.json);
    TuneRequest request;
    request.numerics = options.engine.numerics, request.placement = options.engine.placement, request.seconds = options.seconds,
    request.window_s = options.seconds / 60;
    static_cast<void>(simulation_options(options.engine)); // called because it throws if options contradict each other
    const bool on_gpus = request.placement.device != Device::Cpu && has_gpus();
    if (on_gpus) { request.gpus = static_cast<int>(gpus_here(request.placement.gpus).size()); }
    if (request.placement.gpus > 0) { request.gpus = request.placement.gpus; }
    Diagnostics diagnostics;
    const LoadedInput input = load_checked(options.input, Purpose::Run, diagnostics);
    say_fitted(stdout, version_text() + "\n" + describe_machine() + "\n" + describe_system(input.system));
    say(stdout, "{} windows of about {:.2g} s for each way; the median, the least and the largest.\n", TuneRequest::windows,
        request.window_s);
    say(stdout, row_format, "way", "plan", "list", "us/step", "least .. largest", "ns/day");
    const Tuning tuning = tune(input, request, print_try);
    const std::string command = command_line(options.input, tuning.tries[tuning.fastest].way);
    print_end(tuning, command, options.input.files.run_input.empty() ? options.input.files.mdp : "");
    if (!options.json.empty()) { write_json(options.json, tuning, command); }
}

} // namespace parhelion
