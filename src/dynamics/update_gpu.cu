// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/units.hpp"
#include "device/block_sum.cuh"
#include "device/launch.cuh"
#include "dynamics/lincs_block.cuh"
#include "dynamics/settle_body.hpp"
#include "dynamics/stochastic_body.hpp"
#include "dynamics/update_gpu.hpp"
#include "state/gpu_view.cuh"

#include <algorithm>
#include <cmath>

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

namespace {

constexpr int threads = update_block_size;
constexpr std::size_t largest_shared_arena = 160 * 1024;

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
    Vec3<double> v;

    __device__ Vec3<typename N::Fixed> x() const { return {xq.x, xq.y, xq.z}; }
};

template <Motion motion, class N>
__device__ MovingAtom<N> load_and_kick(const UpdateArgs<N>& args, const GpuView<N>& state, std::int32_t slot, std::int32_t global)
{
    MovingAtom<N> atom{slot, global, state.xq[slot]};
    if constexpr (motion != Motion::Mend)
    {
        const VelocityMass<N> v = state.v[slot];
        const ForceSlot<N> sum = state.f[slot];
        state.f[slot] = {};
        const Vec3<double> f{from_sum(sum.x), from_sum(sum.y), from_sum(sum.z)};
        // Written so that NaN is caught.
        if (!(norm2(f) < args.limits.force * args.limits.force)) { report_failure(args, state, global); }
        const GroupKick kick = args.kick[state.temperature_group[slot]];
        atom.inverse_mass = static_cast<double>(v.inverse_mass);
        const double push = kick.push * atom.inverse_mass;
        atom.v = {kick.keep.x * static_cast<double>(v.x) + push * f.x, kick.keep.y * static_cast<double>(v.y) + push * f.y,
                  kick.keep.z * static_cast<double>(v.z) + push * f.z};
    }
    return atom;
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

// Constrains the velocities; returns r (x) f of the constraint forces.
template <class N>
__device__ Mat3<double> constrain_water(const UpdateArgs<N>& args, const GpuView<N>& state, const SettleWater& kind,
                                        Water<N>& water)
{
    const double dt = args.dt, per_time = 1 / dt;
    const SettleCorrection c = settle_body(kind, water.oh_a, water.oh_b, dt * water.o.v, dt * water.a.v, dt * water.b.v);
    const Vec3<double> dv_a = per_time * c.a, dv_b = per_time * c.b;
    water.o.v += per_time * c.o;
    water.a.v += dv_a;
    water.b.v += dv_b;
    if (!(c.margin > 0)) { report_failure(args, state, water.o.global); }
    // The forces add up to zero, so the oxygen may be the origin.
    const double force = kind.mass_h * per_time;
    return outer(water.oh_a, force * dv_a) + outer(water.oh_b, force * dv_b);
}

template <Motion motion, class N>
__device__ void step_water(const GpuUpdate::View& view, const UpdateArgs<N>& args, const GpuView<N>& state, std::int64_t w,
                           Tally<N>& tally)
{
    const SettleWater kind = view.water_kinds[view.kind_of_water[w]];
    const std::int32_t* const slot = view.water_slots + 3 * w;
    const std::int32_t* const atom = view.water_atoms + 3 * w;
    const PeriodicBox<N> box = state.box();
    Water<N> water{load_and_kick<motion>(args, state, slot[0], atom[0]), load_and_kick<motion>(args, state, slot[1], atom[1]),
                   load_and_kick<motion>(args, state, slot[2], atom[2])};
    water.oh_a = box.difference(water.a.x(), water.o.x());
    water.oh_b = box.difference(water.b.x(), water.o.x());
    tally.add_virial(constrain_water(args, state, kind, water));
    const Vec3<double> v1[3] = {water.o.v, water.a.v, water.b.v};
    if constexpr (motion == Motion::Stochastic)
    {
        for (MovingAtom<N>* m : {&water.o, &water.a, &water.b})
        {
            m->v = with_friction_and_noise(args, state, m->slot, m->global, m->inverse_mass, m->v);
        }
        constrain_water(args, state, kind, water);
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
        atom[k] = load_and_kick<motion>(args, state, stars.slots[i], stars.atoms[i]);
    }
    [[maybe_unused]] Vec3<double> bond[n > 0 ? n : 1];
    [[maybe_unused]] StarShape shape;
    if constexpr (n > 0)
    {
        shape = view.star_shapes[stars.shape[star]];
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
        lincs.move()[i] = args.dt * load_and_kick<motion>(args, state, slots[i], globals[i]).v;
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
        check_and_tally_bonds(view, args, state, lincs, &tally);
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

// Purpose        kick, constrain and drift of every home atom; forces cleared; watch over forces, displacements and constraints
// Work           a thread per water and per star; a block of threads for each block of other atoms
// Reads/Writes   positions, velocities, forces (all three written), tables of the constraints / on request virial and heat
// Orders         nothing: stream order alone
// Requires       slots resolved since the last repartition; dynamic shared memory for the largest block's arena
// Cost           96 bytes per atom and 8 per index; 400 double-precision flop per water, 500 per LINCS constraint
template <class N, Motion motion>
__global__ void __launch_bounds__(threads) update_kernel(GpuUpdate::View view, UpdateArgs<N> args, GpuView<N> state)
{
    extern __shared__ double shared_arena[];
    Tally<N> tally;
    const int block = static_cast<int>(blockIdx.x);
    if (block < view.stars[0].first_block)
    {
        const std::int64_t w = static_cast<std::int64_t>(block) * threads + threadIdx.x;
        if (w < view.waters) { step_water<motion>(view, args, state, w, tally); }
    }
    else if (block < view.first_block)
    {
        step_stars<motion>(view, args, state, tally, std::make_integer_sequence<int, largest_star + 1>());
    }
    else
    {
        const UpdateBlock& members = view.blocks.blocks[block - view.first_block];
        void* const arena =
            view.arena == nullptr ? static_cast<void*>(shared_arena) : static_cast<void*>(view.arena + members.arena);
        LincsBlock lincs(view.blocks, members, arena);
        step_block<motion>(view, args, state, lincs, tally);
    }
    if (args.virial != nullptr) { add_block_sums(tally.virial, args.virial); }
    if constexpr (motion == Motion::Stochastic) { add_block_sums(tally.heat, args.heat); }
}

__device__ double squared_deviation(double length2, double length)
{
    const double relative = sqrt(length2) / length - 1;
    return relative * relative;
}

// Purpose        how well positions satisfy the constraints
// Work           as update_kernel
// Reads/Writes   positions, tables / a sum
// Orders         nothing: stream order alone
// Requires       slots resolved since the last repartition
// Cost           32 bytes per constraint
template <class N>
__global__ void __launch_bounds__(threads) deviation_kernel(GpuUpdate::View view, GpuView<N> state, ScalarSum<N>* squares)
{
    const PeriodicBox<N> box = state.box();
    const auto distance2 = [&](std::int32_t a, std::int32_t b) {
        return norm2(box.difference(state.position(a), state.position(b)));
    };
    double sum = 0;
    const int block = static_cast<int>(blockIdx.x);
    if (block < view.stars[0].first_block)
    {
        const std::int64_t w = static_cast<std::int64_t>(block) * threads + threadIdx.x;
        if (w < view.waters)
        {
            const SettleWater kind = view.water_kinds[view.kind_of_water[w]];
            const std::int32_t* const slot = view.water_slots + 3 * w;
            sum = squared_deviation(distance2(slot[0], slot[1]), kind.oh) +
                  squared_deviation(distance2(slot[0], slot[2]), kind.oh) +
                  squared_deviation(distance2(slot[1], slot[2]), kind.hh);
        }
    }
    else if (block < view.first_block)
    {
        int n = largest_star;
        while (n > 0 && block < view.stars[n].first_block) { --n; }
        const StarsView& stars = view.stars[n];
        const std::int64_t star = static_cast<std::int64_t>(block - stars.first_block) * threads + threadIdx.x;
        for (int i = 0; star < stars.stars && i < n; ++i)
        {
            const std::int32_t* const slot = stars.slots + star * (n + 1);
            sum += squared_deviation(distance2(slot[i + 1], slot[0]), view.star_shapes[stars.shape[star]].length[i]);
        }
    }
    else
    {
        const LincsBlock lincs(view.blocks, view.blocks.blocks[block - view.first_block], nullptr);
        const std::int32_t* const slots = view.block_slots + lincs.block().first_atom;
        for (int i = static_cast<int>(threadIdx.x); i < lincs.block().bonds; i += threads)
        {
            const BlockMember bond = lincs.bond(i);
            sum += squared_deviation(distance2(slots[lincs.end_a(bond)], slots[lincs.end_b(bond)]), lincs.shape(bond).length);
        }
    }
    const ScalarSum<N> value[1] = {to_sum<ScalarSum<N>>(sum)};
    add_block_sums(value, squares);
}

template <class N, Motion motion>
void launch_update(GpuQueue& queue, const GpuUpdate::View& view, std::int32_t blocks, const UpdateArgs<N>& args,
                   GpuState<N>& state)
{
    const std::size_t shared = view.arena == nullptr ? view.arena_bytes : 0;
    const auto kernel = update_kernel<N, motion>;
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(largest_shared_arena)),
               "shared memory of the update");
    launch(queue, Phase::Constrain, kernel, {view.first_block + blocks, threads, shared}, view, args, GpuView<N>(state));
}

} // namespace

