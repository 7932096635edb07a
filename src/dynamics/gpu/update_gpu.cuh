// SPDX-License-Identifier: Apache-2.0
// The GPU's update: of groups of few atoms, one atom per lane, and of an update block by a thread block. The formulas
// are those of settle_body.hpp, star_lanes.cuh and lincs_block.cuh. Operations on a single atom are in moving_atom.cuh.
#pragma once

#include "device/gpu/block_sum.cuh"
#include "dynamics/gpu/lincs_block.cuh"
#include "dynamics/gpu/moving_atom.cuh"
#include "dynamics/gpu/star_lanes.cuh"
#include "dynamics/gpu/update_gpu.hpp"
#include "dynamics/settle_body.hpp"

namespace parhelion {

// The groups of one kind that are home groups of a rank.
struct HomeGroupsView
{
    const std::int32_t* records;      // slots of the atoms, and shape; capacity also for groups in update blocks
    const std::int32_t* count;        // number of records
    std::int32_t first_block, blocks; // thread blocks of this kind, which loop until all its groups are moved
};

struct GpuUpdate::View
{
    const SettleWater* water_kinds;
    const SiteWater* site_water_kinds;
    const StarShape* star_shapes;
    HomeGroupsView groups[kinds];
    std::int32_t first_block; // the first thread block for update blocks, which come last
    UpdateBlocksView blocks;
    const std::int32_t* block_slots; // slots of the atoms of update blocks; -1: the atom is not a home atom
    LincsLimits lincs;
    std::byte* arena; // null: arenas are in shared memory
    std::size_t arena_bytes;
};

namespace update_gpu {

constexpr int blocks_on_multiprocessor(Motion motion) { return motion == Motion::Stochastic ? 3 : 4; }

// Adds the virial of a force f at r, summed over the threads of a block, to `total`. All threads of the block must call it.
template <class Sum>
__device__ void add_virial(Sum* total, Vec3<double> r, Vec3<double> f)
{
    Sum virial[9];
    for (int i = 0; i < 9; ++i) { virial[i] = to_sum<Sum>(-0.5 * r[i / 3] * f[i % 3]); }
    add_block_sums(virial, total);
}
template <class Sum>
__device__ void add_deviation_square(Sum* total, double deviation)
{
    if (total == nullptr) { return; }
    const Sum square[1] = {to_sum<Sum>(deviation_square(deviation))};
    add_block_sums(square, total);
}
template <Motion motion, class N, class Copies>
__device__ void add_heat(const UpdateArgs<N, Copies>& args, double heat)
{
    if constexpr (motion == Motion::Stochastic)
    {
        const ScalarSum<N> sum[1] = {to_sum<ScalarSum<N>>(heat)};
        add_block_sums(sum, args.heat);
    }
}

// --- groups of few atoms: a lane per atom

// The constraints of a water, with the interface of StarConstraints. Every lane computes the whole water.
template <int atoms>
struct WaterConstraints
{
    const GroupLanes<atoms>& lanes;
    const SettleWater& water;
    const Vec3<double>& bond;

    __device__ Push constrain(const Vec3<double>& move, const LincsLimits&) const
    {
        const Vec3<double> moved = bond + move;
        const SettleTriangle t = settle_triangle(water, lanes.of(bond, 1), lanes.of(bond, 2), lanes.of(moved, 0),
                                                 lanes.of(moved, 1), lanes.of(moved, 2));
        const Vec3<double> push = t.correction(lanes.atom() == 0 ? t.o : lanes.atom() == 1 ? t.a : t.b, moved);
        return {push, water.mass_h * push, lanes.atom() != 0 || t.margin > 0}; // no meaning for a virtual site
    }
    __device__ Push project(const Vec3<double>& move) const
    {
        const SettlePush of = settle_projection(water, lanes.of(bond, 1), lanes.of(bond, 2), lanes.of(move, 0), lanes.of(move, 1),
                                                lanes.of(move, 2));
        const Vec3<double> push = lanes.atom() == 0 ? of.o : lanes.atom() == 1 ? of.a : of.b;
        return {push, water.mass_h * push, true};
    }
};
struct NoConstraints
{
    __device__ Push constrain(const Vec3<double>&, const LincsLimits&) const { return {{}, {}, true}; }
    __device__ Push project(const Vec3<double>&) const { return {{}, {}, true}; }
};

// The kinds of groups, in the order of GpuUpdate's tables. A Shape belongs
// to all copies of a group. A Lane is the part of it that one lane needs.
struct Waters
{
    static constexpr int kind = 0, atoms = 3;
    static constexpr bool has_lincs = false;
    using Shape = SettleWater;
    using Lane = SettleWater;

