// SPDX-License-Identifier: Apache-2.0
// A simulation in one numeric policy: plans the run, divides the system among ranks, and runs each rank on a thread of its own.
#pragma once

#include "comm/world/world.hpp"
#include "engine/gather.hpp"
#include "engine/rank_run.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace parhelion {

class Simulation::Implementation
{
public:
    virtual ~Implementation() = default;
    // The last part of construction, which waits for GPUs. It is a separate function, so that an exception in it does not
    // destroy the object. `watch` times only calls into the GPU driver, not other work of the host. Null: there is no watch.
    virtual void start(HostWatch* /*watch*/) {}
    virtual const PlanSummary& plan() const = 0;
    // Throws InputError E636 unless this engine supports external forces.
    virtual void add_force(std::shared_ptr<ExternalForce> force);
    virtual SinglePoint evaluate() = 0;
    virtual void set_output(const OutputIntervals& intervals) = 0;
    virtual RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) = 0;
    virtual Frame frame() = 0;
    virtual Frame last_good_frame() = 0;
    virtual SavedState saved_state() = 0;
    virtual std::vector<Timeline> timelines() = 0;
};

// Returns how many of `ranks` ranks compute only PME's mesh (--pme dedicated).
// Throws InputError E635 if no rank is left for the atoms, or if there is no mesh.
int mesh_ranks(const RunParameters& parameters, const SimulationOptions& options, int ranks);

// Sets the intervals of output in `parameters`.
void set_output(const OutputIntervals& intervals, RunParameters& parameters);

template <class N>
class Engine final : public Simulation::Implementation
{
public:
    // The ranks take their parts of run->start, which is then no longer needed.
    Engine(std::shared_ptr<PreparedRun<N>> run, const SimulationOptions& options);

    const PlanSummary& plan() const override { return plan_; }
    void remark_on_gpus(std::string remark) { plan_.gpus_remark = std::move(remark); } // remark: why this run uses no GPU
    void add_force(std::shared_ptr<ExternalForce> force) override;
    SinglePoint evaluate() override;
    void set_output(const OutputIntervals& intervals) override { parhelion::set_output(intervals, setup_.parameters); }
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) override;
    Frame frame() override;
    Frame last_good_frame() override;
    SavedState saved_state() override;
    std::vector<Timeline> timelines() override;

    std::int64_t next_step() const { return runs_[0]->next_step(); }

private:
    // Calls body(run) for every rank's run of this process, all at the same time (comm/launch/run_ranks.hpp).
    void on_every_run(const std::function<void(RankRun<N>&)>& body);
    void make_plan(const SimulationOptions& options);
    // Returns the atoms as of the last repartition. Call it while no rank runs.
    std::vector<AtomData<N>> collect_last_good() const;
    bool is_spread() const { return runs_.size() < static_cast<std::size_t>(world_->ranks()); } // several processes have ranks
    void gather_end(RankRun<N>& run, RunSummary& summary);
    void stop_if_not_here(const char* what) const;

    const std::shared_ptr<PreparedRun<N>> run_;
    RunSetup& setup_; // of run_
    RankDivision division_;
    std::unique_ptr<World> world_;
    std::optional<CoresForHelpers> cores_;          // set after the world's helpers start, before the ranks' threads
    std::vector<std::unique_ptr<RankRun<N>>> runs_; // the runs of this process's ranks, indexed from its first rank
    struct End
    {
        Frame frame;
        SavedState saved;
    };
    std::optional<End> end_; // result of a run spread over processes, on its first rank; empty before the end
    PlanSummary plan_;
};

} // namespace parhelion
