// SPDX-License-Identifier: Apache-2.0
// A simulation on GPUs in one numeric policy: the same face and the same semantics as Engine, with queues in between.
//
// The idea: a CPU engine of one rank plans the run and prepares its start, which is uploaded. Then the host works in segments: as
// many list intervals as take some milliseconds. It replays a captured graph for each interval and sleeps until the segment
// before is done, then hands on what that segment left: records of observed steps, a frame. Two segments are under way at any
// time, so the GPU never waits for the host.
//
// A segment that ends with a flag up is not handed on. The state at its beginning is put back, and it is done again, interval by
// interval. The interval that fails again is done with more capacity if a list was too small, in halves if a list that must miss
// nothing was stale, or on the CPU, which finds the same blow-up and explains it. Where atoms have so many neighbours or
// exclusions that no list of the GPU can hold them, the CPU goes on from there for good.
//
// Ranks may be spread over processes (gpu/processes.hpp): each is such an engine, keeps the whole state and decides alike.
//
// Differences to the CPU: `stop` is read when a segment is queued, up to two segments ahead of the atoms. Minimisation runs on
// the CPU. Cost: host time of one replay per interval and of a launch, a copy and a sleep per segment; device memory of about 250
// bytes an atom and the pair list.
#pragma once

#include "engine/engine.hpp"
#include "engine/gpu/output.hpp"
#include "engine/gpu/ranks.hpp"
#include "engine/gpu/segments.hpp"
#include "engine/remedy.hpp"
#include "engine/run_loop.hpp"

#include <optional>

namespace parhelion {

template <class N>
class GpuEngine final : public Simulation::Implementation
{
public:
    // Throws DeviceError if there is no GPU to be had.
    GpuEngine(System&& system, RunParameters&& parameters, const SimulationOptions& options, const SavedState* saved);

    void start(HostWatch* watch) override;
    const PlanSummary& plan() const override { return runs_on_ == RunsOn::Gpus ? plan_ : host_.plan(); }
    SinglePoint evaluate() override;
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) override;
    Frame frame() override;
    Frame last_good_frame() override;
    SavedState saved_state() override;
    std::vector<Timeline> timelines() override;

    // The parts of a run on GPUs (engine/run_loop.hpp).
    std::int64_t next_step() const { return segments_.step(); }
    Look look(RunSpan& run, const std::atomic<bool>& stop, Observer& observer);
    bool advance(const RunSpan& run, Observer& observer);
    bool complete(Observer& observer); // with the output of what was queued, and what its failure demands
    void begin_timed(RunSummary& summary);
    bool finish(const RunSpan& run, RunSummary& summary, Observer& observer);

private:
    enum class RunsOn : std::uint8_t
    {
        Gpus,
        Cpu // for good
    };

    void make_plan(const SimulationOptions& options);
    // Where a list begins: plans lists again, if atoms have become faster or more crowded.
    bool watch_lists(RunSpan& run, Observer& observer);
    bool conditions_anew(ListConditions& conditions, Observer& observer);

    // Running. What returns a bool says whether the run is still on GPUs.
    bool complete_oldest(Observer& observer); // its output, or what its failure demands
    bool make_way(Observer& observer);        // for one more segment
    std::optional<RunSummary> run_on_gpus(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    RunSummary run_on_cpu(std::int64_t first, std::int64_t last, Observer& observer, const std::atomic<bool>& stop);
    // One step that is observed and taken back.
    bool observe_here(const StepFlags& flags, Observer& observer);

    // Recovery (gpu/recovery.cpp)
    bool recover(std::uint32_t flags, Observer& observer);
    void grow_capacity(std::uint32_t flags);
    void build_lists_in_the_middle(Segment& interval);
    [[noreturn]] void blow_up();
    [[noreturn]] void stop_for_missing_terms();
    [[noreturn]] void refuse_grid();
    [[noreturn]] void refuse_mesh();
    void tell_of_halved_intervals(Observer& observer) const;
    // The state at the last repartition becomes the CPU engine's.
    void hand_to_cpu();
    void go_on_on_cpu(const std::string& why); // a sentence

    Frame read_frame(const GpuSnapshot<N>& snapshot); // waits
    // What the first process says of this.
    template <class T>
    T of_first(T value);

    HostWatch* watch_ = nullptr; // nobody, if null
    Engine<N> host_;             // prepares, explains, and takes over
    const RunSetup& setup_;
    const bool keeps_trace_;
    const ListWatch list_watch_;
    ListConditions list_conditions_;                     // that the lists in use are planned for
    ListPlan list_plan_;                                 // for them
    const std::size_t held_before_ = gpu_memory::held(); // by others
    GpuProcesses processes_;
    GpuRanks<N> ranks_;
    GpuSegments<N> segments_;
    GpuOutput<N> output_;
    PlanSummary plan_;
    HostSnapshot<N> read_;
    std::optional<Frame> last_; // of a run spread over processes, which part when it ends

    RunsOn runs_on_ = RunsOn::Gpus;
    std::string why_on_cpu_;
    int attempts_ = 0;                  // to make more room, in a row
    double sure_temperature_ = 0;       // DeviceScalars', of the last segment that is complete
    int shortest_interval_ = 0;         // of lists, that has been told in this run
    std::int64_t intervals_halved_ = 0; // because a list was stale, in this run
};

} // namespace parhelion
