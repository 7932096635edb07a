// SPDX-License-Identifier: Apache-2.0
#include "io/output/output.hpp"

#include "base/error.hpp"

#include <utility>

namespace parhelion {

OutputThread::OutputThread(std::size_t capacity) : capacity_(capacity), thread_([this] { work(); })
{
    PARHELION_EXPECTS(capacity > 0);
}

OutputThread::~OutputThread() { join(); }

void OutputThread::enqueue(std::function<void()> job)
{
    std::unique_lock lock(mutex_);
    PARHELION_EXPECTS(!closing_);
    changed_.wait(lock, [this] { return jobs_.size() < capacity_ || error_; });
    if (error_) { std::rethrow_exception(error_); }
    jobs_.push_back(std::move(job));
    changed_.notify_all();
}

void OutputThread::close()
{
    join();
    if (error_) { std::rethrow_exception(error_); }
}

void OutputThread::join()
{
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) { thread_.join(); }
}

void OutputThread::work()
{
    std::unique_lock lock(mutex_);
    for (;;)
    {
        changed_.wait(lock, [this] { return !jobs_.empty() || closing_; });
        if (jobs_.empty()) { return; }
        std::function<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        changed_.notify_all();
        lock.unlock();
        std::exception_ptr error;
        try
        {
            job();
        }
        catch (...)
        {
            error = std::current_exception();
        }
        job = nullptr; // frees the frame while the lock is not held
        lock.lock();
        if (error)
        {
            error_ = error;
            jobs_.clear();
            changed_.notify_all();
        }
    }
}

RunOutput::RunOutput(const RunOutputPlan& plan) : kept_(plan.kept), h5md_follows_xtc_(plan.trr.empty())
{
    if (!plan.h5md.path.empty()) { h5md_.emplace(plan.h5md, plan.kept.h5md); } // first: unchecked so far, so it may throw
    if (!plan.xtc.empty()) { xtc_.emplace(plan.xtc, plan.xtc_precision, plan.xtc_atoms, plan.kept.xtc); }
    if (!plan.trr.empty()) { trr_.emplace(plan.trr, plan.trr_precision, plan.kept.trr); }
    if (!plan.edr.empty()) { edr_.emplace(plan.edr, plan.energy_terms, plan.first_step, plan.dt, plan.kept.edr); }
}

void RunOutput::write(Frame frame, const FrameDestination& destination)
{
    const bool full = destination.x || destination.v || destination.f;
    PARHELION_EXPECTS((xtc_ || !destination.compressed) && (trr_ || !full));
    thread_.enqueue([this, destination, full, handed_over = std::move(frame)]() mutable {
        if (destination.compressed) { xtc_->write(handed_over); }
        if (destination.compressed && h5md_ && h5md_follows_xtc_) { h5md_->write(handed_over); }
        if (!full) { return; }
        if (!destination.x) { handed_over.x.clear(); }
        if (!destination.v) { handed_over.v.clear(); }
        if (!destination.f) { handed_over.f.clear(); }
        trr_->write(handed_over);
        if (h5md_) { h5md_->write(handed_over); }
    });
}

void RunOutput::write_energies(std::int64_t step, double time, std::vector<double> values, TermAverages since_last)
{
    PARHELION_EXPECTS(edr_.has_value());
    thread_.enqueue([this, step, time, terms = std::move(values), averages = std::move(since_last)] {
        edr_->write(step, time, terms, averages);
    });
}

template <class Visit>
void RunOutput::for_each_file(Visit&& visit)
{
    if (xtc_) { visit(xtc_->file(), &OutputMarks::xtc); }
    if (trr_) { visit(trr_->file(), &OutputMarks::trr); }
    if (edr_) { visit(edr_->file(), &OutputMarks::edr); }
}

OutputMarks RunOutput::lengths()
{
    OutputMarks marks = kept_;
    for_each_file([&](OutputFile& file, FileMark OutputMarks::*mark) { (marks.*mark).bytes = file.length(); });
    if (h5md_) { marks.h5md = h5md_->frames(); }
    return marks;
}

void RunOutput::add_tails(OutputMarks& marks)
{
    for_each_file([&](OutputFile& file, FileMark OutputMarks::*mark) { marks.*mark = file.mark((marks.*mark).bytes); });
}

void RunOutput::sync()
{
    for_each_file([](OutputFile& file, FileMark OutputMarks::*) { file.sync(); });
    if (h5md_) { h5md_->sync(); }
}

std::vector<std::string> RunOutput::new_interferences()
{
    std::vector<std::string> found;
    for_each_file([&](OutputFile& file, FileMark OutputMarks::*) {
        std::string text = file.new_interference();
        if (!text.empty()) { found.push_back(std::move(text)); }
    });
    return found;
}

void RunOutput::close()
{
    thread_.close();
    if (xtc_) { xtc_->close(); }
    if (trr_) { trr_->close(); }
    if (edr_) { edr_->close(); }
    if (h5md_) { h5md_->close(); }
}

} // namespace parhelion
