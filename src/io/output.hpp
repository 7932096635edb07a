// SPDX-License-Identifier: Apache-2.0
// Output behind the simulation's back. OutputThread runs jobs in order on a thread of its own; RunOutput owns a run's binary
// files and turns frames into such jobs. The queue is bounded: a disk slower than the simulation slows it down instead of filling
// the memory.
//
// An error on the thread stops output; it is thrown on the simulation's thread at the next hand-over, or by close().
#pragma once

#include "io/edr.hpp"
#include "io/trr.hpp"
#include "io/xtc.hpp"
#include "model/frame.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace parhelion {

class OutputThread
{
public:
    // capacity: jobs that may wait; enqueue() blocks while as many do.
    explicit OutputThread(std::size_t capacity = 4);
    ~OutputThread(); // finishes the jobs; errors are lost: call close() first
    OutputThread(const OutputThread&) = delete;
    OutputThread& operator=(const OutputThread&) = delete;

    // Throws what an earlier job threw; after that nothing is run any more, and every call throws it again.
    void enqueue(std::function<void()> job);
    // Waits for all jobs and ends the thread. Throws what a job threw.
    void close();

private:
    void work();
    void join();

    const std::size_t capacity_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_; // guarded by mutex_, as are the next two
    std::exception_ptr error_;
    bool closing_ = false;
    std::thread thread_;
};

// Which files a frame goes to. Arrays of the frame that are due nowhere may be empty.
struct FrameDestination
{
    bool compressed = false;              // x to the .xtc
    bool x = false, v = false, f = false; // to the .trr
};

// How far the files are written: whole records.
struct OutputMarks
{
    FileMark xtc, trr, edr;
};

struct RunOutputPlan
{
    std::string xtc, trr, edr; // paths; empty: no such file
    double xtc_precision = 1000;
    std::vector<std::int64_t> xtc_atoms; // empty: all
    Precision trr_precision = Precision::Mixed;
    std::vector<std::string> energy_terms;
    std::int64_t first_step = 0;
    double dt = 0;    // ps
    OutputMarks kept; // of an earlier part of the run; 0 bytes: a new file
};

class RunOutput
{
public:
    // Opens the files. Throws as OutputFile does.
    explicit RunOutput(const RunOutputPlan& plan);

    // Each throws what an earlier one met on the output thread (see the writers), else hands over and returns.
    void write(Frame frame, const FrameDestination& destination);
    void write_energies(std::int64_t step, double time, std::vector<double> values, TermAverages since_last);
    // Other output, in order with the rest: a .gro, a line of the log.
    void enqueue(std::function<void()> job) { thread_.enqueue(std::move(job)); }
    // For jobs: how long the files are when it is their turn, without their tails; the tails, too, of what was so long then; and
    // making that last.
    OutputMarks lengths();
    void add_tails(OutputMarks& marks);
    void sync();
    // For jobs: see OutputFile, for each of the files that has one.
    std::vector<std::string> new_interferences();
    // Waits until everything is written and closes the files. Throws what went wrong.
    void close();

private:
    template <class Visit>
    void for_each_file(Visit&& visit); // visit(file, its member of OutputMarks)

    OutputMarks kept_; // a file that is not written any more stays as it is
    std::optional<XtcWriter> xtc_;
    std::optional<TrrWriter> trr_;
    std::optional<EdrWriter> edr_;
    OutputThread thread_; // last: ends before the files go
};

} // namespace parhelion
