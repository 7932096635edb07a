// SPDX-License-Identifier: Apache-2.0
// The ranks of one process: a thread each.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace parhelion {

// Threads that wait for work, so that a turn begins without making any.
class RankThreads
{
public:
    // Throws SystemError if not every rank can be given a thread.
    explicit RankThreads(int ranks);

    // Calls body(rank) for every rank at once, rank 0 on the calling thread. If one throws, abort(rank) is called, which must end
    // the waits of the others; the first to fail for a reason of its own (not PeerAborted) is rethrown.
    void run(const std::function<void(int rank)>& body, const std::function<void(int rank)>& abort);

private:
    void serve(int rank, const std::stop_token& end);
    void run_rank(int rank);

    const std::function<void(int rank)>*body_ = nullptr, *abort_ = nullptr; // of this turn
    std::vector<std::exception_ptr> errors_;                                // by rank
    std::mutex mutex_;                                                      // of turn_ and busy_
    std::condition_variable_any has_begun_, has_ended_;
    std::uint64_t turn_ = 0;
    std::size_t busy_ = 0;              // threads
    std::vector<std::jthread> threads_; // last, so that they end first
};

// One turn.
void on_every_rank(int ranks, const std::function<void(int rank)>& body, const std::function<void(int rank)>& abort);

} // namespace parhelion
