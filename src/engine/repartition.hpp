// SPDX-License-Identifier: Apache-2.0
// What happens once per list interval: new atom order, new pair list; and to the list in between. With one rank nobody changes
// hands.
#pragma once

#include "engine/rank.hpp"
#include "engine/runaway.hpp"
#include "pairs/cluster_order.hpp"

namespace parhelion {

template <class N>
void repartition(Rank<N>& r)
{
    stop_if_box_too_small(r);
    reorder(r.queue, r.state);
    build_pair_list(r.queue, r.state, r.topology, r.list_plan.cutoff, r.pairs);
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
