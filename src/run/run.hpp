// SPDX-License-Identifier: Apache-2.0
// A run: files in; trajectory, energies, log, checkpoints and report out. The program, a module of another language and tests
// make runs by this one call.
//
//     RunRequest request;
//     request.input.files = {"md.mdp", "conf.gro", "topol.top"};
//     request.length.ns = 1;
//     RunObserver silent;
//     std::atomic<bool> stop = false; // raise it to end the run early
//     const RunResult result = run_simulation(request, silent, stop);
//
// The same request continues a run that was stopped, or killed: it finds its checkpoint by the prefix. What must hold for that,
// and what becomes of the files of another run, is in decisions 0040 and 0041. A request that is complete does nothing.
//
// Nothing is printed, nobody is asked, and no setting of the process is changed, signals included, with one exception that is
// told below. Several runs may go on in one process at the same time, each in a thread of its own, with
// prefixes of their own; each has the bits that it has alone. They share the cores: give each its `threads`.
#pragma once

#include "run/observer.hpp"
#include "run/placement.hpp"
#include "run/read_input.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>

namespace parhelion {

struct RunLength
{
    // Both count from the beginning of the run, also where it is continued. Neither: nsteps of the parameters. At most one is
    // given.
    std::optional<std::int64_t> steps; // negative: no end
    std::optional<double> ns;
    std::optional<double> hours; // wall time after which this call raises `stop` itself
};

struct RunOutputs
{
    std::string prefix = "md"; // what the names of all files begin with; may have a folder, which exists
    double checkpoint_s = 900; // time between checkpoints
    std::string trace;         // a timeline of the latest steps, in Chrome's format; empty: none
    bool fresh = false;        // start afresh, even if there is a checkpoint
};

struct RunRequest
{
    RunInput input;
    RunNumerics numerics;
    RunPlacement placement;
    RunConnection connection;
    RunLength length;
    RunOutputs output;
    // Ends this process by an error that no exception can bring, as a thread is held for good: in the driver of a stuck GPU, or
    // in a library that waits for a process which is lost. Called by another thread, with the error; must not return. None: the
    // run then never comes back.
    std::function<void(const std::exception_ptr&)> end_process = nullptr;
};

// Makes the run and returns how it ended. Raising `stop`, from any thread or from a signal handler, ends it within a second and a
// step, on GPUs within two segments, with a checkpoint from which the same request goes on: with the same bits if sums are
// reproducible, or if there are as many threads. A minimisation has no checkpoints: stopped, it leaves the best configuration.
//
// Where a launcher has started several processes (comm/launch.hpp), each makes the same call, and they are one run. With
// placement.processes > 1 this process forks that many and waits for them: it must have one thread, and observers hear in copies
// of this process; SIGTERM is caught meanwhile, unless it is caught or ignored already, to pass on a stop.
//
// Preconditions: numbers of the request are finite and not negative (but steps), a prefix is given, and not both steps and ns.
//
// Throws, with files and checkpoints as they were left last:
//   InputError    for the input, or a request whose parts contradict each other, or files of another run. Nothing of an earlier
//                 run was touched. Several errors of the input come as InputErrors (io/error_list.hpp).
//   PhysicsError  for a blow-up. PREFIX.last-good.gro is there, and the text says so.
//   SystemError   for disk or device; CommError if a rank does not answer. After a CommError the memory of GPUs is given back by
//                 the end of the process alone.
//   And whatever an observer throws. Where several processes take part it comes as an error of ours of the same kind and text,
//   or else as SystemError.
RunResult run_simulation(const RunRequest& request, RunObserver& observer, std::atomic<bool>& stop);

} // namespace parhelion