GpuUpdate::GpuUpdate(GpuQueue& queue, const UpdateBlocks& blocks, const RunParameters& parameters)
    : waters_(blocks.waters()), constraints_(blocks.constraints()), blocks_(static_cast<std::int32_t>(blocks.blocks.size())),
      lincs_iterations_(parameters.lincs_iterations), warn_cosine_(std::cos(parameters.lincs_warn_angle * units::degree))
{
    std::vector<UpdateBlock> table = blocks.blocks;
    std::int64_t all_arenas = 0;
    for (UpdateBlock& block : table)
    {
        const std::size_t bytes = (LincsArena::bytes(block) + 15) / 16 * 16;
        block.arena = all_arenas;
        all_arenas += static_cast<std::int64_t>(bytes);
        arena_bytes_ = std::max(arena_bytes_, bytes);
    }
    if (arena_bytes_ > largest_shared_arena) { arena_.resize(static_cast<std::size_t>(all_arenas)); }
    water_kinds_.upload(queue, blocks.water_kinds);
    kind_of_water_.upload(queue, blocks.kind_of_water);
    std::vector<std::int32_t> global = blocks.water_atoms;
    for (std::size_t n = 0; n < stars_.size(); ++n)
    {
        shape_of_star_[n].upload(queue, blocks.stars[n].shape);
        stars_[n] = static_cast<std::int64_t>(blocks.stars[n].atoms.size() / (n + 1));
        global.insert(global.end(), blocks.stars[n].atoms.begin(), blocks.stars[n].atoms.end());
    }
    global.insert(global.end(), blocks.global_atoms.begin(), blocks.global_atoms.end());
    global_.upload(queue, global);
    slot_.resize(global.size());
    star_shapes_.upload(queue, blocks.star_shapes);
    shape_atoms_.upload(queue, blocks.shapes.atoms);
    shape_bonds_.upload(queue, blocks.shapes.bonds);
    ends_.upload(queue, blocks.shapes.ends);
    coupled_.upload(queue, blocks.shapes.coupled);
    coefficient_.upload(queue, blocks.shapes.coefficient);
    block_table_.upload(queue, table);
    atoms_.upload(queue, blocks.atoms);
    bonds_.upload(queue, blocks.bonds);
    bond_couplings_.upload(queue, blocks.bond_couplings);
    groups_.upload(queue, blocks.groups);
    queue.synchronize(); // the host's tables may go
}

