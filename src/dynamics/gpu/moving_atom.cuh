// SPDX-License-Identifier: Apache-2.0
// An atom as a thread of the GPU's update moves it: loaded at once or ahead of time, kicked, drifted and stored.
//
// The idea: what a thread will need of an atom is under way together, and while it moves one group the atom of the next comes to
// shared memory, so that only the first of many waits for memory. Cost: 96 bytes of an atom; 80 of shared memory a thread.
#pragma once

#include "device/gpu/atomics.cuh"
#include "device/gpu/instructions.cuh"
#include "dynamics/gpu/update_gpu.hpp"
#include "dynamics/stochastic_body.hpp"
#include "state/gpu/view.cuh"

#include <cmath>

namespace parhelion {

// What a policy of copies does, of which NoCopies does nothing.
struct NoCopies::OfAtom
{
    static constexpr std::int32_t count = 0;
};
struct NoCopies::Arrival
{
    __device__ explicit Arrival(const NoCopies&) {}
    __device__ void await() {} // for all lanes of a warp, before the first add_returned_forces() for an atom that has copies
};
template <int threads>
class NoCopies::Ahead // a place for each thread of a block
{
public:
    template <class BeginCopy>
    __device__ void fetch(const NoCopies&, std::int32_t, BeginCopy&&)
    {
    }
    __device__ OfAtom take(const NoCopies&, bool) const { return {}; }
};
__device__ inline NoCopies::OfAtom load_copies(const NoCopies&, std::int32_t, bool = true) { return {}; }
template <class Force>
__device__ void add_returned_forces(const NoCopies&, std::int32_t, const NoCopies::OfAtom&, Force&)
{
}
template <class Position>
__device__ void store_copies(const NoCopies&, std::int32_t, const NoCopies::OfAtom&, const Position&)
{
}
__device__ inline void end_copies(const NoCopies&) {} // for all threads of all blocks, when theirs is done

} // namespace parhelion

namespace parhelion::update_gpu {

constexpr int threads = update_block_size;

enum class Motion
{
    LeapFrog,
    Stochastic,
    Trial, // a leap-frog step of which nothing is kept but the constraint forces' virial
    Mend,  // positions alone, onto the constraints
};

template <class N, class Copies>
__device__ void report_failure(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, std::int32_t slot)
{
    if ((atomic_or(&state.scalars->flags, static_cast<std::uint32_t>(gpu_flag_unstable_atom)) & gpu_flag_unstable_atom) != 0)
    {
        return;
    }
    *args.failure = {state.global_of_slot[slot], state.scalars->step + args.step_offset};
}

// How far a bond is from its length, to first order. length2: the square of the bond's, nm^2; length: the constraint's, nm.
__device__ inline double relative_deviation(double length2, double length) { return 0.5 * (length2 / (length * length) - 1); }

// A bond that is off by more than the tolerance, or has turned too far: how far off it is, or the end of the run.
template <class N, class Copies>
__device__ void report_bond(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, std::int32_t slot, double deviation,
                            bool has_turned)
{
    if (has_turned || !(fabs(deviation) <= LincsSettings::failed)) { return report_failure(args, state, slot); }
    if (args.largest_deviation != nullptr) { atomic_greatest(args.largest_deviation, in_deviation_units(fabs(deviation))); }
}

template <class N, class Copies>
struct MovingAtom
{
    std::int32_t slot;
    bool is_there; // else it is any atom's copy, which nobody stores
    PositionCharge<N> xq{};
    VelocityMass<N> vm{};
    ForceSlot<N> f{}; // as summed
    std::uint8_t temperature_group = 0;
    typename Copies::OfAtom copies;
    Vec3<double> v; // since the kick

