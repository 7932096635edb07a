// SPDX-License-Identifier: Apache-2.0
// Many runs in one process: each in a thread of its own, and as many at a time as fit. Each is a run of run/run.hpp, with its
// own files and the bits that it has alone. Several small runs together use a GPU better than one after another.
//
// The idea: a desk deals runs out to places. Each GPU is a place, or the CPU is one. The first runs are dealt round; later a
// run goes to the place with the fewest runs. A run for which a GPU has too little memory goes back to the desk. From then on
// that GPU has no more runs than fitted. On CPUs each thread of runs has cores of its own, and so have all threads it starts.
//
// Cost: a thread for each run that goes on. GPUs run the kernels of several runs at a time (docs/decisions/0076-many-runs.md).
#pragma once

#include "run/run.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace parhelion {

struct ManyRequest
{
    std::vector<RunRequest> runs; // first run's placement.gpus: number of GPUs to use, 0: all. Each run has one GPU
    int at_once = 0;              // runs at a time, at most; 0: on GPUs all that fit, on CPUs as many as there are cores for
};

enum class ManyEnd : std::uint8_t
{
    Done,
    Stopped,
    Failed,
    NotBegun // a stop came before its turn
};

// How one of many runs ended.
struct ManyOutcome
{
    ManyEnd end = ManyEnd::NotBegun;
    RunResult result;                   // set for runs that are done or stopped
    std::exception_ptr error = nullptr; // set for a run that failed
};

// Receives the events of many runs. Calls that concern one run come one at a time; those of several runs come from several
// threads.
class ManyObserver
{
public:
    virtual ~ManyObserver() = default;
    // Returns the observer of a run. It must last as long as this object.
    virtual RunObserver& of(std::size_t run) = 0;
    // Called when a run begins its turn on this GPU; -1: on CPUs.
    virtual void starts(std::size_t /*run*/, int /*gpu*/) {}
    // Called when a run goes back to wait for its turn. `why` is a sentence.
    virtual void waits(std::size_t /*run*/, const std::string& /*why*/) {}
    virtual void ended(std::size_t /*run*/, const ManyOutcome&) {}
};

// Makes the runs and returns how each ended, in the order of the requests. Raising `stop` ends all runs in progress, as it ends a
// single run, and no other run begins. The error of a run ends this run alone. RunLength::hours of the first run counts from this
// call.
//
// Numerics, placement and connection must be the same in all requests. Precondition: there is a run.
// Throws InputError E010 if the placement does not suit many runs, E221 if two runs would write the same files, and the errors
// of gpus_to_deal(). No run has then begun.
std::vector<ManyOutcome> run_many(const ManyRequest& request, ManyObserver& observer, std::atomic<bool>& stop);

// Returns the request with its files in `folder`, except absolute paths and folders of include_paths. Throws InputError E220 if
// there is no such folder.
RunRequest in_folder(RunRequest request, const std::filesystem::path& folder);

// The cores of a process, divided among runs on CPUs.
struct CoresOfRuns
{
    int at_once = 1, threads = 1;        // runs at a time; threads of each of them
    std::vector<std::vector<int>> cores; // cores of each run at a time; empty if the system does not tell them
};
// `allowed`: the cores of this process. `worth`: their limit of processor time (cgroup), in cores. `at_once` and `threads` as
// above, 0: to be chosen. No two runs share a core, unless at_once is more than there are cores.
CoresOfRuns share_cores_among_runs(const std::vector<int>& allowed, int worth, int runs, int at_once, int threads);

} // namespace parhelion
