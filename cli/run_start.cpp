// SPDX-License-Identifier: Apache-2.0
#include "run_start.hpp"

#include "io/backup.hpp"
#include "io/run_identity.hpp"
#include "io/text.hpp"
#include "run_processes.hpp"
#include "run_summary.hpp"
#include "say.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <limits>

namespace parhelion {

namespace {

// Checkpoints first: if a run is killed while it moves files away, none is left that would be continued with the wrong ones.
constexpr const char* other_endings[] = {".prev.cpt", ".cpt", ".xtc", ".trr", ".edr", ".gro", ".last-good.gro", ".report.json"};

// Outputs take the place of what has their names.
void protect_files(const RunOptions& options)
{
    std::vector<std::filesystem::path> outputs = {options.prefix + log_ending};
    for (const char* ending : other_endings) { outputs.emplace_back(options.prefix + ending); }
    const auto file = [](const std::filesystem::path& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
    };
    for (const auto& output : outputs)
    {
        if (options.trace.empty() || file(output) != file(options.trace)) { continue; }
        throw InputError("E194", {options.trace, 0},
                         "cannot be the --trace: this run writes something else into it. Choose another name.");
    }
    outputs.push_back(options.trace);
    protect_input(options.input.files, outputs);
}

std::int64_t steps_asked_for(const RunOptions& options, const RunParameters& parameters)
{
    const double of_time = options.ns ? std::round(*options.ns * 1000 / parameters.dt) : 0;
    if (options.ns && *options.ns > 0 && of_time == 0)
    {
        throw InputError("E009", {},
                         fmt::format("--ns {} is no step of {} ps: nothing would be simulated. Ask for more, or for --steps.",
                                     *options.ns, parameters.dt));
    }
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    // A double holds all multiples of 1024 up to `most`, but not `most` itself.
    const bool fits = of_time < static_cast<double>(most - 1024) && options.steps.value_or(static_cast<std::int64_t>(of_time)) <=
                                                                        most - std::max<std::int64_t>(0, parameters.first_step);
    if (!fits) { throw InputError("E009", {}, "--steps or --ns asks for more steps than a step counter holds. Ask for fewer."); }
    if (options.steps) { return *options.steps; }
    return options.ns ? static_cast<std::int64_t>(of_time) : parameters.steps;
}

// What the run goes on from; nothing if it starts.
std::optional<Checkpoint> find_checkpoint(CheckpointFiles& files, const RunOptions& options,
                                          const NamedList<std::string>& identity, std::string& remark)
{
    if (options.fresh) { return std::nullopt; }
    std::optional<Checkpoint> found = files.read(remark);
    const std::string changed = found ? difference(found->run, identity) : "";
    if (!changed.empty())
    {
        throw InputError(
            "E191", {files.newest(), 0},
            fmt::format("is of another run, which this one would destroy: {}. Run it as it was begun, choose another -o, or "
                        "start afresh with --new.",
                        changed));
    }
    return found;
}

void say_complete(const RunOptions& options, const Checkpoint& checkpoint)
{
    say(human_output(options),
        "{}.cpt: this run is complete, step {}. Ask for more with --steps or nsteps, or start afresh with --new.\n",
        options.prefix, std::max(checkpoint.reached, checkpoint.state.step));
    if (options.json) { say(stdout, "{}", MappedFile(options.prefix + ".report.json").text()); }
}

} // namespace

std::string keep_outputs(const std::string& prefix)
{
    std::string kept;
    const auto note = [&](const std::string& name) {
        if (!name.empty()) { kept += (kept.empty() ? "" : " ") + name; }
    };
    for (const char* ending : other_endings) { note(move_to_backup(prefix + ending)); }
    note(copy_to_backup(prefix + log_ending)); // the original is locked: RunLock
    return kept.empty() ? "" : "kept of an earlier run: " + kept;
}

std::FILE* human_output(const RunOptions& options) { return options.json ? stderr : stdout; }

std::optional<Ready> make_ready(const RunOptions& options, Role role)
{
    protect_files(options);
    Diagnostics diagnostics;
    const auto start = std::chrono::steady_clock::now();
    LoadedInput input = load_checked(options.input, Purpose::Run, diagnostics);
    const double load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const RunParameters& parameters = input.parameters;
    const std::int64_t steps = steps_asked_for(options, parameters);
    SimulationOptions engine = simulation_options(options.engine);
    engine.trace = !options.trace.empty();
    if (const std::optional<NicEmulation> nics = emulated_nics(options)) { emulate(*nics, options, engine); }
    const NamedList<std::string> identity =
        identify_run(input.system, parameters, precision_text(options.engine), state_of(input.hand_over));
    std::unique_ptr<RunLock> lock = role == Role::Writes ? std::make_unique<RunLock>(options.prefix) : nullptr;
    CheckpointFiles checkpoints(options.prefix);
    std::string remark;
    std::optional<Checkpoint> continued = find_checkpoint(checkpoints, options, identity, remark);
    const std::int64_t last = parameters.first_step + steps;
    if (continued && steps >= 0 && continued->reached >= last)
    {
        if (role == Role::Writes) { say_complete(options, *continued); }
        return std::nullopt;
    }
    const std::int64_t steps_left = continued && steps >= 0 ? last - continued->state.step : steps;
    return Ready{
        options,         std::move(engine),      std::move(input),  std::move(diagnostics), load_s, steps, steps_left, identity,
        std::move(lock), std::move(checkpoints), std::move(remark), std::move(continued)};
}

} // namespace parhelion
