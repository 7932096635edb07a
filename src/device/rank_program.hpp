// SPDX-License-Identifier: Apache-2.0
// A rank's work on a GPU as a coroutine that queues this work. One thread runs the programs of several ranks in turns.
//
// The invariant: a wait is queued only when all the work that it waits for has been queued. If this were violated
// where ranks share a GPU and its queues, the wait would block the send behind it for ever. And if the host itself
// waited for a GPU (to load a kernel, to allocate), that GPU would wait for work that this host has yet to queue.
//
// The idea: a program is a coroutine that pauses at `co_await all_are_here`, between its sends and its waits
// for other ranks. run_together() runs every program to its next pause before it resumes any program. Programs
// that run together have the same pauses, because ranks decide alike. Cost: on the host, when work is queued,
// a heap allocation per call of a program and a jump per pause; nothing when a captured graph is replayed.
#pragma once

#include <coroutine>
#include <exception>
#include <span>
#include <utility>

namespace parhelion {

struct AllAreHere
{
};
// `co_await all_are_here` resumes when all programs that run together have come to the same pause.
inline constexpr AllAreHere all_are_here;

struct IsAlone
{
};
// `co_await is_alone` is true if no other program runs. Then a wait may be in the same kernel as the send for which it waits.
inline constexpr IsAlone is_alone;

// Objects that are passed to a program by reference must outlive it.
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

    // The state of a program and of the programs that it calls: which of them is paused.
    struct Course
    {
        std::coroutine_handle<> paused; // the innermost program
        bool is_alone = false;
    };
    struct Call;
    struct Pause;
    struct End;
    struct Answer;

    Handle handle_;
};

// Runs the programs to their ends. If one throws, throws its exception, and the other programs stay at their pauses.
void run_together(std::span<RankProgram> programs);

struct RankProgram::Pause : std::suspend_always
{
    void await_suspend(Handle program) const noexcept;
};

// The called program runs in place of the caller, until it ends.
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
