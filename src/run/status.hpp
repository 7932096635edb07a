// SPDX-License-Identifier: Apache-2.0
// PREFIX.status.json: the present state of a run, for a reader without access to its terminal. The file is small
// and always complete, because it gets its name after it is written. During steps it is at most a second old. It
// never delays a step: the output thread writes it, and skips a status while an earlier one is being written.
#pragma once

#include "run/progress.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace parhelion {

inline constexpr const char* status_ending = ".status.json";

enum class RunState : std::uint8_t
{
    Running,
    Done,
    Stopped,
    Failed
};

struct RunStatus
{
    RunState state = RunState::Running;
    ProgressState progress;
    std::int64_t updated = 0; // s since 1970
    std::int64_t pid = 0;     // id of the process that writes the status, on `host`
    std::string host;
    std::string error; // the error that ended a failed run; empty if it is not known
};

std::string to_json(const RunStatus& status);
// Reads a status. Throws InputError E110 if the file cannot be read, E186 if it is no status.
RunStatus read_status(const std::string& path);

// A sentence that says why the status seems to be outdated; empty if there is no reason to think so. `now`: s since 1970.
// A run on this host whose process has gone is over. A run elsewhere, or a process that is suspended, may still go on.
struct StatusDoubt
{
    std::string text;
    bool is_over = false;
};
StatusDoubt doubt_about(const RunStatus& status, std::int64_t now);

// The status of a run in progress. Calls come one at a time, except write(), which may come from another thread.
class StatusFile
{
public:
    using Clock = Speed::Clock;

    explicit StatusFile(std::string path) : path_(std::move(path)) {}
    // Writes that the run has failed, if it has begun and end() was not called.
    ~StatusFile();
    StatusFile(const StatusFile&) = delete;
    StatusFile& operator=(const StatusFile&) = delete;

    // Writes the first status. dt in ps, 0 for a minimisation. Throws SystemError if the file cannot be written.
    void begin(double dt, std::int64_t steps_done, std::int64_t steps_total, Clock::time_point now);
    // Notes the state. Returns true if the caller should let write() write
    // the text of pending(). Returns false until such a text is written.
    bool update(std::int64_t steps_done, std::int64_t steps_total, const ProgressValues& values, Clock::time_point now);
    std::string pending() const;
    // Writes `text` to the file. Returns an error message the first time that writing fails, otherwise nothing.
    std::string write(const std::string& text) noexcept;
    void fail(const std::string& error) { status_.error = error; }
    // Writes the final state. Ignores errors.
    void end(RunState state) noexcept;

private:
    std::string path_;
    RunStatus status_;
    double dt_ = 0;
    Speed speed_{{}, 0};
    Clock::time_point written_;
    bool has_begun_ = false, has_ended_ = false;
    std::atomic<bool> is_being_written_ = false;
    bool has_complained_ = false; // true after write() has returned an error; only the writing thread uses it
};

} // namespace parhelion