    __device__ Vec3<typename N::Fixed> x() const { return {xq.x, xq.y, xq.z}; }
    __device__ double inverse_mass() const { return static_cast<double>(vm.inverse_mass); }
};

// All that is here already: under way together. slot -1: no atom.
template <Motion motion, class N, class Copies>
__device__ MovingAtom<N, Copies> load(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, std::int32_t slot)
{
    MovingAtom<N, Copies> atom{max(slot, 0), slot >= 0};
    atom.xq = state.xq[atom.slot];
    if constexpr (motion != Motion::Mend)
    {
        atom.vm = state.v[atom.slot];
        atom.f = state.f[atom.slot];
        atom.temperature_group = state.temperature_group[atom.slot];
    }
    atom.copies = load_copies(args.copies, atom.slot, atom.is_there);
    return atom;
}

// What the lanes of groups move next, while they move something else: on its way into shared memory, where it takes no registers.
// Every thread has a place of its own and waits for nobody else's.
template <class N, class Copies>
class AtomsAhead
{
public:
    // Of the round after that of fetch(): the slot of the lane's atom and the shape of its group; or none.
    __device__ void fetch_lane(const std::int32_t& slot, const std::int32_t& shape)
    {
        copy(slot_, slot), copy(shape_, shape);
        end_copies();
    }
    __device__ void fetch_none() { slot_[threadIdx.x] = shape_[threadIdx.x] = 0; }
    // Requires take() of the round before.
    __device__ void take_lane(std::int32_t& slot, std::int32_t& shape) const
    {
        slot = slot_[threadIdx.x], shape = shape_[threadIdx.x];
    }

    template <Motion motion>
    __device__ void fetch(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, std::int32_t slot)
    {
        copy(xq_, state.xq[slot]);
        if constexpr (motion != Motion::Mend)
        {
            copy(v_, state.v[slot]), copy(f_, state.f[slot]);
            copy(temperature_groups_, reinterpret_cast<const uchar4*>(state.temperature_group)[slot / 4]);
        }
        copies_.fetch(args.copies, slot, [](auto& to, const auto& from) { copy(to, from); });
        end_copies();
    }
    // What has been fetched, as load() would have it. Waits for all that is on its way.
    template <Motion motion>
    __device__ MovingAtom<N, Copies> take(const UpdateArgs<N, Copies>& args, std::int32_t slot, bool is_there) const
    {
        await_copies();
        MovingAtom<N, Copies> atom{slot, is_there, xq_[threadIdx.x]};
        if constexpr (motion != Motion::Mend)
        {
            atom.vm = v_[threadIdx.x], atom.f = f_[threadIdx.x];
            atom.temperature_group = reinterpret_cast<const std::uint8_t*>(temperature_groups_ + threadIdx.x)[slot % 4];
        }
        atom.copies = copies_.take(args.copies, is_there);
        return atom;
    }

private:
    template <class T>
    __device__ static void copy(T (&to)[threads], const T& from)
    {
        constexpr int at_once = sizeof(T) < 16 ? sizeof(T) : 16;
        for (std::size_t i = 0; i < sizeof(T); i += at_once)
        {
            // Through the first-level cache: the neighbour in the sector is often fetched by another warp. Nobody else stores to
            // what is fetched.
            begin_copy_to_shared<at_once>(reinterpret_cast<char*>(to + threadIdx.x) + i,
                                          reinterpret_cast<const char*>(&from) + i);
        }
    }

