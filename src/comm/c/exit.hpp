// SPDX-License-Identifier: Apache-2.0
// Ranks of this process whose programs call exit(0) in place of returning: the process goes on until all its ranks have ended.
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

    // A rank's thread calls this around its program. on_exit: what the rank still does if the program calls exit(0). Returns what
    // the program returns; an exception goes through and counts as a failure.
    int run(const std::function<int()>& program, const std::function<void()>& on_exit);

private:
    struct Rank;
    static void at_exit(int status, void*);
    void end(bool has_failed);
    void wait_for_all();

    std::mutex mutex_; // of what follows
    std::condition_variable changed_;
    int running_;
    bool has_failed_ = false;
    static thread_local Rank* rank_; // of this thread, while its program runs
};

} // namespace parhelion::c_interface
