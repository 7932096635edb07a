// SPDX-License-Identifier: Apache-2.0
// What one thread of the GPU's update does to a water, a star or a free atom, and what a block of threads does to an update
// block. The formulas are those of settle_body.hpp, star_body.hpp, stochastic_body.hpp and lincs_block.cuh.
#pragma once

#include "dynamics/lincs_block.cuh"
#include "dynamics/settle_body.hpp"
#include "dynamics/stochastic_body.hpp"
#include "dynamics/update_gpu.hpp"
#include "state/gpu_view.cuh"

#include <cmath>
#include <utility>

namespace parhelion {

struct StarsView
{
    const std::int32_t *shape, *atoms, *slots; // as Stars
    std::int64_t stars;
    std::int32_t first_block; // of the launch
};

struct GpuUpdate::View
{
    const SettleWater* water_kinds;
    const std::int32_t *kind_of_water, *water_atoms, *water_slots;
    std::int64_t waters;
    const StarShape* star_shapes;
    StarsView stars[largest_star + 1]; // by number of constraints; thread blocks follow those of waters
    std::int32_t first_block;          // of blocks, which come last
    UpdateBlocksView blocks;
    const std::int32_t *block_atoms, *block_slots;
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
__device__ void report_failure(const UpdateArgs<N>& args, const GpuView<N>& state, std::int32_t atom)
{
    if ((atomicOr(&state.scalars->flags, static_cast<std::uint32_t>(gpu_flag_runaway)) & gpu_flag_runaway) != 0) { return; }
    *args.failure = {atom, state.scalars->step + args.step_offset};
}

template <class N>
struct MovingAtom
{
    std::int32_t slot, global;
    PositionCharge<N> xq;
    double inverse_mass = 0;
    Vec3<double> v, f;
    GroupKick kick;

