// SPDX-License-Identifier: Apache-2.0
// One rank's part of a run: its team of threads, its data, and the loop over steps. All ranks run the same
// functions at the same time and agree on every decision about the next steps. Only rank 0 calls the observer.
#pragma once

#include "domain/load_balance.hpp"
#include "engine/conserved_energy.hpp"
#include "engine/list_watch.hpp"
#include "engine/prepared_run.hpp"
#include "engine/rank.hpp"
#include "engine/run_loop.hpp"
#include "engine/simulation.hpp"
#include "engine/snapshot.hpp"
#include "trace/stopwatch.hpp"

#include <array>
#include <atomic>
#include <limits>

namespace parhelion {

template <class N>
class RankRun
{
public:
    // Takes this rank's part of the start. The references must outlive this object, except for the start.
    RankRun(const PreparedRun<N>& run, const RankDivision& division, Communicator&& comm);

    // All of the following functions are collective.
    RunSummary integrate(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    // Returns the forces on rank 0 alone. `trouble` is set on the rank that has it.
    SinglePoint evaluate();
    // These functions return a result on rank 0, nothing on others: a frame with what is due; the state at the last repartition.
    Frame gather_frame(const OutputDue& due);
    SavedState gather_saved_state();
    // The functions that the loop over steps calls (engine/run_loop.hpp).
    std::int64_t next_step() const { return rank_.step; }
    Look look(RunSpan& run, const std::atomic<bool>& stop, Observer& observer);
    bool advance(const RunSpan& run, Observer& observer);
    bool complete(Observer&) { return true; } // nothing is queued on a CPU
    void begin_timed(RunSummary&) { reset_clock(); }
    bool finish(const RunSpan& run, RunSummary& summary, Observer& observer);
    // Minimises the energy. Precondition: this rank is alone.
    RunSummary minimize(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);

    Rank<N>& rank() { return rank_; }
    const Snapshot<N>& at_repartition() const { return at_repartition_; }
    Communicator& comm() { return comm_; }
    CpuQueue& queue() { return queue_; }

private:
    // The requests that rank 0 has received and sent to all ranks.
    struct Orders
    {
        bool stop = false, checkpoint = false;
        std::int64_t next_look = 0; // the latest step before which ranks exchange requests again
    };
    Orders agree(bool stop, bool checkpoint, std::int64_t steps_until_look);
    // Called when a list begins. Plans lists again if atoms have become faster or more crowded.
    void watch_lists(RunSpan& run, Observer& observer);
    // Called before a repartition. Once in some lists, moves the borders of cells if ranks differ in their work.
    void balance_load(Observer& observer);
    ListConditions conditions_anew(double sure_temperature);
    std::vector<Vec3<double>> gather_forces();
    // Takes one step and passes its frames and energies to the observer.
    void take_step(StepFlags flags, Observer& observer);
    template <class Output>
    std::string take_step_of_point(Output&& output);
    void list_pairs();
    ClusterArray<double> evaluate_static();
    void stop_if_overflowing();
    class Surface; // what a minimiser sees (engine/rank_surface.cpp)
    void set_phases(RunSummary& summary);
    void reset_clock();

    const RunSetup& setup_;
    Communicator comm_;
    CpuQueue queue_;
    ListWatch list_watch_;
    Rank<N> rank_;
    Snapshot<N> at_repartition_; // state at the last repartition
    Orders orders_;              // result of the last look()
    LoadBalancer balancer_;
    struct
    {
        int lists = 0; // number of lists begun since `before`
        RankWork before;
    } measured_; // for the next move of borders
    struct
    {
        std::int64_t step = 0;
        Stopwatch since;
    } last_look_;
    ConservedEnergy conserved_;    // covers the observed steps of the run
    int shortest_interval_ = 0;    // shortest list interval reported in this run, steps
    double largest_deviation_ = 0; // the largest ConstraintResult::largest_deviation so far
    double latest_temperature_ = std::numeric_limits<double>::quiet_NaN(); // NaN before the first observed step
};

} // namespace parhelion
