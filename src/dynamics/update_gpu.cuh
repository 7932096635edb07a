// SPDX-License-Identifier: Apache-2.0
// What one thread of the GPU's update does to a water, a star or a free atom, and what a block of threads does to an update
// block. The formulas are those of settle_body.hpp, star_body.hpp, stochastic_body.hpp and lincs_block.cuh.
#pragma once

#include "dynamics/lincs_block.cuh"
#include "dynamics/settle_body.hpp"
#include "dynamics/stochastic_body.hpp"
#include "dynamics/update_gpu.hpp"
#include "halo/gpu_copies.cuh"
#include "state/gpu_view.cuh"

#include <cmath>
#include <utility>

namespace parhelion {

// The home waters, or stars of one size, of a rank.
struct HomeGroupsView
{
    const std::int32_t* records; // slots of the atoms, and the shape; slots of -1 behind the last
    std::int64_t room;           // records
    std::int32_t first_block;    // of the launch
};

struct GpuUpdate::View
{
    const SettleWater* water_kinds;
    const StarShape* star_shapes;
    HomeGroupsView waters;
    HomeGroupsView stars[largest_star + 1]; // by number of constraints; thread blocks follow those of waters
    std::int32_t first_block;               // of blocks, which come last
    UpdateBlocksView blocks;
    const std::int32_t* block_slots; // -1: not at home
    int lincs_iterations;
    double warn_cosine;
    std::byte* arena; // null: in shared memory
    std::size_t arena_bytes;
};

namespace update_gpu {

constexpr int threads = update_block_size;

enum class Motion
{
    LeapFrog,
    Stochastic,
    Mend, // positions alone, onto the constraints
};

// --- one atom ---------------------------------------------------------------------------------------------------------------

template <class N>
__device__ void report_failure(const UpdateArgs<N>& args, const GpuView<N>& state, std::int32_t slot)
{
    if ((atomicOr(&state.scalars->flags, static_cast<std::uint32_t>(gpu_flag_runaway)) & gpu_flag_runaway) != 0) { return; }
    *args.failure = {state.global_of_slot[slot], state.scalars->step + args.step_offset};
}

template <class N>
struct MovingAtom
{
    std::int32_t slot;
    PositionCharge<N> xq;
    double inverse_mass = 0;
    Vec3<double> v;
    ForceSlot<N> f; // as summed
    GroupKick kick;

