// SPDX-License-Identifier: Apache-2.0
// What happens once per list interval: atoms change hands and order, the halo is planned, the pair list built; and what happens
// to the list in between.
#pragma once

#include "domain/migrate.hpp"
#include "engine/assign.hpp"
#include "engine/rank.hpp"
#include "engine/runaway.hpp"
#include "pairs/cluster_order.hpp"

namespace parhelion {

template <class N>
void repartition(Rank<N>& r)
{
    stop_if_box_too_small(r);
    migrate(r.queue, r.grid, r.topology, r.update_groups, r.comm, r.step, r.state);
    reorder(r.queue, r.state);
    r.halo.bind(build_halo(r.queue, r.grid, pattern_of(r.halo.method()), r.list_plan.cutoff, r.comm, r.step, r.state));
    build_pair_list(r.queue, r.state, r.topology, r.list_plan.cutoff, r.pairs);
    if (r.comm.ranks() > 1) { assign_work(r); }
    r.list_step = r.step;
}

// Prunes the list when its plan says so: with the build and at even distances after it.
template <class N>
void prune_if_due(Rank<N>& r)
{
    const ListPlan& plan = r.list_plan;
    if (plan.prune_interval > 0 && (r.step - r.list_step) % plan.prune_interval == 0)
    {
        prune_pair_list(r.queue, r.state, plan.pruned_cutoff, r.pairs);
    }
}

} // namespace parhelion