GpuUpdate::View GpuUpdate::view() const
{
    View view;
    view.water_kinds = water_kinds_.data();
    view.kind_of_water = kind_of_water_.data();
    view.water_atoms = global_.data();
    view.water_slots = slot_.data();
    view.waters = waters_;
    const auto blocks_of = [](std::int64_t items) { return static_cast<std::int32_t>((items + threads - 1) / threads); };
    view.star_shapes = star_shapes_.data();
    view.first_block = blocks_of(waters_);
    std::int64_t first_atom = 3 * waters_;
    for (std::size_t n = 0; n < stars_.size(); ++n)
    {
        view.stars[n] = {shape_of_star_[n].data(), global_.data() + first_atom, slot_.data() + first_atom, stars_[n],
                         view.first_block};
        view.first_block += blocks_of(stars_[n]);
        first_atom += static_cast<std::int64_t>(n + 1) * stars_[n];
    }
    view.block_atoms = global_.data() + first_atom;
    view.block_slots = slot_.data() + first_atom;
    view.blocks = {shape_atoms_.data(), shape_bonds_.data(), ends_.data(),  coupled_.data(),        coefficient_.data(),
                   block_table_.data(), atoms_.data(),       bonds_.data(), bond_couplings_.data(), groups_.data()};
    view.lincs_iterations = lincs_iterations_;
    view.warn_cosine = warn_cosine_;
    view.arena = arena_.size() == 0 ? nullptr : const_cast<std::byte*>(arena_.data()); // scratch of the kernels
    view.arena_bytes = arena_bytes_;
    return view;
}

