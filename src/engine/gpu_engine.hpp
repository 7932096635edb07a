// SPDX-License-Identifier: Apache-2.0
// A simulation on GPUs in one numeric policy: the same face and the same semantics as Engine, with queues in between.
//
// The idea: a lone CPU engine plans the run and prepares its start, which is then uploaded. From there the host plans a segment,
// as many list intervals as take some milliseconds, replays for each the graph of its pattern of flags, and sleeps until the
// segment before is done. It then hands on what that left: records of observed steps, a frame. Two segments are under way at any
// time, so the GPU never waits for the host. A segment with a flag up at its end is not handed on: the state set aside at its
// beginning is put back, and it is done again, interval by interval; the interval that fails then is done again with more room if
// a list was too small, in halves if a list that must miss nothing had aged, or on the CPU, which finds the same blow-up and says
// what it always says. Where atoms have so many neighbours or exclusions that no list of the GPU can hold them, the CPU goes on
// from there for good.
//
// Differences to the CPU: `stop` is looked at when a segment is queued, up to two segments ahead of the atoms. Minimisation runs
// on the CPU. Cost: host time of one replay per interval and of a launch, a copy and a sleep per segment; device memory of about
// 250 bytes an atom and the pair list.
#pragma once

#include "engine/engine.hpp"
#include "engine/gpu_frame.hpp"
#include "engine/gpu_ranks.hpp"
#include "engine/segment.hpp"
#include "engine/slope.hpp"

#include <deque>
#include <limits>

namespace parhelion {

template <class N>
class GpuEngine final : public Simulation::Implementation
{
public:
    // Throws DeviceError if there is no GPU to be had.
    GpuEngine(System&& system, RunParameters&& parameters, const SimulationOptions& options, const SavedState* saved);

    void start(HostWatch* watch) override;
    const PlanSummary& plan() const override { return why_on_host_.empty() ? plan_ : host_.plan(); }
    SinglePoint evaluate() override;
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) override;
    Frame frame() override;
    Frame last_good_frame() override;
    SavedState saved_state() override;
    std::vector<Timeline> timelines() override;

private:
    using Clock = std::chrono::steady_clock;

    static constexpr std::size_t segments_under_way = 2;

    void make_plan(const SimulationOptions& options);
    double time(std::int64_t step) const;

    // Running
    void submit(Segment segment);
    void copy_frame(const Segment& segment);
    void keep_last_repartition() { ranks_.keep_state(at_repartition_); }
    // Waits for the oldest segment. Its output, or what its failure demands.
    void complete_oldest(Observer& observer);
    void complete_all(Observer& observer);
    void make_way(Observer& observer); // for one more segment
    void hand_on(const Segment& segment, Observer& observer);
    // Thrown where no larger list would do.
    struct NoRoom
    {
    };
    void do_again(std::uint32_t flags, Observer& observer);
    void prepare_to_do_again(std::uint32_t flags);
    void make_more_room(std::uint32_t flags);
    [[noreturn]] void stop_for_missing_terms();
    // The state at the beginning of the oldest segment becomes the host engine's.
    void hand_to_host();
    void go_on_at_host(const std::string& why); // a sentence
    [[noreturn]] void blow_up();
    RunSummary run_on_gpu(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    RunSummary run_on_host(std::int64_t first, std::int64_t last, Observer& observer, const std::atomic<bool>& stop);
    void tell_progress(std::int64_t step, Observer& observer) const;
    bool is_recorded(std::int64_t list_begin) const;
    void finish(RunSummary& summary, Observer& observer);
    void tell_of_halved_intervals(Observer& observer) const;
    // One step that is observed and taken back.
    void observe_here(const StepFlags& flags, Observer& observer);

    // Reading
    Frame read_frame(const GpuSnapshot<N>& snapshot); // waits

    HostWatch* watch_ = nullptr; // nobody, if null
    Engine<N> host_;             // prepares and explains
    std::string why_on_host_;    // it has taken over, for this reason; empty: it has not
    const RunSetup& setup_;
    const bool keeps_trace_;
    const ListPlan list_plan_;
    const std::size_t held_before_ = gpu_memory::held(); // by others
    GpuRanks<N> ranks_;
    GpuQueue copies_; // on rank 0's GPU
    PlanSummary plan_;

    std::int64_t step_ = 0;       // of the state, once everything queued is done
    std::int64_t list_begin_ = 0; // step at which the list was built that is in use then
    GpuSnapshot<N> at_repartition_, aside_;
    HostSnapshot<N> read_;

    std::int64_t last_ = 0; // of the run
    std::deque<Segment> under_way_;
    SegmentPace pace_;
    bool is_profiled_ = false;     // what is queued now: the last segment before the part that is timed, if there is no trace
    bool is_single_point_ = false; // whoever asked for what is handed on judges it
    std::size_t submitted_ = 0;    // segments so far
    std::int64_t records_ = 0;     // observed steps queued so far
    PinnedBuffer<DeviceScalars> status_;
    std::array<HostSnapshot<N>, segments_under_way + 1> frames_;
    std::array<GpuEvent, segments_under_way + 1> done_;
    GpuEvent frame_taken_, frame_copied_;
    int attempts_ = 0;                  // to make more room, in a row
    std::int64_t intervals_halved_ = 0; // because a list had aged, in this run

    double latest_temperature_ = std::numeric_limits<double>::quiet_NaN(); // not known yet
    Slope drift_; // of the conserved energy of the observed steps, kJ/mol/ps
};

} // namespace parhelion
