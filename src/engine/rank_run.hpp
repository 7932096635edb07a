// SPDX-License-Identifier: Apache-2.0
// One rank's part of a run: its team of threads, what it holds, and the loop over steps. Every rank runs the same functions at
// the same time and agrees with the others on everything that decides what comes next; rank 0 speaks to the observer.
#pragma once

#include "engine/conserved_energy.hpp"
#include "engine/list_watch.hpp"
#include "engine/rank.hpp"
#include "engine/run_loop.hpp"
#include "engine/simulation.hpp"
#include "engine/snapshot.hpp"
#include "trace/stopwatch.hpp"

#include <atomic>
#include <limits>

namespace parhelion {

// What all ranks of a run have in common; constant once they run.
struct RunSetup
{
    const System& system;
    RunParameters parameters;       // intervals and seeds are filled in
    std::int64_t first_step = 0;    // of the run, which another simulation may have begun
    ListConditions list_conditions; // of the start
    ListPlan list_plan;             // for them
    CellGrid grid;
    UpdateGroups update_groups;
    HaloMethod halo_method = HaloMethod::Direct;
    MeshSetup mesh = {};
    int threads = 1; // of each rank
};

template <class N>
class RankRun
{
public:
    RankRun(const RunSetup& setup, Communicator&& comm);

    // The whole system in one rank: velocities if they are to be made, constraints satisfied, unless `saved` is what the run goes
    // on from. For a rank that is alone, and for share_of().
    void prepare(const SavedState* saved);
    // This rank's part of what a lone one has prepared.
    void share_of(const RankRun& whole);

    // Collective, all of them.
    RunSummary integrate(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    // Forces on rank 0 alone; trouble where it is.
    SinglePoint evaluate();
    // On rank 0; nothing on the others: the configuration with what is due, the state at the last repartition.
    Frame gather_frame(const OutputDue& due);
    SavedState gather_saved_state();
    // Its parts (engine/run_loop.hpp).
    std::int64_t next_step() const { return rank_.step; }
    Look look(RunSpan& run, const std::atomic<bool>& stop, Observer& observer);
    bool advance(const RunSpan& run, Observer& observer);
    bool complete(Observer&) { return true; } // nothing is queued
    void begin_timed(RunSummary&) { queue_.clock().reset(); }
    bool finish(const RunSpan& run, RunSummary& summary, Observer& observer);
    // For a rank that is alone.
    RunSummary minimize(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);

    Rank<N>& rank() { return rank_; }
    const Snapshot<N>& at_repartition() const { return at_repartition_; }
    Communicator& comm() { return comm_; }
    CpuQueue& queue() { return queue_; }

private:
    Rank<N> make_rank();
    void start();
    // What rank 0 has been asked for, known to all.
    struct Orders
    {
        bool stop = false, checkpoint = false;
        std::int64_t next_look = 0; // the step before which ranks ask again, at the latest
    };
    Orders agree(bool stop, bool checkpoint, std::int64_t steps_until_look);
    // Where a list begins: plans lists again, if atoms have become faster or more crowded.
    void watch_lists(RunSpan& run, Observer& observer);
    ListConditions conditions_anew(double sure_temperature);
    std::vector<Vec3<double>> gather_forces();
    // One step, its frames and its energies to the observers.
    void take_step(StepFlags flags, Observer& observer);
    template <class Output>
    std::string take_step_of_point(Output&& output);
    ClusterArray<double> evaluate_static();
    void stop_if_overflowing();
    void set_phases(RunSummary& summary);

    const RunSetup& setup_;
    Communicator comm_;
    CpuQueue queue_;
    ListWatch list_watch_;
    Rank<N> rank_;
    Snapshot<N> at_repartition_; // the last one
    Orders orders_;              // of the last look
    struct
    {
        std::int64_t step = 0;
        Stopwatch since;
    } last_look_;
    ConservedEnergy conserved_;    // of the observed steps
    int shortest_interval_ = 0;    // of lists, that has been told in this run
    double largest_deviation_ = 0; // of a constraint so far: ConstraintResult::largest_deviation
    double latest_temperature_ = std::numeric_limits<double>::quiet_NaN(); // not known yet
};

} // namespace parhelion
