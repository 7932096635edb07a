// SPDX-License-Identifier: Apache-2.0
// The work of each list interval: atoms change owner and order, the halo is planned, and the
// pair list is built. Within an interval the pair list is pruned, and checked for being stale.
#pragma once

#include "domain/migrate.hpp"
#include "dynamics/shear_body.hpp"
#include "engine/assign.hpp"
#include "engine/rank.hpp"
#include "engine/unstable_atom.hpp"
#include "pairs/cluster_order.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

template <class N>
void repartition(Rank<N>& r)
{
    stop_if_box_too_small(r.step, r.state.box.edges().largest_cutoff(), r.list_plan.cutoff);
    migrate(r.queue, r.grid, r.topology, r.update_groups, r.comm, r.step, r.state);
    reorder(r.queue, r.state, r.grid.zone(r.comm.rank(), {}));
    r.halo.bind(build_halo(r.queue, r.grid, r.halo.pattern(), r.list_plan.cutoff, r.comm, r.step, r.state));
    build_pair_list(r.queue, r.state, r.topology, r.list_plan.cutoff, r.pairs);
    r.mesh.after_repartition(r.state, r.grid.lower_borders(0));
    if (r.comm.ranks() > 1) { assign_work(r); }
    r.list_step = r.step;
    r.has_flipped = false;
    if constexpr (lists_miss_nothing<N>) { r.listed.keep(r.state); }
}

// Calls flip_box() if a box edge leans by more than half of another edge. Flipping changes the
// fractional positions of atoms and therefore their cells, so the next step is a repartition.
template <class N>
void flip_if_leaning(Rank<N>& r)
{
    const Box<double>& box = r.state.box.edges();
    if (!flip_of(box).is_due()) { return; }
    if (r.comm.ranks() > 1)
    {
        throw PhysicsError(r.step,
                           fmt::format("E513 step {}: an edge of the box has come to lean by more than half of another one "
                                       "(other edges describe it better, by which atoms would belong to other ranks; this "
                                       "is not supported yet). Continue the run on one rank.",
                                       r.step));
    }
    r.has_flipped |= flip_box(r.queue, r.pressure_coupling, r.coupling.barostat, r.state);
}

// Returns true if an atom of this rank has moved so far since listed.keep() that an unlisted pair could be within the cut-off.
template <class N>
bool has_moved_beyond_buffer(Rank<N>& r)
{
    const double cutoff = std::max(r.parameters.lj_cutoff, r.parameters.coulomb_cutoff);
    const Vec3<double>&now = r.state.box.edges().diagonal(), &then = r.listed.box.diagonal();
    const double shrinkage = std::min({now.x / then.x, now.y / then.y, now.z / then.z, 1.0});
    const double allowed = 0.5 * (shrinkage * r.list_plan.cutoff - cutoff); // largest allowed displacement of an atom, nm
    return largest_displacement(r.queue, r.state, r.listed) > allowed;
}

// Returns true, on all ranks alike, if a pair that is not listed could have come
// within the cut-off. Collective. Always false in policies whose lists may miss pairs.
template <class N>
bool list_is_stale(Rank<N>& r)
{
    if constexpr (!lists_miss_nothing<N>) { return false; }
    std::int64_t stale[1] = {has_moved_beyond_buffer(r) ? 1 : 0};
    const ScopedPhase span(r.queue.clock(), Phase::Reduce);
    r.comm.max(stale);
    return stale[0] != 0;
}

// Prunes the list in the step that builds it and every prune_interval steps after that, if the plan has a prune_interval.
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
