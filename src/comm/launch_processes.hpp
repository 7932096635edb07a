// SPDX-License-Identifier: Apache-2.0
// Starts the processes of a run on this host and waits for them. This process becomes their launcher: it takes no part in the
// run, passes on what they leave for each other (comm/bootstraps/processes.hpp), and notices how each of them ends. If one ends
// too early, or is stopped for longer than the deadline, the others are told and end, too; who does not within seconds is killed.
//
// Processes are forked, so that what this one has read is theirs without reading it again. They end with it, whatever ends it.
// Nothing has a name: no file, socket or shared memory can be left behind, and no stranger can connect.
#pragma once

#include "comm/bootstrap.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

namespace parhelion {

struct ProcessFailure
{
    int process = 0;
    bool was_thrown = false; // by its body; else it has ended or been stopped without a word
};

struct ProcessOptions
{
    int processes = 1;
    int ranks = 1;                                                // >= processes; neighbours are shared out evenly
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // the longest that a process may be stopped
    const std::atomic<bool>* stop = nullptr; // once true, the first process is sent SIGTERM, for which it is prepared
    // Asked by this process at every look at the others, twenty times a second at least; true: the run stops, as if one had
    // thrown ProgramStopped.
    std::function<bool()> is_interrupted = nullptr;
    bool may_exit = false; // a process that ends with exit code 0, without a word, has done its part, with result 0
    // Called with the first failure, once all processes have ended, before it is thrown.
    std::function<void(const ProcessFailure&)> on_failure = nullptr;
};

// The ranks of this process, from 0.
RankRange ranks_of_process(int process, const ProcessOptions& options);
int process_of_rank(int rank, const ProcessOptions& options);

// Calls body once in each process, with its bootstrap; returns what it has returned in the first process, once all have ended. A
// process ends when its body returns or throws. Must be called while this process has one thread. Throws what the body of the
// first process to fail has thrown, with the same kind and text (not PeerAborted), or CommError that names the process which
// has ended or been stopped without a word; SystemError if no process can be started.
int run_in_processes(const ProcessOptions& options, const std::function<int(std::unique_ptr<Bootstrap>)>& body);

} // namespace parhelion