    __device__ static const Shape& shape(const GpuUpdate::View& view, std::int32_t number) { return view.water_kinds[number]; }
    __device__ static Lane lane(const Shape& water, int) { return water; }
    __device__ static WaterConstraints<atoms> constraints(const GroupLanes<atoms>& lanes, const Lane& water,
                                                          const Vec3<double>& bond)
    {
        return {lanes, water, bond};
    }
};
struct SiteWaters // waters with a site, which is on the last lane
{
    static constexpr int kind = 2 + largest_star, atoms = 4, site = 3;
    static constexpr bool has_lincs = false;
    using Shape = SiteWater;
    using Lane = SiteWater;

    __device__ static const Shape& shape(const GpuUpdate::View& view, std::int32_t number)
    {
        return view.site_water_kinds[number];
    }
    __device__ static Lane lane(const Shape& water, int) { return water; }
    __device__ static WaterConstraints<atoms> constraints(const GroupLanes<atoms>& lanes, const Lane& water,
                                                          const Vec3<double>& bond)
    {
        return {lanes, water.water, bond};
    }
    // Returns this lane's part of the force on the site. The site itself loses the whole force.
    __device__ static double share(const Lane& water, int atom)
    {
        return atom == 0 ? 1 - (water.weight_a + water.weight_b) : atom == 1 ? water.weight_a : atom == 2 ? water.weight_b : -1;
    }
    __device__ static Vec3<double> mean(const GroupLanes<atoms>& lanes, const Lane& water, const Vec3<double>& value)
    {
        const Vec3<double> of_oxygen = lanes.of(value, 0);
        return of_oxygen + water.weight_a * (lanes.of(value, 1) - of_oxygen) + water.weight_b * (lanes.of(value, 2) - of_oxygen);
    }
};
template <class Groups>
constexpr bool has_site = requires
{
    Groups::site;
};
struct FreeAtoms
{
    static constexpr int kind = 1, atoms = 1;
    static constexpr bool has_lincs = false;
    struct Shape
    {
    };
    using Lane = Shape;

    __device__ static Shape shape(const GpuUpdate::View&, std::int32_t) { return {}; }
    __device__ static Lane lane(const Shape&, int) { return {}; }
    __device__ static NoConstraints constraints(const GroupLanes<atoms>&, const Lane&, const Vec3<double>&) { return {}; }
};
template <int n>
struct StarsOf // stars with n constraints
{
    static constexpr int kind = 1 + n, atoms = n + 1;
    static constexpr bool has_lincs = true;
    using Shape = StarShape;
    using Lane = StarLane<n>;

