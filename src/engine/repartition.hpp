// SPDX-License-Identifier: Apache-2.0
// What happens once per list interval: new atom order, new pair list. With one rank nobody changes hands.
#pragma once

#include "engine/rank.hpp"
#include "pairs/cluster_order.hpp"

namespace parhelion {

template <class N>
void repartition(Rank<N>& r)
{
    reorder(r.queue, r.state);
    build_pair_list(r.queue, r.state, r.topology, r.molecules, r.list_plan.cutoff, r.pairs);
}

} // namespace parhelion
