// SPDX-License-Identifier: Apache-2.0
// Asynchronous output. OutputThread runs jobs in order on a thread of its own. RunOutput
// owns a run's binary files and converts frames to such jobs. The queue is bounded: a
// disk slower than the simulation slows it down instead of filling the memory.
//
// An error on the thread stops output. The simulation's thread gets it as an exception from the next enqueue() or from close().
#pragma once

#include "io/output/edr.hpp"
#include "io/output/h5md.hpp"
#include "io/output/trr.hpp"
#include "io/output/xtc.hpp"
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
    // `capacity` is the number of jobs that may wait. enqueue() blocks while the queue is full.
    explicit OutputThread(std::size_t capacity = 4);
    ~OutputThread(); // finishes the jobs but loses their errors: call close() first
    OutputThread(const OutputThread&) = delete;
    OutputThread& operator=(const OutputThread&) = delete;

    // Queues a job. Rethrows the error of an earlier job. After an error no job runs, and every call throws this error again.
    void enqueue(std::function<void()> job);
    // Waits for all jobs and ends the thread. Rethrows the error of a job.
    void close();

private:
    void work();
    void join();

    const std::size_t capacity_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_; // guarded by mutex_, as are the next two members
    std::exception_ptr error_;
    bool closing_ = false;
    std::thread thread_;
};

// The files to which a frame is written. Arrays of the frame that no file needs may be empty.
struct FrameDestination
{
    bool compressed = false;              // true: writes x to the .xtc
    bool x = false, v = false, f = false; // true: writes this array to the .trr, and to the .h5md if this has it
};

// The marks (output_file.hpp) of the files of a run, up to the end of their last complete record.
struct OutputMarks
{
    FileMark xtc, trr, edr;
    H5mdFrames h5md{}; // numbers of frames in the .h5md
};

struct RunOutputPlan
{
    std::string xtc, trr, edr; // paths of the files; empty: the run has no such file
    double xtc_precision = 1000;
    std::vector<std::int64_t> xtc_atoms; // global atoms in the .xtc; empty: all atoms
    Precision trr_precision = Precision::Mixed;
    std::vector<std::string> energy_terms;
    std::int64_t first_step = 0;
    double dt = 0; // ps
    H5mdPlan h5md;
    OutputMarks kept; // marks of an earlier part's files; a length of 0 begins a new file
};

class RunOutput
{
public:
    // Opens the files. Throws the errors of OutputFile.
    explicit RunOutput(const RunOutputPlan& plan);

    // Each of these functions throws an earlier error of the output thread, if any. Otherwise it queues the data and returns.
    void write(Frame frame, const FrameDestination& destination);
    void write_energies(std::int64_t step, double time, std::vector<double> values, TermAverages since_last);
    // Queues a job that writes other output, such as a .gro or a line of the log. Jobs and frames are written in order.
    void enqueue(std::function<void()> job) { thread_.enqueue(std::move(job)); }
    // These functions are for jobs. lengths() returns the present lengths of the files, without hashes. add_tails()
    // adds the hashes of files that had these lengths. sync() returns when the files would survive a power failure.
    OutputMarks lengths();
    void add_tails(OutputMarks& marks);
    void sync();
    // Returns, for each file that has one, the result of OutputFile::new_interference(). For jobs.
    std::vector<std::string> new_interferences();
    // Waits until all output is written and closes the files. Rethrows errors.
    void close();

private:
    template <class Visit>
    void for_each_file(Visit&& visit); // calls visit(file, its member of OutputMarks)

    OutputMarks kept_; // marks from an earlier part of the run, for files that this part does not write
    std::optional<XtcWriter> xtc_;
    std::optional<TrrWriter> trr_;
    std::optional<EdrWriter> edr_;
    std::optional<H5mdWriter> h5md_;
    bool h5md_follows_xtc_; // the .h5md has the positions of the .xtc, because the run has no .trr
    OutputThread thread_;   // last member: ends before the files are destroyed
};

} // namespace parhelion
