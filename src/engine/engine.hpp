// SPDX-License-Identifier: Apache-2.0
// A simulation in one numeric policy: plans the run, deals the system out to ranks, and lets each run on a thread of its own.
#pragma once

#include "comm/world.hpp"
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
    // The last part of construction, which waits for GPUs: apart, so that nothing is destroyed if it throws. From here on what
    // the host does itself is none of `watch`'s business; null: nobody watches.
    virtual void start(HostWatch* /*watch*/) {}
    virtual const PlanSummary& plan() const = 0;
    virtual SinglePoint evaluate() = 0;
    virtual RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) = 0;
    virtual Frame frame() = 0;
    virtual Frame last_good_frame() = 0;
    virtual SavedState saved_state() = 0;
    virtual std::vector<Timeline> timelines() = 0;
};

// Ranks that do PME's mesh and nothing else, of so many (--pme dedicated). Throws InputError E635 if none is left for the atoms,
// or there is no mesh.
int mesh_ranks(const RunParameters& parameters, const SimulationOptions& options, int ranks);

template <class N>
class Engine final : public Simulation::Implementation
{
public:
    Engine(System&& system, RunParameters&& parameters, const SimulationOptions& options, const SavedState* saved);

    const PlanSummary& plan() const override { return plan_; }
    void remark_on_gpus(std::string remark) { plan_.gpus_remark = std::move(remark); } // why this run is on none of them
    SinglePoint evaluate() override;
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop) override;
    Frame frame() override;
    Frame last_good_frame() override;
    SavedState saved_state() override;
    std::vector<Timeline> timelines() override;

    // For a backend that lets this engine plan and prepare its run, and explain a blow-up.
    const RunSetup& setup() const { return setup_; }
    RankRun<N>& lone_run() { return *runs_[0]; }
    // With a core for a helper that has started since. By the thread that made this.
    void share_cores_again();

private:
    // Every rank's run at once (comm/run_ranks.hpp).
    void on_every_run(const std::function<void(RankRun<N>&)>& body);
    void make_plan(const SimulationOptions& options);
    // Of the last repartition; while no rank runs.
    std::vector<AtomData<N>> collect_last_good() const;
    bool is_spread() const { return runs_.size() < static_cast<std::size_t>(world_->ranks()); } // over processes
    void gather_end(RankRun<N>& run, RunSummary& summary);
    void stop_if_not_here(const char* what) const;

    const System system_;
    RunSetup setup_;
    std::unique_ptr<World> world_;
    std::optional<CoresForHelpers> cores_;          // shared out once the world's helpers have started, before the ranks' threads
    std::vector<std::unique_ptr<RankRun<N>>> runs_; // those here, by rank
    struct End
    {
        Frame frame;
        SavedState saved;
    };
    std::optional<End> end_; // of a run spread over processes, with its first rank
    PlanSummary plan_;
};

} // namespace parhelion
