// SPDX-License-Identifier: Apache-2.0
// A run: it reads input files and writes trajectory, energies, log, checkpoints and report.
// The program, modules for other languages and tests make runs by run_simulation().
//
//     RunRequest request;
//     request.input.files = {"md.mdp", "conf.gro", "topol.top"};
//     request.length.ns = 1;
//     RunObserver silent;
//     std::atomic<bool> stop = false; // raise it to end the run early
//     const RunResult result = run_simulation(request, silent, stop);
//
// The same request continues a run that was stopped or killed. It finds the checkpoint by the prefix. Decisions 0040 and 0041 say
// what continuing requires, and what happens to files of another run. If the run is complete already, a request does nothing.
//
// A run prints nothing and asks for nothing. It changes no setting of the process, including signals, with one
// exception below. Several runs may go on in one process at a time, each in its own thread and with its own
// prefix. Each yields the bits that it would yield alone. They share the cores, so each needs its own `threads`.
#pragma once

#include "engine/options.hpp"
#include "run/observer.hpp"
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
    // `steps` and `ns` count from the beginning of the run, even if the run is
    // continued. Give at most one. If neither is given, nsteps of the parameters counts.
    std::optional<std::int64_t> steps; // negative: the run has no end
    std::optional<double> ns;
    std::optional<double> hours; // wall time after which this call raises `stop` itself
};

struct RunOutputs
{
    std::string prefix = "md"; // beginning of all output file names; may contain a folder, which must exist
    double checkpoint_s = 900; // seconds between checkpoints
    std::string trace;         // file for a timeline of the latest steps, in Chrome's format; empty: none
    bool fresh = false;        // start from the beginning even if there is a checkpoint
    bool rst7 = false;         // leave the last configuration as a restart file of AMBER, too: PREFIX.rst7
    bool h5md = false;         // write the trajectory as H5MD, too: PREFIX.h5md
    int stream_every = 0;      // steps between frames with all arrays that only the observer gets; 0: none
};

struct RunRequest
{
    RunInput input;
    RunNumerics numerics;
    RunPlacement placement;
    RunConnection connection;
    RunLength length;
    RunOutputs output;
    // Ends this process with an error that no exception can deliver, because a thread is blocked: in
    // the driver of a stuck GPU, or in a library that waits for a lost process. Another thread calls
    // it with the error. It must not return. If this member is null, such a run never returns.
    std::function<void(const std::exception_ptr&)> end_process = nullptr;
};

// Makes the run and returns its outcome. Raising `stop`, from any thread or a signal handler, ends the run within a second plus a
// step, on GPUs within two segments. The same request continues from the checkpoint, with the same bits if sums are reproducible
// or the number of threads is the same. A minimisation has no checkpoints: if stopped, it leaves the best configuration.
//
// If a launcher started several processes (comm/launch/launch.hpp), each makes the same call, and they form one
// run. With placement.processes > 1 this process, which must have one thread, forks them and waits. Observers are
// called in forked copies. Meanwhile SIGTERM is caught, to pass on a stop, unless it is caught or ignored already.
//
// Preconditions: numbers of the request are finite and (except steps) not negative, a prefix is given, not both steps and ns.
//
// Throws the following errors. Files and checkpoints stay as they were last written:
//   InputError    for the input, or a request whose parts contradict each other, or files of another run. No file of an earlier
//                 run was changed. Several errors of the input come as InputErrors (io/input/error_list.hpp).
//   PhysicsError  for a blow-up. PREFIX.last-good.gro was written, and the text says so.
//   SystemError   for disk or device; CommError if a rank does not answer. After a CommError only the end of the process frees
//                 the memory of GPUs.
//   Errors of an observer are rethrown. With several processes they become one of this library's errors, of the same kind and
//   text, or else a SystemError.
RunResult run_simulation(const RunRequest& request, RunObserver& observer, std::atomic<bool>& stop);

} // namespace parhelion