    PositionCharge<N> xq_[threads];
    VelocityMass<N> v_[threads];
    ForceSlot<N> f_[threads];
    typename Copies::template Ahead<threads> copies_;
    std::int32_t slot_[threads], shape_[threads];
    uchar4 temperature_groups_[threads]; // of four neighbours: so much at least is copied at once
};

// What a block that moves groups has in shared memory.
template <class N, class Copies>
struct GroupsShared
{
    AtomsAhead<N, Copies> ahead;
    PeriodicBox<N> box;
};

// The force, which is used up, but on trial; kJ/mol/nm.
template <Motion motion, class N, class Copies>
__device__ Vec3<double> take_force(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, MovingAtom<N, Copies>& atom)
{
    if constexpr (motion == Motion::Mend) { return {}; }
    else
    {
        add_returned_forces(args.copies, atom.slot, atom.copies, atom.f);
        if (motion != Motion::Trial && atom.is_there) { state.f[atom.slot] = {}; }
        const Vec3<double> f{from_sum(atom.f.x), from_sum(atom.f.y), from_sum(atom.f.z)};
        // Written so that NaN is caught.
        if (atom.is_there && !(norm2(f) < args.limits.force * args.limits.force)) { report_failure(args, state, atom.slot); }
        return f;
    }
}
template <Motion motion, class N, class Copies>
__device__ void kick(const GroupKick& kick, const Vec3<double>& f, MovingAtom<N, Copies>& atom)
{
    if constexpr (motion != Motion::Mend)
    {
        const Vec3<double> v{static_cast<double>(atom.vm.x), static_cast<double>(atom.vm.y), static_cast<double>(atom.vm.z)};
        for (int d = 0; d < 3; ++d) { atom.v[d] = fma(kick.keep[d], v[d], kick.push[d] * atom.inverse_mass() * f[d]); }
    }
}
template <Motion motion, class N, class Copies>
__device__ GroupKick load_kick(const UpdateArgs<N, Copies>& args, const MovingAtom<N, Copies>& atom)
{
    if constexpr (motion == Motion::Mend) { return {}; }
    else { return args.kick[atom.temperature_group]; }
}

// The mean of v1 and what friction and noise make of it.
template <class N, class Copies>
__device__ Vec3<double> with_friction_and_noise(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, std::int32_t slot,
                                                double inverse_mass, const Vec3<double>& v1)
{
    const StochasticDynamics::Group group = args.friction[state.temperature_group[slot]];
    return 0.5 * (v1 + after_friction_and_noise(group, args.seed, state.scalars->step + args.step_offset,
                                                state.global_of_slot[slot], inverse_mass, v1));
}

// The atom's place after the drift by atom.v.
template <class N, class Copies>
__device__ Vec3<typename N::Fixed> drifted(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, const PeriodicBox<N>& box,
                                           const MovingAtom<N, Copies>& atom)
{
    const Vec3<double> move = args.dt * static_cast<Vec3<double>>(static_cast<Vec3<typename N::Real>>(atom.v));
    if (atom.is_there && !(norm2(move) < args.limits.displacement * args.limits.displacement))
    {
        report_failure(args, state, atom.slot);
    }
    return state.by_shape_of_box([&](auto tilted) { return box.template displaced<tilted>(atom.x(), move); });
}

// v1: the velocity before friction and noise (Stochastic only). Returns the heat from the bath, kJ/mol.
template <Motion motion, class N, class Copies>
__device__ double store(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, const MovingAtom<N, Copies>& atom,
                        const Vec3<typename N::Fixed>& x, const Vec3<double>& v1)
{
    using Real = typename N::Real;
    if (motion == Motion::Trial || !atom.is_there) { return 0; }
    const auto v = static_cast<Vec3<Real>>(atom.v);
    const PositionCharge<N> moved{x.x, x.y, x.z, atom.xq.charge};
    state.xq[atom.slot] = moved;
    store_copies(args.copies, atom.slot, atom.copies, moved);
    if constexpr (motion == Motion::LeapFrog) { state.v[atom.slot] = {v.x, v.y, v.z, atom.vm.inverse_mass}; }
    if constexpr (motion == Motion::Stochastic)
    {
        const auto v2 = static_cast<Vec3<Real>>(2.0 * static_cast<Vec3<double>>(v) - v1);
        state.v[atom.slot] = {v2.x, v2.y, v2.z, atom.vm.inverse_mass};
        const double twice_heat_per_mass = norm2(static_cast<Vec3<double>>(v2)) - norm2(v1);
        return atom.inverse_mass() > 0 ? 0.5 / atom.inverse_mass() * twice_heat_per_mass : 0; // a virtual site has no mass
    }
    return 0;
}

} // namespace parhelion::update_gpu
