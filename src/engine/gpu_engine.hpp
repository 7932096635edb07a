// SPDX-License-Identifier: Apache-2.0
// A simulation on one GPU in one numeric policy: the same face and the same semantics as Engine, with the GPU's queue in between.
//
// The idea: the host plans the flags of a whole list interval, replays the graph of that pattern of flags, and sleeps until the
// interval before is done. It then hands on what that interval left: records of observed steps, frames. Two intervals are under
// way at any time, so the GPU never waits for the host. An interval whose flags are up at its end (a list too small, a blow-up)
// is not handed on: the state set aside at its beginning is put back, and it is done again with more room, or on the CPU, which
// finds the same blow-up and says what it always says.
//
// Differences to the CPU: `stop` is looked at between intervals. Minimisation runs on the CPU.
// Cost: host time of one replay and two launches per interval; device memory of about 250 bytes an atom and the pair list.
#pragma once

#include "engine/engine.hpp"
#include "engine/gpu_rank.hpp"

#include <deque>
#include <map>
#include <memory>

namespace parhelion {

template <class N>
class GpuEngine final : public Simulation::Implementation
{
public:
    GpuEngine(System&& system, RunParameters&& parameters, int threads, const SavedState* saved);

    const PlanSummary& plan() const override { return plan_; }
    SinglePoint evaluate() override;
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) override;
    Frame frame() override;
    Frame last_good_frame() override;
    SavedState saved_state() override;

private:
    // A snapshot where the host can read it.
    struct HostSnapshot
    {
        PinnedBuffer<Vec3<typename N::Fixed>> x;
        PinnedBuffer<Vec3<typename N::Real>> v;
        PinnedBuffer<Vec3<double>> f; // empty unless asked for
        PinnedBuffer<DeviceScalars> scalars;
        PinnedBuffer<CouplingState> coupling;
        PinnedBuffer<CouplingGroup> groups;
    };
    // Steps that are queued together: a list interval, or a part of it that a frame ends.
    struct Segment
    {
        std::int64_t first = 0;
        std::vector<StepFlags> flags; // by step
        std::int64_t list_age = 0;    // of the first step
        std::int64_t first_record = 0;
        std::size_t status = 0; // index into status_ and done_
        bool announced = false; // to the observer, if it begins an interval
        bool has_frame() const { return flags.back().due.any_frame(); }
        bool begins_interval() const { return flags.front().repartition; }
        std::int64_t end() const { return first + static_cast<std::int64_t>(flags.size()); }
    };
    static constexpr std::size_t segments_under_way = 2;

    GpuRank<N> make_rank();
    void start_from(const SavedState& saved);
    double time(std::int64_t step) const { return parameters_.start_time + static_cast<double>(step) * parameters_.dt; }

    // Running
    Segment next_segment(const Schedule& schedule, std::int64_t first, std::int64_t last, std::int64_t run_first) const;
    void submit(Segment&& segment);
    const GpuGraph& graph_of(const Segment& segment);
    void queue_segment(const Segment& segment);
    void announce(const Segment& segment, Observer& observer, std::int64_t last);
    // Waits for the oldest segment. Its output, or what its failure demands.
    void complete_oldest(Observer& observer);
    void hand_on(const Segment& segment, Observer& observer);
    void answer_flags(std::uint32_t flags);
    void enlarge_and_go_back(const GpuSnapshot<N>& snapshot);
    [[noreturn]] void blow_up();
    void stop_if_box_too_small(const Vec3<double>& box) const;
    // One observed step that is taken back afterwards; its forces to `f`, if not null.
    Observables observe_here(StepFlags flags, Observer* observer, std::vector<Vec3<double>>* f);

    // Reading
    void copy_to_host(GpuQueue& queue, const GpuSnapshot<N>& from, HostSnapshot& to);
    Frame make_frame(const HostSnapshot& from, const OutputDue& due);
    SavedState make_saved_state(const HostSnapshot& from) const;

    System system_;
    RunParameters parameters_;
    const int threads_;
    GpuQueue queue_, side_, copies_;
    std::unique_ptr<CpuQueue> host_queue_; // for frames
    const std::int64_t first_step_; // of the run, which another simulation may have begun
    GpuRank<N> rank_;
    MoleculeList molecules_;
    ParticleState<N> frame_state_; // in input order: what frames are gathered from

    std::int64_t step_ = 0;      // of the state, once everything queued is done
    std::int64_t list_begin_ = 0; // step at which the list in use was built
    GpuSnapshot<N> at_repartition_, aside_, framed_;
    DeviceBuffer<Vec3<double>> forces_; // by global atom, of framed_
    GpuEvent snapshot_taken_, frame_gathered_, frame_copied_;
    HostSnapshot host_snapshot_;
    std::array<HostSnapshot, segments_under_way + 1> frames_;
    PinnedBuffer<DeviceScalars> status_;
    std::array<GpuEvent, segments_under_way + 1> done_;
    std::size_t submitted_ = 0; // segments
    std::int64_t records_ = 0;  // observed steps queued so far
    std::deque<Segment> under_way_;
    std::map<std::vector<std::uint32_t>, GpuGraph> graphs_; // by pattern of flags

    std::int64_t delivered_ = 0; // steps before this have been handed on
    double latest_temperature_ = 0;
    std::vector<std::pair<double, double>> conserved_; // (ps, kJ/mol) of the observed steps
    PlanSummary plan_;
};

} // namespace parhelion
