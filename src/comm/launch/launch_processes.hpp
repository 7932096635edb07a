// SPDX-License-Identifier: Apache-2.0
// Starts the processes of a run on this host and waits for them. This process becomes their launcher: it takes no part in the
// run, forwards what they store for each other (comm/bootstraps/processes.hpp), and notices how each ends. If one ends too
// early, or is stopped for longer than the deadline, the others are told to end, and killed if they do not within seconds.
//
// Processes are forked, so that they have the data that this process has read. They end with this process, however it ends.
// Nothing has a name: no file, socket or shared memory can be left behind, and no stranger can connect.
#pragma once

#include "comm/core/bootstrap.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

namespace parhelion {

struct ProcessFailure
{
    int process = 0;
    bool was_thrown = false; // true: its body threw; false: it ended or was stopped without a report
};

struct ProcessOptions
{
    int processes = 1;
    int ranks = 1;                                                // divided evenly among the processes; >= processes
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // longest stop of a process, and longest wait for the launcher
    const std::atomic<bool>* stop = nullptr; // once it is true, the first process gets SIGTERM, which it must handle
    // Called by this process at least twenty times a second. If it returns true, the run stops as if a process had thrown
    // ProgramStopped.
    std::function<bool()> is_interrupted = nullptr;
    bool may_exit = false; // true: exit code 0 without a report means that the process is done, with result 0
    // Called with the first failure once all processes have ended, before the failure is thrown.
    std::function<void(const ProcessFailure&)> on_failure = nullptr;
};

// Returns the ranks of a process. Processes are numbered from 0.
RankRange ranks_of_process(int process, const ProcessOptions& options);
int process_of_rank(int rank, const ProcessOptions& options);

// Forks the processes, and calls `body` once in each process, with its bootstrap. Returns the result of the first process once
// all have ended. A process ends when its body returns or throws. Must be called while this process has one thread. Throws the
// error of the first body that failed, with the same kind and text (not PeerAborted). Throws CommError with the name of a
// process that ended or was stopped without a report, and SystemError if no process can be started.
int run_in_processes(const ProcessOptions& options, const std::function<int(std::unique_ptr<Bootstrap>)>& body);

} // namespace parhelion
