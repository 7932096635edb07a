// SPDX-License-Identifier: Apache-2.0
// Lets the program of a rank call exit(0) instead of returning: the process then goes on until all its ranks have ended.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

namespace parhelion::c_interface {

// The ranks of a run that are threads of this process.
class RanksHere
{
public:
    explicit RanksHere(int ranks) : running_(ranks) {}

    // Runs the program of one rank on the calling thread. on_exit is called if the program calls exit(0), for the rest of the
    // rank's work. Returns the program's result; an exception passes through and counts as a failure.
    int run(const std::function<int()>& program, const std::function<void()>& on_exit);

private:
    struct Rank;
    static void at_exit(int status, void*);
    void end(bool has_failed);
    void wait_for_all();

    std::mutex mutex_; // guards the members below
    std::condition_variable changed_;
    int running_;
    bool has_failed_ = false;
    static thread_local Rank* rank_; // the rank of this thread, while its program runs
};

} // namespace parhelion::c_interface