    __device__ Vec3<typename N::Fixed> x() const { return {xq.x, xq.y, xq.z}; }
};

// Loads of all of a thread's atoms come before the first store, so that they are under way together.
template <Motion motion, class N>
__device__ MovingAtom<N> load(const UpdateArgs<N>& args, const GpuView<N>& state, std::int32_t slot, std::int32_t global)
{
    MovingAtom<N> atom{slot, global, state.xq[slot]};
    if constexpr (motion != Motion::Mend)
    {
        const VelocityMass<N> v = state.v[slot];
        const ForceSlot<N> sum = state.f[slot];
        atom.inverse_mass = static_cast<double>(v.inverse_mass);
        atom.v = {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
        atom.f = {from_sum(sum.x), from_sum(sum.y), from_sum(sum.z)};
        atom.kick = args.kick[state.temperature_group[slot]];
    }
    return atom;
}

// The force is used up.
template <Motion motion, class N>
__device__ void kick(const UpdateArgs<N>& args, const GpuView<N>& state, MovingAtom<N>& atom)
{
    if constexpr (motion != Motion::Mend)
    {
        state.f[atom.slot] = {};
        // Written so that NaN is caught.
        if (!(norm2(atom.f) < args.limits.force * args.limits.force)) { report_failure(args, state, atom.global); }
        const double push = atom.kick.push * atom.inverse_mass;
        for (int d = 0; d < 3; ++d) { atom.v[d] = atom.kick.keep[d] * atom.v[d] + push * atom.f[d]; }
    }
}

// The mean of v1 and what friction and noise make of it.
template <class N>
__device__ Vec3<double> with_friction_and_noise(const UpdateArgs<N>& args, const GpuView<N>& state, std::int32_t slot,
                                                std::int32_t global, double inverse_mass, const Vec3<double>& v1)
{
    const StochasticDynamics::Group group = args.friction[state.temperature_group[slot]];
    return 0.5 * (v1 + after_friction_and_noise(group.keep, group.kt, args.seed, state.scalars->step + args.step_offset, global,
                                                inverse_mass, v1));
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
    if (!(norm2(move) < args.limits.displacement * args.limits.displacement)) { report_failure(args, state, atom.global); }
    const Vec3<typename N::Fixed> x = box.displaced(atom.x(), move);
    state.xq[atom.slot] = {x.x, x.y, x.z, atom.xq.charge};
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
    if (!(c.margin > 0)) { report_failure(args, state, water.o.global); }
    if (tally == nullptr) { return; }
    // The forces add up to zero, so the oxygen may be the origin.
    const double force = kind.mass_h * per_time;
    tally->add_virial(outer(water.oh_a, force * dv_a) + outer(water.oh_b, force * dv_b));
}

template <Motion motion, class N>
__device__ void step_water(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, std::int64_t w,
                           Tally<N>& tally)
{
    const SettleWater kind = view.water_kinds[view.kind_of_water[w]];
    const std::int32_t* const slot = view.water_slots + 3 * w;
    const std::int32_t* const atom = view.water_atoms + 3 * w;
    const PeriodicBox<N> box = state.box();
    Water<N> water{load<motion>(args, state, slot[0], atom[0]), load<motion>(args, state, slot[1], atom[1]),
                   load<motion>(args, state, slot[2], atom[2])};
    for (MovingAtom<N>* m : {&water.o, &water.a, &water.b}) { kick<motion>(args, state, *m); }
    water.oh_a = box.difference(water.a.x(), water.o.x());
    water.oh_b = box.difference(water.b.x(), water.o.x());
    constrain_water(args, state, kind, water, args.virial == nullptr ? nullptr : &tally);
    const Vec3<double> v1[3] = {water.o.v, water.a.v, water.b.v};
    if constexpr (motion == Motion::Stochastic)
    {
        for (MovingAtom<N>* m : {&water.o, &water.a, &water.b})
        {
            m->v = with_friction_and_noise(args, state, m->slot, m->global, m->inverse_mass, m->v);
        }
        constrain_water(args, state, kind, water, static_cast<Tally<N>*>(nullptr));
    }
    tally.add_heat(drift_and_store<motion>(args, state, box, water.o, v1[0]) +
                   drift_and_store<motion>(args, state, box, water.a, v1[1]) +
                   drift_and_store<motion>(args, state, box, water.b, v1[2]));
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
            report_failure(args, state, atom[i + 1].global);
        }
        const double force = -forces.multiplier[i] / (args.dt * args.dt); // on the outer end
        if (tally != nullptr) { tally->add_virial(outer(bond[i], force * forces.direction[i])); }
    }
    for (int k = 0; k <= n; ++k) { atom[k].v = (1 / args.dt) * move[k]; }
}

template <Motion motion, int n, class N>
__device__ void step_star(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, std::int64_t star,
                          Tally<N>& tally)
{
    const StarsView& stars = view.stars[n];
    const PeriodicBox<N> box = state.box();
    MovingAtom<N> atom[n + 1];
    for (int k = 0; k <= n; ++k)
    {
        const std::int64_t i = star * (n + 1) + k;
        atom[k] = load<motion>(args, state, stars.slots[i], stars.atoms[i]);
    }
    [[maybe_unused]] StarShape shape;
    if constexpr (n > 0) { shape = view.star_shapes[stars.shape[star]]; }
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
        for (MovingAtom<N>& a : atom) { a.v = with_friction_and_noise(args, state, a.slot, a.global, a.inverse_mass, a.v); }
        if constexpr (n > 0) { constrain_atoms<n>(view, args, state, shape, bond, atom, static_cast<Tally<N>*>(nullptr)); }
    }
    for (int k = 0; k <= n; ++k) { tally.add_heat(drift_and_store<motion>(args, state, box, atom[k], v1[k])); }
}

// The star of this thread, if its block has stars of `n` constraints.
template <Motion motion, int n, class N>
__device__ void step_stars(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, Tally<N>& tally)
{
    const int block = static_cast<int>(blockIdx.x);
    const int end = n < largest_star ? view.stars[n < largest_star ? n + 1 : n].first_block : view.first_block;
    if (block < view.stars[n].first_block || block >= end) { return; }
    const std::int64_t star = static_cast<std::int64_t>(block - view.stars[n].first_block) * threads + threadIdx.x;
    if (star < view.stars[n].stars) { step_star<motion, n>(view, args, state, star, tally); }
}

