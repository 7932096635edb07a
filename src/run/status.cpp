// SPDX-License-Identifier: Apache-2.0
#include "run/status.hpp"

#include "base/error.hpp"
#include "comm/bootstraps/sockets.hpp"
#include "io/input/text.hpp"
#include "io/output/output_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <ctime>
#include <exception>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace parhelion {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 4> state_names = {"running", "done", "stopped", "failed"};
constexpr auto shortest_interval = std::chrono::seconds(1);
constexpr std::int64_t silent_for_long = 60; // s without an update until a status is in doubt

// Calls visit(name, number) for all numbers that a state may have.
template <class State, class Visit>
void for_each_number(State& progress, Visit&& visit)
{
    visit("time_ps", progress.time);
    visit("steps_per_s", progress.steps_per_second);
    visit("ns_per_day", progress.ns_per_day);
    visit("left_s", progress.left);
    visit("temperature", progress.values.temperature);
    visit("pressure", progress.values.pressure);
    visit("density", progress.values.density);
    visit("potential", progress.values.potential);
    visit("largest_force", progress.values.largest_force);
    visit("steps_to_tolerance", progress.values.steps_to_tolerance);
}

std::int64_t seconds_of(const std::string& utc)
{
    std::tm time{};
    const char* const end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
    return end == nullptr || *end != '\0' ? 0 : static_cast<std::int64_t>(::timegm(&time));
}

} // namespace

std::string to_json(const RunStatus& status)
{
    Json json;
    json["state"] = state_names[static_cast<std::size_t>(status.state)];
    json["step"] = status.progress.steps_done;
    json["steps"] = status.progress.steps_total < 0 ? Json() : Json(status.progress.steps_total);
    for_each_number(status.progress, [&](const char* name, const std::optional<double>& number) {
        json[name] = number && std::isfinite(*number) ? Json(*number) : Json();
    });
    json["updated"] = fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(static_cast<std::time_t>(status.updated)));
    json["pid"] = status.pid;
    json["host"] = status.host;
    if (!status.error.empty()) { json["error"] = status.error; }
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunStatus read_status(const std::string& path)
{
    const MappedFile file(path);
    try
    {
        const Json json = Json::parse(file.text());
        RunStatus status;
        const auto state = std::find(state_names.begin(), state_names.end(), json.at("state").get<std::string>());
        if (state == state_names.end())
        {
            throw InputError("E186", {path, 0}, "is not the status of a run (its state is none).");
        }
        status.state = static_cast<RunState>(state - state_names.begin());
        json.at("step").get_to(status.progress.steps_done);
        status.progress.steps_total = json.at("steps").is_null() ? -1 : json.at("steps").get<std::int64_t>();
        for_each_number(status.progress, [&](const char* name, std::optional<double>& number) {
            if (const Json value = json.value(name, Json()); !value.is_null()) { number = value.get<double>(); }
        });
        status.updated = seconds_of(json.at("updated").get<std::string>());
        json.at("pid").get_to(status.pid);
        json.at("host").get_to(status.host);
        status.error = json.value("error", "");
        return status;
    }
    catch (const Json::exception& error)
    {
        throw InputError("E186", {path, 0},
                         fmt::format("is not the status of a run ({}). Use the file as the run has written it.", error.what()));
    }
}

StatusDoubt doubt_about(const RunStatus& status, std::int64_t now)
{
    if (status.state != RunState::Running) { return {}; }
    const bool is_here = status.host == host_name();
    if (is_here && status.pid > 0 && ::kill(static_cast<pid_t>(status.pid), 0) != 0 && errno == ESRCH)
    {
        return {fmt::format("its process {} is gone: it was killed", status.pid), true};
    }
    const std::int64_t age = now - status.updated;
    if (age < silent_for_long) { return {}; }
    return {fmt::format("no news for {}: process {} on {} may be held up, or gone", duration_text(static_cast<double>(age)),
                        status.pid, status.host),
            false};
}

StatusFile::~StatusFile()
{
    if (has_begun_ && !has_ended_) { end(RunState::Failed); }
}

void StatusFile::begin(double dt, std::int64_t steps_done, std::int64_t steps_total, Clock::time_point now)
{
    dt_ = dt;
    speed_ = Speed(now, steps_done);
    written_ = now;
    status_.pid = ::getpid();
    status_.host = host_name();
    status_.progress = progress_state(steps_done, steps_total, dt, 0, {});
    has_begun_ = true;
    write_text_file(path_, pending());
}

bool StatusFile::update(std::int64_t steps_done, std::int64_t steps_total, const ProgressValues& values, Clock::time_point now)
{
    speed_.measure(steps_done, now);
    status_.progress = progress_state(steps_done, steps_total, dt_, speed_.steps_per_second(), values);
    if (now - written_ < shortest_interval || is_being_written_.exchange(true)) { return false; }
    written_ = now;
    return true;
}

std::string StatusFile::pending() const
{
    RunStatus status = status_;
    status.updated = std::time(nullptr);
    return to_json(status);
}

std::string StatusFile::write(const std::string& text) noexcept
{
    std::string complaint;
    try
    {
        write_text_file(path_, text);
    }
    catch (const std::exception& error)
    {
        if (!std::exchange(has_complained_, true)) { complaint = error.what(); }
    }
    is_being_written_ = false;
    return complaint;
}

void StatusFile::end(RunState state) noexcept
{
    has_ended_ = true;
    status_.state = state;
    try
    {
        write_text_file(path_, pending());
    }
    catch (const std::exception&)
    {
        // Programs that watch this run find out that its process has gone.
    }
}

} // namespace parhelion