    __device__ Vec3<typename N::Fixed> x() const { return {xq.x, xq.y, xq.z}; }
};

// Loads of all of a thread's atoms come before the first store, so that they are under way together.
template <Motion motion, class N>
__device__ MovingAtom<N> load(const UpdateArgs<N>& args, const GpuView<N>& state, std::int32_t slot)
{
    MovingAtom<N> atom{slot, state.xq[slot]};
    if constexpr (motion != Motion::Mend)
    {
        const VelocityMass<N> v = state.v[slot];
        atom.f = state.f[slot];
        atom.inverse_mass = static_cast<double>(v.inverse_mass);
        atom.v = {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
        atom.kick = args.kick[state.temperature_group[slot]];
    }
    return atom;
}

template <Motion motion, int n, class N>
__device__ void add_returned_forces(const UpdateArgs<N>& args, MovingAtom<N>* const (&atoms)[n])
{
    if constexpr (motion != Motion::Mend)
    {
        std::int32_t slot[n];
        ForceSlot<N>* f[n];
        for (int i = 0; i < n; ++i) { slot[i] = atoms[i]->slot, f[i] = &atoms[i]->f; }
        add_returned_forces(args.copies, slot, f);
    }
}

// The force is used up.
template <Motion motion, class N>
__device__ void kick(const UpdateArgs<N>& args, const GpuView<N>& state, MovingAtom<N>& atom)
{
    if constexpr (motion != Motion::Mend)
    {
        state.f[atom.slot] = {};
        const Vec3<double> f{from_sum(atom.f.x), from_sum(atom.f.y), from_sum(atom.f.z)};
        // Written so that NaN is caught.
        if (!(norm2(f) < args.limits.force * args.limits.force)) { report_failure(args, state, atom.slot); }
        const double push = atom.kick.push * atom.inverse_mass;
        for (int d = 0; d < 3; ++d) { atom.v[d] = atom.kick.keep[d] * atom.v[d] + push * f[d]; }
    }
}

// The mean of v1 and what friction and noise make of it.
template <class N>
__device__ Vec3<double> with_friction_and_noise(const UpdateArgs<N>& args, const GpuView<N>& state, std::int32_t slot,
                                                double inverse_mass, const Vec3<double>& v1)
{
    const StochasticDynamics::Group group = args.friction[state.temperature_group[slot]];
    return 0.5 * (v1 + after_friction_and_noise(group.keep, group.kt, args.seed, state.scalars->step + args.step_offset,
                                                state.global_of_slot[slot], inverse_mass, v1));
}

// Drifts by atom.v and stores. v1: the velocity before friction and noise (Stochastic only). Returns the heat from the bath,
// kJ/mol.
template <Motion motion, class N>
__device__ double drift_and_store(const UpdateArgs<N>& args, const GpuView<N>& state, const PeriodicBox<N>& box,
                                  const MovingAtom<N>& atom, const Vec3<double>& v1)
{
    using Real = typename N::Real;
    const auto v = static_cast<Vec3<Real>>(atom.v);
    const Vec3<double> move = args.dt * static_cast<Vec3<double>>(v);
    if (!(norm2(move) < args.limits.displacement * args.limits.displacement)) { report_failure(args, state, atom.slot); }
    const Vec3<typename N::Fixed> x = box.displaced(atom.x(), move);
    const PositionCharge<N> moved{x.x, x.y, x.z, atom.xq.charge};
    state.xq[atom.slot] = moved;
    store_copies(args.copies, atom.slot, moved);
    if constexpr (motion == Motion::LeapFrog) { state.v[atom.slot] = {v.x, v.y, v.z, static_cast<Real>(atom.inverse_mass)}; }
    if constexpr (motion == Motion::Stochastic)
    {
        const auto v2 = static_cast<Vec3<Real>>(2.0 * static_cast<Vec3<double>>(v) - v1);
        state.v[atom.slot] = {v2.x, v2.y, v2.z, static_cast<Real>(atom.inverse_mass)};
        return 0.5 / atom.inverse_mass * (norm2(static_cast<Vec3<double>>(v2)) - norm2(v1));
    }
    return 0;
}

// What one thread adds to the sums of the step.
template <class N>
struct Tally
{
    ScalarSum<N> virial[9] = {}, heat[1] = {};

    __device__ void add_virial(const Mat3<double>& rf) // the tensor r (x) f
    {
        for (int a = 0; a < 3; ++a)
        {
            for (int b = 0; b < 3; ++b) { virial[3 * a + b] += to_sum<ScalarSum<N>>(-0.5 * rf[a][b]); }
        }
    }
    __device__ void add_heat(double h) { heat[0] += to_sum<ScalarSum<N>>(h); }
};

// --- waters -----------------------------------------------------------------------------------------------------------------

template <class N>
struct Water
{
    MovingAtom<N> o, a, b;
    Vec3<double> oh_a, oh_b; // at the start of the step
};

// Constrains the velocities; on request adds r (x) f of the constraint forces to the tally.
template <class N>
__device__ void constrain_water(const UpdateArgs<N>& args, const GpuView<N>& state, const SettleWater& kind, Water<N>& water,
                                Tally<N>* tally)
{
    const double dt = args.dt, per_time = 1 / dt;
    const SettleCorrection c = settle_body(kind, water.oh_a, water.oh_b, dt * water.o.v, dt * water.a.v, dt * water.b.v);
    const Vec3<double> dv_a = per_time * c.a, dv_b = per_time * c.b;
    water.o.v += per_time * c.o;
    water.a.v += dv_a;
    water.b.v += dv_b;
    if (!(c.margin > 0)) { report_failure(args, state, water.o.slot); }
    if (tally == nullptr) { return; }
    // The forces add up to zero, so the oxygen may be the origin.
    const double force = kind.mass_h * per_time;
    tally->add_virial(outer(water.oh_a, force * dv_a) + outer(water.oh_b, force * dv_b));
}

// False: there is no such water.
template <Motion motion, class N>
__device__ bool step_water(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, std::int64_t w,
                           Tally<N>& tally)
{
    if (w >= view.waters.room) { return false; }
    const int4 record = reinterpret_cast<const int4*>(view.waters.records)[w];
    if (record.x < 0) { return false; }
    const SettleWater kind = view.water_kinds[record.w];
    const PeriodicBox<N> box = state.box();
    Water<N> water{load<motion>(args, state, record.x), load<motion>(args, state, record.y), load<motion>(args, state, record.z)};
    MovingAtom<N>* const atoms[3] = {&water.o, &water.a, &water.b};
    add_returned_forces<motion>(args, atoms);
    for (MovingAtom<N>* m : atoms) { kick<motion>(args, state, *m); }
    water.oh_a = box.difference(water.a.x(), water.o.x());
    water.oh_b = box.difference(water.b.x(), water.o.x());
    constrain_water(args, state, kind, water, args.virial == nullptr ? nullptr : &tally);
    const Vec3<double> v1[3] = {water.o.v, water.a.v, water.b.v};
    if constexpr (motion == Motion::Stochastic)
    {
        for (MovingAtom<N>* m : {&water.o, &water.a, &water.b})
        {
            m->v = with_friction_and_noise(args, state, m->slot, m->inverse_mass, m->v);
        }
        constrain_water(args, state, kind, water, static_cast<Tally<N>*>(nullptr));
    }
    tally.add_heat(drift_and_store<motion>(args, state, box, water.o, v1[0]) +
                   drift_and_store<motion>(args, state, box, water.a, v1[1]) +
                   drift_and_store<motion>(args, state, box, water.b, v1[2]));
    return true;
}

// --- stars, and atoms without constraints ----------------------------------------------------------------------------------

// Constrains the velocities, on request adds r (x) f of the constraint forces to the tally.
template <int n, class N>
__device__ void constrain_atoms(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state,
                                const StarShape& shape, const Vec3<double> (&bond)[n], MovingAtom<N> (&atom)[n + 1],
                                Tally<N>* tally)
{
    Vec3<double> move[n + 1];
    for (int k = 0; k <= n; ++k) { move[k] = args.dt * atom[k].v; }
    const StarForces<n> forces = constrain_star<n>(shape, view.lincs_iterations, bond, move);
    for (int i = 0; i < n; ++i)
    {
        const Vec3<double> new_bond = bond[i] + (move[i + 1] - move[0]);
        if (!(dot(bond[i], new_bond) >= view.warn_cosine * sqrt(norm2(bond[i]) * norm2(new_bond))))
        {
            report_failure(args, state, atom[i + 1].slot);
        }
        const double force = -forces.multiplier[i] / (args.dt * args.dt); // on the outer end
        if (tally != nullptr) { tally->add_virial(outer(bond[i], force * forces.direction[i])); }
    }
    for (int k = 0; k <= n; ++k) { atom[k].v = (1 / args.dt) * move[k]; }
}

// False: there is no such star.
template <Motion motion, int n, class N>
__device__ bool step_star(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, std::int64_t star,
                          Tally<N>& tally)
{
    if (star >= view.stars[n].room) { return false; }
    const std::int32_t* const record = view.stars[n].records + star * (n + 2);
    if (record[0] < 0) { return false; }
    const PeriodicBox<N> box = state.box();
    MovingAtom<N> atom[n + 1];
    for (int k = 0; k <= n; ++k) { atom[k] = load<motion>(args, state, record[k]); }
    MovingAtom<N>* atoms[n + 1];
    for (int k = 0; k <= n; ++k) { atoms[k] = &atom[k]; }
    [[maybe_unused]] StarShape shape;
    if constexpr (n > 0) { shape = view.star_shapes[record[n + 1]]; }
    add_returned_forces<motion>(args, atoms);
    for (MovingAtom<N>& a : atom) { kick<motion>(args, state, a); }
    [[maybe_unused]] Vec3<double> bond[n > 0 ? n : 1];
    if constexpr (n > 0)
    {
        for (int i = 0; i < n; ++i) { bond[i] = box.difference(atom[i + 1].x(), atom[0].x()); }
        constrain_atoms<n>(view, args, state, shape, bond, atom, args.virial == nullptr ? nullptr : &tally);
    }
    Vec3<double> v1[n + 1];
    for (int k = 0; k <= n; ++k) { v1[k] = atom[k].v; }
    if constexpr (motion == Motion::Stochastic)
    {
        for (MovingAtom<N>& a : atom) { a.v = with_friction_and_noise(args, state, a.slot, a.inverse_mass, a.v); }
        if constexpr (n > 0) { constrain_atoms<n>(view, args, state, shape, bond, atom, static_cast<Tally<N>*>(nullptr)); }
    }
    for (int k = 0; k <= n; ++k) { tally.add_heat(drift_and_store<motion>(args, state, box, atom[k], v1[k])); }
    return true;
}

// The star of this thread, if its block has stars of `n` constraints.
template <Motion motion, int n, class N>
__device__ bool step_stars(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, Tally<N>& tally)
{
    const int block = static_cast<int>(blockIdx.x);
    const int end = n < largest_star ? view.stars[n < largest_star ? n + 1 : n].first_block : view.first_block;
    if (block < view.stars[n].first_block || block >= end) { return false; }
    const std::int64_t star = static_cast<std::int64_t>(block - view.stars[n].first_block) * threads + threadIdx.x;
    return step_star<motion, n>(view, args, state, star, tally);
}

template <Motion motion, class N, int... n>
__device__ bool step_stars(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, Tally<N>& tally,
                           std::integer_sequence<int, n...>)
{
    return (step_stars<motion, n>(view, args, state, tally) || ...);
}

// --- all other atoms ----------------------------------------------------------------------------------------------------------

// A group of a block is at home or not. One that is not is carried along at rest, with constraints that hold.

// A bond of the block that has turned too far, or is not a number, is reported; r (x) f of its force goes to the tally.
template <class N>
__device__ void check_and_tally_bonds(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state,
                                      const LincsBlock& lincs, const std::int32_t* slots, Tally<N>* tally)
{
    for (int i = static_cast<int>(threadIdx.x); i < lincs.block().bonds; i += threads)
    {
        const std::int32_t slot = slots[lincs.end_a(lincs.bond(i))];
        if (slot < 0) { continue; }
        const Vec3<double> old_bond = lincs.reference()[i], new_bond = lincs.moved_bond(i);
        if (!(dot(old_bond, new_bond) >= view.warn_cosine * sqrt(norm2(old_bond) * norm2(new_bond))))
        {
            report_failure(args, state, slot);
        }
        // The force on atom a is -multiplier direction / dt^2.
        const double force = -lincs.multiplier()[i] / (args.dt * args.dt);
        if (tally != nullptr) { tally->add_virial(outer(old_bond, force * lincs.direction()[i])); }
    }
}

// Kicks the atoms; writes lincs.move() and lincs.reference().
template <Motion motion, class N>
__device__ void start_block(const UpdateArgs<N>& args, const GpuView<N>& state, const std::int32_t* slots, LincsBlock& lincs)
{
    const UpdateBlock& block = lincs.block();
    const PeriodicBox<N> box = state.box();
    const int first = static_cast<int>(threadIdx.x);
    for (int i = first; i < block.atoms; i += threads)
    {
        lincs.move()[i] = {};
        if (slots[i] < 0) { continue; }
        MovingAtom<N> atom = load<motion>(args, state, slots[i]);
        MovingAtom<N>* const atoms[1] = {&atom};
        add_returned_forces<motion>(args, atoms);
        kick<motion>(args, state, atom);
        lincs.move()[i] = args.dt * atom.v;
    }
    for (int i = first; i < block.bonds; i += threads)
    {
        const BlockMember bond = lincs.bond(i);
        const std::int32_t a = slots[lincs.end_a(bond)], b = slots[lincs.end_b(bond)];
        lincs.reference()[i] =
            a < 0 || b < 0 ? Vec3<double>{lincs.shape(bond).length, 0, 0} : box.difference(state.position(a), state.position(b));
    }
}

// Noise on the velocities in lincs.move(), which go to lincs.before().
template <class N>
__device__ void add_noise_to_block(const UpdateArgs<N>& args, const GpuView<N>& state, const std::int32_t* slots,
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

// False: none of the block's atoms is at home.
template <Motion motion, class N>
__device__ bool step_block(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, LincsBlock& lincs,
                           Tally<N>& tally)
{
    const UpdateBlock& block = lincs.block();
    const std::int32_t* const slots = view.block_slots + block.first_atom;
    const int first = static_cast<int>(threadIdx.x);
    bool some = false;
    for (int i = first; i < block.atoms; i += threads) { some |= slots[i] >= 0; }
    if (__syncthreads_or(some) == 0) { return false; }
    start_block<motion>(args, state, slots, lincs);
    if (block.bonds > 0)
    {
        __syncthreads();
        lincs.constrain(view.lincs_iterations);
        check_and_tally_bonds(view, args, state, lincs, slots, args.virial == nullptr ? nullptr : &tally);
    }
    if constexpr (motion == Motion::Stochastic)
    {
        __syncthreads();
        add_noise_to_block(args, state, slots, lincs);
        if (block.bonds > 0)
        {
            __syncthreads();
            lincs.constrain(view.lincs_iterations);
            check_and_tally_bonds<N>(view, args, state, lincs, slots, nullptr);
        }
    }
    // All bonds have been read from the old positions: by the barriers of constrain(), or because there are none.
    const PeriodicBox<N> box = state.box();
    for (int i = first; i < block.atoms; i += threads)
    {
        if (slots[i] < 0) { continue; }
        MovingAtom<N> atom{slots[i], state.xq[slots[i]]};
        if constexpr (motion != Motion::Mend) { atom.inverse_mass = static_cast<double>(state.v[slots[i]].inverse_mass); }
        atom.v = (1 / args.dt) * lincs.move()[i];
        tally.add_heat(
            drift_and_store<motion>(args, state, box, atom, motion == Motion::Stochastic ? lincs.before()[i] : Vec3<double>{}));
    }
    return true;
}

} // namespace update_gpu

} // namespace parhelion