template <Motion motion, class N, int... n>
__device__ void step_stars(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, Tally<N>& tally,
                           std::integer_sequence<int, n...>)
{
    (step_stars<motion, n>(view, args, state, tally), ...);
}

// --- all other atoms ----------------------------------------------------------------------------------------------------------

// A bond of the block that has turned too far, or is not a number, is reported; r (x) f of its force goes to the tally.
template <class N>
__device__ void check_and_tally_bonds(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state,
                                      const LincsBlock& lincs, Tally<N>* tally)
{
    for (int i = static_cast<int>(threadIdx.x); i < lincs.block().bonds; i += threads)
    {
        const Vec3<double> old_bond = lincs.reference()[i], new_bond = lincs.moved_bond(i);
        if (!(dot(old_bond, new_bond) >= view.warn_cosine * sqrt(norm2(old_bond) * norm2(new_bond))))
        {
            report_failure(args, state, view.block_atoms[lincs.block().first_atom + lincs.end_a(lincs.bond(i))]);
        }
        // The force on atom a is -multiplier direction / dt^2.
        const double force = -lincs.multiplier()[i] / (args.dt * args.dt);
        if (tally != nullptr) { tally->add_virial(outer(old_bond, force * lincs.direction()[i])); }
    }
}

template <Motion motion, class N>
__device__ void step_block(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, LincsBlock& lincs,
                           Tally<N>& tally)
{
    const UpdateBlock& block = lincs.block();
    const std::int32_t* const slots = view.block_slots + block.first_atom;
    const std::int32_t* const globals = view.block_atoms + block.first_atom;
    const PeriodicBox<N> box = state.box();
    const int first = static_cast<int>(threadIdx.x);
    for (int i = first; i < block.atoms; i += threads)
    {
        MovingAtom<N> atom = load<motion>(args, state, slots[i], globals[i]);
        kick<motion>(args, state, atom);
        lincs.move()[i] = args.dt * atom.v;
    }
    for (int i = first; i < block.bonds; i += threads)
    {
        const BlockMember bond = lincs.bond(i);
        lincs.reference()[i] = box.difference(state.position(slots[lincs.end_a(bond)]), state.position(slots[lincs.end_b(bond)]));
    }
    if (block.bonds > 0)
    {
        __syncthreads();
        lincs.constrain(view.lincs_iterations);
        check_and_tally_bonds(view, args, state, lincs, args.virial == nullptr ? nullptr : &tally);
    }
    if constexpr (motion == Motion::Stochastic)
    {
        __syncthreads();
        for (int i = first; i < block.atoms; i += threads)
        {
            lincs.before()[i] = (1 / args.dt) * lincs.move()[i];
            lincs.move()[i] =
                args.dt * with_friction_and_noise(args, state, slots[i], globals[i],
                                                  static_cast<double>(state.v[slots[i]].inverse_mass), lincs.before()[i]);
        }
        if (block.bonds > 0)
        {
            __syncthreads();
            lincs.constrain(view.lincs_iterations);
            check_and_tally_bonds<N>(view, args, state, lincs, nullptr);
        }
    }
    // All bonds have been read from the old positions: by the barriers of constrain(), or because there are none.
    for (int i = first; i < block.atoms; i += threads)
    {
        MovingAtom<N> atom{slots[i], globals[i], state.xq[slots[i]]};
        if constexpr (motion != Motion::Mend) { atom.inverse_mass = static_cast<double>(state.v[slots[i]].inverse_mass); }
        atom.v = (1 / args.dt) * lincs.move()[i];
        tally.add_heat(
            drift_and_store<motion>(args, state, box, atom, motion == Motion::Stochastic ? lincs.before()[i] : Vec3<double>{}));
    }
}

} // namespace update_gpu

} // namespace parhelion
