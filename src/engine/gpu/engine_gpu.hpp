// SPDX-License-Identifier: Apache-2.0
// A simulation on GPUs in one numeric policy. It has the interface and the semantics of Engine, but queues its work.
//
// The idea: the start of the run (engine/prepared_run.hpp) is uploaded. Then the host works in segments. A segment has as many
// list intervals as take some milliseconds. The host replays a captured graph for each interval and sleeps until the previous
// segment is done. Then it passes on the output of the previous segment: records of observed steps, and a frame. Two segments are
// in flight at any time, so the GPU never waits for the host.
//
// A segment that ends with a flag raised has failed, and its output is dropped. The state at its beginning is restored, and it
// is repeated interval by interval. If a list was too small, the interval that fails again is repeated with more capacity. If a
// list that must miss no pair was stale, it is repeated in halves. In a blow-up the CPU repeats it, finds the same and explains
// it. If atoms have more neighbours or exclusions than any list of the GPU can hold, the CPU takes over for the rest of the run.
//
// Ranks may be spread over processes (gpu/processes.hpp). Each process has a GpuEngine, keeps the whole state and decides alike.
//
// A minimisation has no segments: the host waits for each evaluation (gpu/surface_gpu.hpp).
//
// Differences to the CPU: `stop` is read when a segment is queued, up to two segments before its
// steps run. Cost on the host: a replay per interval; a launch, a copy and a sleep per segment.
// Cost of device memory: about 250 bytes an atom, and the pair list.
#pragma once

#include "device/helper_threads.hpp"
#include "engine/engine.hpp"
#include "engine/gpu/output.hpp"
#include "engine/gpu/ranks.hpp"
#include "engine/gpu/segments.hpp"
#include "engine/gpu/surface_gpu.hpp"
#include "engine/prepared_run.hpp"
#include "engine/remedy.hpp"
#include "engine/run_loop.hpp"

#include <memory>
#include <optional>

namespace parhelion {

template <class N>
class GpuEngine final : public Simulation::Implementation
{
public:
    // Throws DeviceError if no GPU is available.
    GpuEngine(std::shared_ptr<PreparedRun<N>> run, const SimulationOptions& options);

    void start(HostWatch* watch) override;
    const PlanSummary& plan() const override { return is_on_gpus() ? plan_ : on_cpu_->plan(); }
    SinglePoint evaluate() override;
    void set_output(const OutputIntervals& intervals) override { parhelion::set_output(intervals, setup_.parameters); }
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) override;
    Frame frame() override;
    Frame last_good_frame() override;
    SavedState saved_state() override;
    std::vector<Timeline> timelines() override;

    // The functions of an engine that the loop over steps calls (engine/run_loop.hpp).
    std::int64_t next_step() const { return segments_.step(); }
    Look look(RunSpan& run, const std::atomic<bool>& stop, Observer& observer);
    bool advance(const RunSpan& run, Observer& observer);
    bool complete(Observer& observer); // also passes on output of queued work and handles its failures
    void begin_timed(RunSummary& summary);
    bool finish(const RunSpan& run, RunSummary& summary, Observer& observer);

private:
    void make_plan(const SimulationOptions& options);
    bool is_on_gpus() const { return on_cpu_ == nullptr; }
    // Called when a list begins. Plans lists again if atoms have become faster or more crowded. False: the run left the GPUs.
    bool watch_lists(RunSpan& run, Observer& observer);
    bool conditions_anew(ListConditions& conditions, Observer& observer);

    // The following functions run the steps. A bool that they return says whether the run is still on GPUs.
    bool complete_oldest(Observer& observer); // passes on the oldest segment's output, or handles its failure
    bool make_way(Observer& observer);        // completes segments until one more can be queued
    std::optional<RunSummary> run_on_gpus(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    RunSummary run_on_cpu(std::int64_t first, std::int64_t last, Observer& observer, const std::atomic<bool>& stop);
    // Observes one step, passes the result to the observer, and then undoes the step.
    bool observe_here(const StepFlags& flags, Observer& observer);

    // The following functions repeat failed segments (gpu/recovery.cpp).
    bool recover(std::uint32_t flags, Observer& observer);
    void grow_capacity(std::uint32_t flags);
    void build_lists_in_the_middle(Segment& interval);
    // Returns the step that failed, and the state from which failed steps can be repeated.
    std::int64_t failed_step() const { return segments_.is_empty() ? segments_.step() : segments_.oldest().first; }
    const GpuSnapshot<N>& kept_state() const { return surface_ ? surface_->base() : segments_.at_repartition(); }
    [[noreturn]] void blow_up();
    [[noreturn]] void stop_for_missing_terms();
    [[noreturn]] void refuse_grid();
    [[noreturn]] void refuse_mesh();
    void tell_of_halved_intervals(Observer& observer) const;
    // Returns an engine of the CPU with the state at the last repartition. Drops the segments in flight.
    std::unique_ptr<Engine<N>> make_cpu_engine();
    void go_on_on_cpu(const std::string& why); // why: a sentence

    // The following functions serve minimisations. They return nothing if the CPU has to go on.
    typename GpuSurface<N>::Hooks hooks_of_surface();
    std::optional<RunSummary> minimise_on_gpus(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    std::optional<SinglePoint> evaluate_at_rest();

    Frame read_frame(const GpuSnapshot<N>& snapshot); // waits for the GPU
    // Returns the value that the first process has passed to this function, on all processes.
    template <class T>
    T of_first(T value);

    HostWatch* watch_ = nullptr; // null: there is no watch
    const std::shared_ptr<PreparedRun<N>> run_;
    RunSetup& setup_;                      // of run_
    const SimulationOptions on_host_;      // on_one_rank()
    std::optional<CoresForHelpers> cores_; // set before the threads of queue_ start; empty once an engine of the CPU divides them
    CpuQueue queue_;                       // makes frames
    const bool keeps_trace_;
    const ListWatch list_watch_;
    ListConditions list_conditions_; // conditions for which the lists in use are planned
    ListPlan list_plan_;             // plan for list_conditions_
    const std::ptrdiff_t allocated_before_ = gpu_memory::allocated_by_thread(); // bytes
    GpuProcesses processes_;
    GpuRanks<N> ranks_;
    GpuSegments<N> segments_;
    GpuOutput<N> output_;
    std::unique_ptr<GpuSurface<N>> surface_; // null: the run is no minimisation
    PlanSummary plan_;
    HostSnapshot<N> read_;
    std::optional<Frame> last_; // last frame of a run spread over processes, kept since processes separate at the end

    std::unique_ptr<Engine<N>> on_cpu_; // takes the rest of the run; null: the run is on GPUs
    std::string why_on_cpu_;
    int attempts_ = 0;                  // consecutive attempts to increase capacity
    double sure_temperature_ = 0;       // DeviceScalars::sure_temperature at the end of the last completed segment
    int shortest_interval_ = 0;         // shortest list interval reported in this run, steps
    std::int64_t intervals_halved_ = 0; // list intervals halved in this run because a list was stale
};

} // namespace parhelion