template <class N>
void GpuUpdate::resolve(GpuQueue& queue, const GpuState<N>& state)
{
    resolve_slots(queue, state, global_, slot_);
}

template <class N>
void GpuUpdate::step(GpuQueue& queue, const UpdateArgs<N>& args, GpuState<N>& state) const
{
    PARHELION_EXPECTS(args.dt != 0 && args.kick != nullptr && args.failure != nullptr);
    if (args.friction == nullptr) { launch_update<N, Motion::LeapFrog>(queue, view(), blocks_, args, state); }
    else { launch_update<N, Motion::Stochastic>(queue, view(), blocks_, args, state); }
}

template <class N>
void GpuUpdate::mend(GpuQueue& queue, std::int64_t step_offset, FailureReport* failure, GpuState<N>& state) const
{
    if (constraints_ == 0) { return; }
    // At rest, the constrained "velocity" for a unit of time is the displacement itself.
    UpdateArgs<N> args;
    args.step_offset = step_offset;
    args.dt = 1;
    args.limits.displacement = 1e3; // no guard: a displacement is finite, or constraints have failed
    args.failure = failure;
    launch_update<N, Motion::Mend>(queue, view(), blocks_, args, state);
}

template <class N>
void GpuUpdate::add_deviations(GpuQueue& queue, const GpuState<N>& state, ScalarSum<N>* squares) const
{
    if (constraints_ == 0) { return; }
    const View v = view();
    launch(queue, Phase::Output, deviation_kernel<N>, {v.first_block + blocks_, threads, 0}, v,
           GpuView<N>(const_cast<GpuState<N>&>(state)), squares);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void GpuUpdate::resolve<N>(GpuQueue&, const GpuState<N>&);                                                          \
    template void GpuUpdate::step<N>(GpuQueue&, const UpdateArgs<N>&, GpuState<N>&) const;                                       \
    template void GpuUpdate::mend<N>(GpuQueue&, std::int64_t, FailureReport*, GpuState<N>&) const;                               \
    template void GpuUpdate::add_deviations<N>(GpuQueue&, const GpuState<N>&, ScalarSum<N>*) const;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
