// SPDX-License-Identifier: Apache-2.0
#include "comm/c/exit.hpp"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace parhelion::c_interface {

struct RanksHere::Rank
{
    RanksHere& here;
    const std::function<void()>& on_exit;
    bool has_ended = false;
};

thread_local RanksHere::Rank* RanksHere::rank_ = nullptr;

int RanksHere::run(const std::function<int()>& program, const std::function<void()>& on_exit)
{
    Rank rank{*this, on_exit};
    Rank* const outer = std::exchange(rank_, &rank); // the rank of an enclosing run on this thread, or null
    [[maybe_unused]] static const int registered = ::on_exit(at_exit, nullptr);
    int status = -1;
    try
    {
        status = program();
    }
    catch (...)
    {
        rank_ = outer;
        end(true);
        throw;
    }
    rank_ = outer;
    end(status != 0);
    return status;
}

// The exit handler; exit() calls it in the thread that exits.
void RanksHere::at_exit(int status, void*)
{
    Rank* const rank = rank_;
    if (rank == nullptr || status != 0 || rank->has_ended) { return; }
    rank->has_ended = true;
    ::on_exit(at_exit, nullptr); // registered again, for other ranks that exit while this one waits
    rank->on_exit();
    rank->here.end(false);
    rank->here.wait_for_all();
}

void RanksHere::end(bool has_failed)
{
    const std::scoped_lock lock(mutex_);
    --running_;
    has_failed_ = has_failed_ || has_failed;
    changed_.notify_all();
}

void RanksHere::wait_for_all()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == 0; });
    if (!has_failed_) { return; }
    std::fflush(nullptr);
    ::_exit(EXIT_FAILURE); // the exit code 0 would hide the failure of another rank
}

} // namespace parhelion::c_interface
