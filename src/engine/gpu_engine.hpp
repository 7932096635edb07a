// SPDX-License-Identifier: Apache-2.0
// A simulation on one GPU in one numeric policy: the same face and the same semantics as Engine, with the GPU's queue in between.
//
// The idea: a lone CPU engine plans the run and prepares its start, which is then uploaded. From there the host plans the flags
// of a whole list interval, replays the graph of that pattern of flags, and sleeps until the interval before is done. It then
// hands on what that interval left: records of observed steps, frames. Two intervals are under way at any time, so the GPU never
// waits for the host. An interval whose flags are up at its end is not handed on: the state set aside at its beginning is put
// back, and it is done again, with more room if a list was too small, or on the CPU, which finds the same blow-up and says what
// it always says. Where so many atoms crowd that no list of the GPU can hold them, the CPU goes on from there for good.
//
// Differences to the CPU: `stop` is looked at when an interval is queued, up to two intervals ahead of the atoms. Minimisation
// runs on the CPU. Cost: host time of one replay and three launches per interval; device memory of about 250 bytes an atom and
// the pair list.
#pragma once

#include "engine/engine.hpp"
#include "engine/gpu_rank.hpp"
#include "engine/slope.hpp"

#include <deque>
#include <map>

namespace parhelion {

template <class N>
class GpuEngine final : public Simulation::Implementation
{
public:
    // Throws DeviceError if there is no GPU to be had.
    GpuEngine(System&& system, RunParameters&& parameters, const SimulationOptions& options, const SavedState* saved);

    const PlanSummary& plan() const override { return plan_; }
    SinglePoint evaluate() override;
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) override;
    Frame frame() override;
    Frame last_good_frame() override;
    SavedState saved_state() override;

private:
    using Clock = std::chrono::steady_clock;

    // A snapshot where the host can read it; arrays that were not asked for are of an older one.
    struct HostSnapshot
    {
        PinnedBuffer<Vec3<typename N::Fixed>> x;
        PinnedBuffer<Vec3<typename N::Real>> v;
        PinnedBuffer<Vec3<typename N::ForceSum>> f;
        PinnedBuffer<DeviceScalars> scalars{1};
    };
    // Steps that are queued together: a list interval, or a part of it that a frame ends.
    struct Segment
    {
        std::int64_t first = 0;
        std::int64_t list_age = 0;    // of the first step
        std::vector<StepFlags> flags; // by step
        std::int64_t first_record = 0;
        std::size_t place = 0; // in status_, done_ and frames_

        bool begins_interval() const { return flags.front().repartition; }
        bool has_frame() const { return flags.back().due.any_frame(); }
        std::int64_t end() const { return first + static_cast<std::int64_t>(flags.size()); }
    };
    static constexpr std::size_t segments_under_way = 2;

    GpuRank<N> make_rank(Rank<N>& start);
    void make_plan();
    double time(std::int64_t step) const;

    // Running
    Segment next_segment(const Schedule& schedule, std::int64_t first, std::int64_t last, std::int64_t run_first) const;
    void queue_segment(const Segment& segment);
    void replay(const Segment& segment);
    void submit(Segment segment);
    void copy_frame(const Segment& segment);
    void announce(Observer& observer, std::int64_t last);
    // Waits for the oldest segment. Its output, or what its failure demands.
    void complete_oldest(Observer& observer);
    void complete_all(Observer& observer);
    void hand_on(const Segment& segment, Observer& observer);
    // Thrown where no larger list would do.
    struct NoRoom
    {
    };
    void do_again_with_more_room(std::uint32_t flags);
    // The state at the beginning of the oldest segment becomes the host engine's.
    void hand_to_host();
    [[noreturn]] void blow_up();
    RunSummary run_on_gpu(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    RunSummary run_on_host(std::int64_t first, std::int64_t last, Observer& observer, const std::atomic<bool>& stop);
    void stop_if_box_too_small(const Segment& segment);
    // One step that is observed and taken back.
    void observe_here(const StepFlags& flags, Observer& observer);
    double pairs_per_atom();

    // Reading
    Frame read_frame(const GpuSnapshot<N>& snapshot); // waits
    Frame make_frame_of(const HostSnapshot& from, const OutputDue& due);
    void copy_to_host(GpuQueue& queue, const GpuSnapshot<N>& from, const OutputDue& due, HostSnapshot& to);

    Engine<N> host_;       // prepares and explains
    bool on_host_ = false; // it has taken over
    const RunSetup& setup_;
    GpuQueue queue_, side_, copies_;
    const ListPlan list_plan_;
    GpuRank<N> rank_;
    PlanSummary plan_;

    std::int64_t step_ = 0;       // of the state, once everything queued is done
    std::int64_t list_begin_ = 0; // step at which the list was built that is in use then
    GpuSnapshot<N> at_repartition_, aside_, framed_;
    DeviceBuffer<Vec3<typename N::ForceSum>> framed_forces_;
    HostSnapshot read_;

    std::deque<Segment> under_way_;
    std::size_t submitted_ = 0; // segments so far
    std::int64_t records_ = 0;  // observed steps queued so far
    PinnedBuffer<DeviceScalars> status_;
    std::array<HostSnapshot, segments_under_way + 1> frames_;
    std::array<GpuEvent, segments_under_way + 1> done_;
    GpuEvent frame_taken_, frame_copied_;
    bool room_is_made_ = false;                             // everything is allocated: what is queued may be captured
    int attempts_ = 0;                                      // to make more room, in a row
    std::map<std::vector<std::uint32_t>, GpuGraph> graphs_; // by pattern of flags

    double latest_temperature_ = 0;
    Slope drift_; // of the conserved energy of the observed steps, kJ/mol/ps
};

} // namespace parhelion
