// SPDX-License-Identifier: Apache-2.0
// The minimisation of a CPU rank that is alone: RankRun::minimize() (engine/rank_run.hpp).
#include "base/error.hpp"
#include "dynamics/minimise/points.hpp"
#include "engine/guard.hpp"
#include "engine/minimisation.hpp"
#include "engine/overflow.hpp"
#include "engine/rank_run.hpp"
#include "engine/repartition.hpp"
#include "engine/step.hpp"
#include "pairs/cluster_order.hpp"

#include <limits>
#include <utility>

namespace parhelion {

// Sorts the atoms and builds a pair list, which serves until has_moved_beyond_buffer().
template <class N>
void RankRun<N>::list_pairs()
{
    Rank<N>& r = rank_;
    reorder(queue_, r.state);
    build_pair_list(queue_, r.state, r.topology, r.list_plan.cutoff, r.pairs);
    r.listed.keep(r.state);
}

// Computes forces and energies without velocities. Returns the forces for a minimisation; nothing if an external force failed.
template <class N>
ClusterArray<double> RankRun<N>::evaluate_static()
{
    Rank<N>& r = rank_;
    compute_forces(r, Compute::ForcesEnergiesVirial);
    if (!add_external_forces(r)) { return {}; }
    spread_site_forces(r, Compute::ForcesEnergiesVirial);
    ForcesAtRest<N> at_rest =
        forces_at_rest(queue_, r.tables.constraints, r.assigned_constraints, r.state, ConstraintMasses::Equal, r.tables.mobility);
    r.constraint_result = at_rest.of_constraints;
    observe(r, r.coupling.half_step);
    balance_energy(r, given_energy(r));
    return std::move(at_rest.free);
}

// Throws an error if a minimisation begins with values that are not finite.
template <class N>
void RankRun<N>::stop_if_overflowing()
{
    OutputDue due;
    due.x = due.f = true;
    const std::string text = overflow_text(rank_.observables, gather_frame(due), setup_.system.topology);
    if (!text.empty()) { throw PhysicsError(rank_.step, text); }
}

template <class N>
class RankRun<N>::Surface final : public MinimisedSystem
{
public:
    explicit Surface(RankRun& run) : run_(run), r_(run.rank_), queue_(run.queue_) {}

    std::optional<SurfacePoint> evaluate() override
    {
        if (!constraints_hold_) { return SurfacePoint{.potential = std::numeric_limits<double>::infinity()}; }
        r_.tables.sites.construct(queue_, r_.assigned_sites, r_.state);
        if (is_first_ || has_moved_beyond_buffer(r_))
        {
            run_.list_pairs();
            ++lists_built_;
        }
        const ClusterArray<double> forces = run_.evaluate_static();
        if (r_.external.has_failed) { return {}; }
        if (is_first_) { run_.stop_if_overflowing(); }
        is_first_ = false;
        return points_.take(queue_, r_.observables.potential, forces, r_.state);
    }
    void accept() override { points_.accept(queue_, r_.state); }
    void move(double factor) override
    {
        constraints_hold_ = points_.move(queue_, r_.tables.constraints, r_.assigned_constraints, factor, r_.state);
    }
    void return_to_base() override
    {
        constraints_hold_ = true;
        points_.return_to_base(queue_, r_.state);
        r_.tables.sites.construct(queue_, r_.assigned_sites, r_.state);
    }
    void combine(int into, const Term& a, const Term& b) override { points_.combine(queue_, into, a, b); }
    double product(int a, int b) override { return points_.product(queue_, a, b); }
    double largest(int vector) override { return points_.largest(vector); }

    Observables observables() override { return r_.observables; }
    Frame frame(const OutputDue& due) override { return run_.gather_frame(due); }
    std::string range_remark() override
    {
        if constexpr (N::summation != Summation::Reproducible) { return {}; }
        return parhelion::range_remark<N>(run_.gather_forces(), r_.observables.forces);
    }

    double energy_rounding() const override { return rounding_of_energies<N>; }
    std::int64_t lists_built() const override { return lists_built_; }

private:
    RankRun& run_;
    Rank<N>& r_;
    CpuQueue& queue_;
    MinimiserPoints<N> points_;
    std::int64_t lists_built_ = 0;
    bool is_first_ = true, constraints_hold_ = true;
};

template <class N>
RunSummary RankRun<N>::minimize(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    PARHELION_EXPECTS(comm_.ranks() == 1);
    queue_.clock().reset();
    Surface surface(*this);
    RunSummary summary = minimise(surface, setup_, rank_.step, steps, observer, stop);
    rank_.step += summary.steps;
    set_phases(summary);
    return summary;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void RankRun<N>::list_pairs();                                                                                      \
    template ClusterArray<double> RankRun<N>::evaluate_static();                                                                 \
    template RunSummary RankRun<N>::minimize(std::int64_t, Observer&, const std::atomic<bool>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