    __device__ static const Shape& shape(const GpuUpdate::View& view, std::int32_t number) { return view.star_shapes[number]; }
    __device__ static Lane lane(const Shape& star, int atom) { return {star, atom}; }
    __device__ static StarConstraints<n> constraints(const GroupLanes<atoms>& lanes, const Lane& star, const Vec3<double>& bond)
    {
        return {lanes, star, bond};
    }
};

// Takes one step of a lane's atom.
template <Motion motion, Virial virial, class Groups, class N, class Copies>
__device__ void step_group(const GpuUpdate::View& view, const UpdateArgs<N, Copies>& args, const GpuView<N>& state,
                           const PeriodicBox<N>& box, const GroupLanes<Groups::atoms>& lanes, std::int32_t shape_number,
                           typename Copies::Arrival& returned, MovingAtom<N, Copies>& atom)
{
    const typename Groups::Lane lane = Groups::lane(Groups::shape(view, shape_number), lanes.atom());
    const Vec3<typename N::Fixed> first = lanes.of(atom.x(), 0);
    const Vec3<double> bond =
        state.by_shape_of_box([&](auto tilted) { return box.template difference<tilted>(atom.x(), first); });
    const GroupKick group_kick = load_kick<motion>(args, atom); // loaded late: an early load would delay other loads
    const auto constraints = Groups::constraints(lanes, lane, bond);
    if (lanes.any_of_warp(atom.copies.count > 0)) { returned.await(); }
    Vec3<double> f = take_force<motion>(args, state, atom);
    if constexpr (has_site<Groups>) { f += Groups::share(lane, lanes.atom()) * lanes.of(f, Groups::site); }
    kick<motion>(group_kick, f, atom);
    const auto constrain = [&] {
        Push push;
        if constexpr (projects(motion)) { push = constraints.project(args.dt * atom.v); }
        else { push = constraints.constrain(args.dt * atom.v, view.lincs); }
        atom.v = fused::multiply_add(args.per_dt, push.move, atom.v);
        if (atom.is_there && !push.holds)
        {
            if constexpr (Groups::has_lincs)
            {
                report_bond(args, state, atom.slot, relative_deviation(push.length2, lane.length), push.has_turned);
            }
            else { report_failure(args, state, atom.slot); }
        }
        return push;
    };
    const Push push = constrain();
    if constexpr (Groups::atoms > 1 && virial == Virial::Compute)
    {
        bool has_bond = atom.is_there && lanes.atom() > 0;
        if constexpr (has_site<Groups>) { has_bond = has_bond && lanes.atom() != Groups::site; }
        add_virial(args.virial, bond, has_bond ? args.per_dt * args.per_dt * push.impulse : Vec3<double>{});
        if constexpr (Groups::has_lincs)
        {
            add_deviation_square(args.deviation_squares, has_bond ? relative_deviation(push.length2, lane.length) : 0);
        }
    }
    Vec3<double> v1 = atom.v;
    if constexpr (motion == Motion::Stochastic)
    {
        atom.v = with_friction_and_noise(args, state, atom.slot, atom.inverse_mass(), atom.v);
        constrain();
    }
    if constexpr (has_site<Groups>)
    {
        const Vec3<double> site_v = Groups::mean(lanes, lane, atom.v), site_v1 = Groups::mean(lanes, lane, v1);
        // At rest, the forces on the site are those of its atoms by now.
        if (lanes.atom() == Groups::site) { atom.v = motion == Motion::Rest ? Vec3<double>{} : site_v, v1 = site_v1; }
    }
    Vec3<typename N::Fixed> x = drifted(args, state, box, atom);
    if constexpr (has_site<Groups>)
    {
        const Vec3<typename N::Fixed> oxygen = lanes.of(x, 0);
        const Vec3<double> away = Groups::mean(lanes, lane, box.difference(x, oxygen));
        if (lanes.atom() == Groups::site) { x = box.displaced(oxygen, away); }
    }
    add_heat<motion>(args, store<motion>(args, state, atom, x, v1));
}

// Moves the groups of one kind if this thread block works on that kind. It loops over groups. While lanes
// move their atoms, the next atoms are prefetched, and so are the records of the groups after the next.
template <Motion motion, Virial virial, class Groups, class N, class Copies>
__device__ void step_groups(const GpuUpdate::View& view, const UpdateArgs<N, Copies>& args, const GpuView<N>& state,
                            GroupsShared<N, Copies>& shared)
{
    constexpr int atoms = Groups::atoms, lanes_of_group = GroupLanes<atoms>::count, groups_of_block = threads / lanes_of_group;
    const HomeGroupsView& groups = view.groups[Groups::kind];
    const int block = static_cast<int>(blockIdx.x) - groups.first_block;
    if (block < 0 || block >= groups.blocks) { return; }
    const GroupLanes<atoms> lanes;
    const auto record_of = [&](std::int32_t group) { return groups.records + static_cast<std::int64_t>(group) * (atoms + 1); };
    // A lane without an atom loads its neighbour's. If all such lanes loaded one and the same atom, this would take very long.
    const int own_atom = min(lanes.atom(), atoms - 1), own_group = static_cast<int>(threadIdx.x) / lanes_of_group;
    const std::int32_t stride = groups.blocks * groups_of_block;
    std::int32_t first = block * groups_of_block; // first group of the block in this round
    // These loads are in flight together. The buffer has space for a record even if there is no group.
    const std::int32_t* const record = record_of(first + own_group);
    std::int32_t slot = record[own_atom], shape = record[atoms];
    const std::int32_t count = *groups.count;
    const Box<double> box = state.scalars->box;
    if (first + own_group >= count) { slot = shape = 0; }
    shared.ahead.template fetch<motion>(args, state, slot);
    const auto fetch_lane = [&](std::int32_t group) {
        if (group < count) { shared.ahead.fetch_lane(record_of(group)[own_atom], record_of(group)[atoms]); }
        else { shared.ahead.fetch_none(); }
    };
    fetch_lane(first + stride + own_group);
    typename Copies::Arrival returned(args.copies);
    if (threadIdx.x == 0) { shared.box = PeriodicBox<N>(box); }
    __syncthreads();
    for (; first < count; first += stride)
    {
        const bool has_atom = first + own_group < count && lanes.atom() < atoms;
        const std::int32_t shape_now = shape;
        MovingAtom<N, Copies> atom = shared.ahead.template take<motion>(args, slot, has_atom);
        shared.ahead.take_lane(slot, shape);
        if (first + stride < count) { shared.ahead.template fetch<motion>(args, state, slot); }
        fetch_lane(first + 2 * stride + own_group);
        step_group<motion, virial, Groups>(view, args, state, shared.box, lanes, shape_now, returned, atom);
    }
}

template <class... Groups>
struct GroupKinds
{
};
using GroupsWithoutSites = GroupKinds<Waters, FreeAtoms, StarsOf<1>, StarsOf<2>, StarsOf<3>, StarsOf<4>>;
using EveryGroup = GroupKinds<Waters, FreeAtoms, StarsOf<1>, StarsOf<2>, StarsOf<3>, StarsOf<4>, SiteWaters>;
static_assert(largest_star == 4);

template <Motion motion, Virial virial, class N, class Copies, class... Groups>
__device__ void step_groups(const GpuUpdate::View& view, const UpdateArgs<N, Copies>& args, const GpuView<N>& state,
                            GroupsShared<N, Copies>& shared, GroupKinds<Groups...>)
{
    (step_groups<motion, virial, Groups>(view, args, state, shared), ...);
}

// --- all other atoms

// A group of an update block may be at home or not. If not, it takes part at rest, with constraints that are satisfied.

// Reports each bond of the block that has turned too far, has a wrong length, or is not a number, unless the motion
// leaves positions as they are. On request, adds the virial of the forces along bonds, and the squared deviations of bonds.
template <Motion motion, Virial wanted, class N, class Copies>
__device__ void check_bonds(const GpuUpdate::View& view, const UpdateArgs<N, Copies>& args, const GpuView<N>& state,
                            const LincsBlock& lincs, const std::int32_t* slots)
{
    for (int first = 0; first < lincs.block().bonds; first += threads)
    {
        const int i = first + static_cast<int>(threadIdx.x);
        const std::int32_t slot = i < lincs.block().bonds ? slots[lincs.end_a(lincs.bond(i))] : -1;
        Vec3<double> old_bond, force; // the force acts on atom a
        double deviation = 0;
        if (slot >= 0)
        {
            old_bond = lincs.reference()[i];
            const Vec3<double> new_bond = lincs.moved_bond(i);
            const double length = lincs.shape(lincs.bond(i)).length, new_length2 = norm2(new_bond);
            deviation = relative_deviation(new_length2, length);
            const bool has_turned = !(dot(old_bond, new_bond) >= view.lincs.warn_cosine * sqrt(norm2(old_bond) * new_length2));
            if (!projects(motion) && (has_turned || !(fabs(deviation) <= LincsSettings::tolerance)))
            {
                report_bond(args, state, slot, deviation, has_turned);
            }
            force = (-lincs.multiplier()[i] / (args.dt * args.dt)) * lincs.direction()[i];
        }
        if constexpr (wanted == Virial::Compute)
        {
            add_virial(args.virial, old_bond, force);
            add_deviation_square(args.deviation_squares, deviation);
        }
    }
}

// Kicks the atoms of an update block. Writes lincs.move() and lincs.reference().
template <Motion motion, class N, class Copies>
__device__ void start_block(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, const std::int32_t* slots,
                            LincsBlock& lincs)
{
    const UpdateBlock& block = lincs.block();
    const PeriodicBox<N> box = state.box();
    const int first = static_cast<int>(threadIdx.x);
    typename Copies::Arrival(args.copies).await();
    for (int i = first; i < block.atoms; i += threads)
    {
        MovingAtom<N, Copies> atom = load<motion>(args, state, slots[i]);
        const GroupKick group_kick = load_kick<motion>(args, atom);
        kick<motion>(group_kick, take_force<motion>(args, state, atom), atom);
        lincs.move()[i] = atom.is_there ? args.dt * atom.v : Vec3<double>{};
    }
    for (int i = first; i < block.bonds; i += threads)
    {
        const BlockMember bond = lincs.bond(i);
        const std::int32_t a = slots[lincs.end_a(bond)], b = slots[lincs.end_b(bond)];
        lincs.reference()[i] =
            a < 0 || b < 0 ? Vec3<double>{lincs.shape(bond).length, 0, 0} : box.difference(state.position(a), state.position(b));
    }
}

// Stores the velocities v1 in lincs.before(), and adds the effect of friction and noise to the displacements in lincs.move().
template <class N, class Copies>
__device__ void add_noise_to_block(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, const std::int32_t* slots,
                                   LincsBlock& lincs)
{
    for (int i = static_cast<int>(threadIdx.x); i < lincs.block().atoms; i += threads)
    {
        if (slots[i] < 0) { continue; }
        lincs.before()[i] = (1 / args.dt) * lincs.move()[i];
        const auto inverse_mass = static_cast<double>(state.v[slots[i]].inverse_mass);
        lincs.move()[i] = args.dt * with_friction_and_noise(args, state, slots[i], inverse_mass, lincs.before()[i]);
    }
}

template <Motion motion, Virial virial, class N, class Copies>
__device__ void step_block(const GpuUpdate::View& view, const UpdateArgs<N, Copies>& args, const GpuView<N>& state,
                           LincsBlock& lincs)
{
    const UpdateBlock& block = lincs.block();
    const std::int32_t* const slots = view.block_slots + block.first_atom;
    const int first = static_cast<int>(threadIdx.x);
    bool some = false;
    for (int i = first; i < block.atoms; i += threads) { some |= slots[i] >= 0; }
    if (__syncthreads_or(some) == 0) { return; }
    start_block<motion>(args, state, slots, lincs);
    if (block.bonds > 0)
    {
        __syncthreads();
        if constexpr (projects(motion)) { lincs.project(); }
        else { lincs.constrain(view.lincs.iterations); }
        check_bonds<motion, virial>(view, args, state, lincs, slots);
    }
    if constexpr (motion == Motion::Stochastic)
    {
        __syncthreads();
        add_noise_to_block(args, state, slots, lincs);
        if (block.bonds > 0)
        {
            __syncthreads();
            lincs.constrain(view.lincs.iterations);
            check_bonds<motion, Virial::Skip>(view, args, state, lincs, slots);
        }
    }
    // All bonds have been read from the old positions: the barriers of constrain() ensure it, or there are no bonds.
    const PeriodicBox<N> box = state.box();
    double heat = 0;
    for (int i = first; i < block.atoms; i += threads)
    {
        if (slots[i] < 0) { continue; }
        MovingAtom<N, Copies> atom{slots[i], true, state.xq[slots[i]]};
        atom.copies = load_copies(args.copies, slots[i]);
        if constexpr (motion != Motion::Mend) { atom.vm.inverse_mass = state.v[slots[i]].inverse_mass; }
        atom.v = (1 / args.dt) * lincs.move()[i];
        const Vec3<double> v1 = motion == Motion::Stochastic ? lincs.before()[i] : Vec3<double>{};
        heat += store<motion>(args, state, atom, drifted(args, state, box, atom), v1);
    }
    add_heat<motion>(args, heat);
}

} // namespace update_gpu

} // namespace parhelion
