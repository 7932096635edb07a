// SPDX-License-Identifier: Apache-2.0
#include "run/start.hpp"

#include "engine/run_length.hpp"
#include "io/input/run_identity.hpp"
#include "model/minimisers.hpp"
#include "run/backup.hpp"
#include "run/output_paths.hpp"
#include "run/processes.hpp"
#include "run/status.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <limits>

namespace parhelion {

namespace {

// Checkpoints are moved first. A run that is killed while it moves files then leaves none that would continue wrong files.
constexpr const char* other_endings[] = {".prev.cpt", ".cpt", ".xtc", ".trr", ".edr", ".gro", ".last-good.gro", ".report.json"};

// The names of files that a run may write, except log and status. Only a run that writes a .rst7 or .h5md replaces one, since
// such a file may be an input.
std::vector<std::string> other_outputs(const RunOutputs& files)
{
    std::vector<std::string> names;
    for (const char* ending : other_endings) { names.push_back(files.prefix + ending); }
    if (files.rst7) { names.push_back(files.prefix + ".rst7"); }
    if (files.h5md) { names.push_back(files.prefix + ".h5md"); }
    return names;
}

// Throws an error if an output would replace a file of the input.
void protect_files(const RunInput& input, const RunOutputs& files)
{
    std::vector<std::filesystem::path> outputs = {files.prefix + log_ending, files.prefix + status_ending};
    for (const std::string& name : other_outputs(files)) { outputs.emplace_back(name); }
    const auto file = [](const std::filesystem::path& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
    };
    for (const auto& output : outputs)
    {
        if (files.trace.empty() || file(output) != file(files.trace)) { continue; }
        throw InputError("E194", {files.trace, 0},
                         "cannot be the --trace: this run writes something else into it. Choose another name.");
    }
    outputs.push_back(files.trace);
    protect_input(input.files, outputs);
}

std::int64_t steps_asked_for(const RunLength& length, const RunParameters& parameters)
{
    const double of_time = length.ns ? std::round(*length.ns * 1000 / parameters.dt) : 0;
    if (length.ns && *length.ns > 0 && of_time == 0)
    {
        throw InputError("E009", {},
                         fmt::format("--ns {} is no step of {} ps: nothing would be simulated. Ask for more, or for --steps.",
                                     *length.ns, parameters.dt));
    }
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    // A double represents all multiples of 1024 up to `most`, but not `most` itself.
    const bool fits = of_time < static_cast<double>(most - 1024) && length.steps.value_or(static_cast<std::int64_t>(of_time)) <=
                                                                        most - std::max<std::int64_t>(0, parameters.first_step);
    if (!fits) { throw InputError("E009", {}, "--steps or --ns asks for more steps than a step counter holds. Ask for fewer."); }
    if (length.steps) { return *length.steps; }
    return length.ns ? static_cast<std::int64_t>(of_time) : parameters.steps;
}

// Returns the checkpoint from which the run continues, or nothing if the run starts from its beginning.
std::optional<Checkpoint> find_checkpoint(CheckpointFiles& files, const RunOutputs& outputs,
                                          const NamedList<std::string>& identity, std::string& remark)
{
    if (outputs.fresh) { return std::nullopt; }
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

SimulationOptions engine_options(const RunRequest& request)
{
    SimulationOptions engine{request.numerics, request.placement, request.connection};
    engine.trace = !request.output.trace.empty();
    engine.stream_every = request.output.stream_every;
    if (request.end_process)
    {
        engine.when_held = [end = request.end_process](const std::string& sentence) {
            end(std::make_exception_ptr(SystemError(sentence)));
        };
    }
    emulate_nodes(request, engine);
    return engine;
}

} // namespace

std::string keep_outputs(const RunOutputs& files)
{
    std::string kept;
    const auto note = [&](const std::string& name) {
        if (!name.empty()) { kept += (kept.empty() ? "" : " ") + name; }
    };
    for (const std::string& name : other_outputs(files)) { note(move_to_backup(name)); }
    note(copy_to_backup(files.prefix + log_ending)); // the original is locked: RunLock
    return kept.empty() ? "" : "kept of an earlier run: " + kept;
}

Ready make_ready(const RunRequest& request, RunRole role, RunObserver& observer)
{
    protect_files(request.input, request.output);
    if (request.output.h5md) { expect_h5md_plugin(); }
    Diagnostics diagnostics;
    const auto start = std::chrono::steady_clock::now();
    LoadedInput input =
        read_input(request.input, Purpose::Run, diagnostics, [&](const std::string& line) { observer.warning(line); });
    const double load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const RunParameters& parameters = input.parameters;
    if (request.output.stream_every > 0 && is_minimisation(parameters.integrator))
    {
        throw InputError("E201", {},
                         "--imd: a minimisation cannot be looked at (it has neither times nor velocities). Look at its "
                         "PREFIX.trr, or leave --imd out.");
    }
    const std::int64_t steps = steps_asked_for(request.length, parameters);
    SimulationOptions engine = engine_options(request);
    const NamedList<std::string> identity =
        identify_run(input.system, parameters, request.numerics.text(), state_of(input.hand_over));
    std::unique_ptr<RunLock> lock = role == RunRole::Writes ? std::make_unique<RunLock>(request.output.prefix) : nullptr;
    CheckpointFiles checkpoints(request.output.prefix);
    std::string remark;
    std::optional<Checkpoint> continued = find_checkpoint(checkpoints, request.output, identity, remark);
    const std::int64_t last = parameters.first_step + steps;
    const bool is_complete = continued && steps >= 0 && continued->reached >= last;
    // For the engine a negative number means the number in the parameters, so `endless` replaces it.
    const std::int64_t steps_left = steps < 0 ? endless : continued ? last - continued->state.step : steps;
    return Ready{request,
                 std::move(engine),
                 std::move(input),
                 std::move(diagnostics),
                 load_s,
                 steps,
                 steps_left,
                 identity,
                 std::move(lock),
                 std::move(checkpoints),
                 std::move(remark),
                 std::move(continued),
                 is_complete};
}

} // namespace parhelion
