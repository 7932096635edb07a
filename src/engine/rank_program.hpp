// SPDX-License-Identifier: Apache-2.0
// A rank's work on a GPU as a program that queues it, and several ranks' programs run in turns by one thread.
//
// The invariant: when a wait is queued, all that it waits for has been queued. Otherwise, where ranks share a GPU and its queues,
// the wait would keep back the send behind it for ever. And where the host waits for a GPU (it loads a kernel, it allocates),
// that GPU would wait for what this host has yet to queue.
//
// The idea: a program is a coroutine. It pauses at `co_await all_are_here`, between its sends and its waits for others.
// run_together() lets each program come to its next pause before any goes on. All programs that run together have the same
// pauses, since ranks decide alike. Cost: a heap allocation per call of a program and a jump per pause, on the host, when work is
// queued; nothing when a captured graph is replayed.
#pragma once

#include <coroutine>
#include <exception>
#include <span>
#include <utility>

namespace parhelion {

struct AllAreHere
{
};
// Goes on when all programs that run together have come to the same pause.
inline constexpr AllAreHere all_are_here;

struct IsAlone
{
};
// Is this the only program? Then waits may be queued with what they wait for, in one kernel.
inline constexpr IsAlone is_alone;

// Parameters that are references must outlive the program.
class [[nodiscard]] RankProgram
{
public:
    struct promise_type;
    using Handle = std::coroutine_handle<promise_type>;

    explicit RankProgram(Handle handle) : handle_(handle) {}
    RankProgram(RankProgram&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    RankProgram& operator=(RankProgram&&) = delete;
    ~RankProgram()
    {
        if (handle_) { handle_.destroy(); }
    }

private:
    friend void run_together(std::span<RankProgram> programs);

    // Of a program with all those it calls.
    struct Course
    {
        std::coroutine_handle<> paused; // the innermost
        bool is_alone = false;
    };
    struct Call;
    struct Pause;
    struct End;
    struct Answer;

    Handle handle_;
};

// Runs them to their ends. Throws what one of them throws; the others then stay where they are.
void run_together(std::span<RankProgram> programs);

struct RankProgram::Pause : std::suspend_always
{
    void await_suspend(Handle program) const noexcept;
};

// The called program goes on in place of the caller, until it ends.
struct RankProgram::Call
{
    RankProgram called;

    bool await_ready() const noexcept { return false; }
    Handle await_suspend(Handle caller) const noexcept;
    void await_resume() const;
};

struct RankProgram::End
{
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle program) const noexcept;
    void await_resume() const noexcept {}
};

struct RankProgram::Answer : std::suspend_never
{
    bool yes;

    explicit Answer(bool is) : yes(is) {}
    bool await_resume() const noexcept { return yes; }
};

struct RankProgram::promise_type
{
    Course* course = nullptr;
    std::coroutine_handle<> caller = std::noop_coroutine();
    std::exception_ptr error;

    RankProgram get_return_object() { return RankProgram(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    End final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }

    Pause await_transform(AllAreHere) const noexcept { return {}; }
    Answer await_transform(IsAlone) const noexcept { return Answer(course->is_alone); }
    Call await_transform(RankProgram&& called) const noexcept { return {std::move(called)}; }
};

inline void RankProgram::Pause::await_suspend(Handle program) const noexcept { program.promise().course->paused = program; }

inline RankProgram::Handle RankProgram::Call::await_suspend(Handle caller) const noexcept
{
    called.handle_.promise().course = caller.promise().course;
    called.handle_.promise().caller = caller;
    return called.handle_;
}
inline void RankProgram::Call::await_resume() const
{
    if (called.handle_.promise().error) { std::rethrow_exception(called.handle_.promise().error); }
}

inline std::coroutine_handle<> RankProgram::End::await_suspend(Handle program) const noexcept { return program.promise().caller; }

} // namespace parhelion
