// SPDX-License-Identifier: Apache-2.0
// An atom in a thread of the GPU's update. It is loaded, maybe prefetched, then kicked, drifted and stored.
//
// The idea: all loads for an atom are in flight together. While a thread moves the atom of one group, the next group's atom is
// prefetched to shared memory. So only the first atom waits for memory. Cost: 96 bytes per atom; 80 of shared memory per thread.
#pragma once

#include "device/gpu/atomics.cuh"
#include "device/gpu/instructions.cuh"
#include "dynamics/gpu/update_gpu.hpp"
#include "dynamics/stochastic_body.hpp"
#include "state/gpu/view.cuh"

#include <cmath>

namespace parhelion {

// The parts of a policy for copies of an atom on other ranks. Those of NoCopies do nothing.
struct NoCopies::OfAtom
{
    static constexpr std::int32_t count = 0;
};
struct NoCopies::Arrival
{
    __device__ explicit Arrival(const NoCopies&) {}
    __device__ void await() {} // all lanes of a warp call it before add_returned_forces() for an atom with copies
};
template <int threads>
class NoCopies::Ahead // has a place for each thread of a block
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
__device__ inline void end_copies(const NoCopies&) {} // all threads of all blocks call it after their last atom

} // namespace parhelion

namespace parhelion::update_gpu {

constexpr int threads = update_block_size;

enum class Motion
{
    LeapFrog,
    Stochastic,
    Trial,    // a leap-frog step that only stores the virial of constraint forces
    Mend,     // moves only positions, onto the constraints
    FullStep, // changes only velocities: half a kick, and no component along constraints remains
    Back,     // changes only velocities: half a kick back, so that a step back satisfies the constraints
    Rest,     // changes only velocities: they become the forces that constraints leave free, with masses of 1 u
};
constexpr bool changes_only_velocities(Motion motion)
{
    return motion == Motion::FullStep || motion == Motion::Back || motion == Motion::Rest;
}
// Returns true if constraints remove components along bonds; false: they correct the bonds' lengths.
constexpr bool projects(Motion motion) { return motion == Motion::FullStep || motion == Motion::Rest; }

template <class N, class Copies>
__device__ void report_failure(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, std::int32_t slot)
{
    if ((atomic_or(&state.scalars->flags, static_cast<std::uint32_t>(gpu_flag_unstable_atom)) & gpu_flag_unstable_atom) != 0)
    {
        return;
    }
    *args.failure = {state.global_of_slot[slot], state.scalars->step + args.step_offset};
}

// Returns a bond's relative deviation to first order. length2: squared length of the bond, nm^2; length: of the constraint, nm.
__device__ inline double relative_deviation(double length2, double length) { return 0.5 * (length2 / (length * length) - 1); }

// Reports the deviation of a bond. Ends the run if the bond has turned too far, or is off by more than LincsSettings::failed.
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
    bool is_there; // false: a duplicate of another atom, which is not stored
    PositionCharge<N> xq{};
    VelocityMass<N> vm{};
    ForceSlot<N> f{}; // as the type in which forces are summed
    std::uint8_t temperature_group = 0;
    typename Copies::OfAtom copies{};
    Vec3<double> v{}; // velocity after the kick

    __device__ Vec3<typename N::Fixed> x() const { return {xq.x, xq.y, xq.z}; }
    __device__ double inverse_mass() const { return static_cast<double>(vm.inverse_mass); }
};

// Returns an atom with all its data that are in memory already. The loads are in flight together. slot -1: no atom.
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

// Prefetches the next atoms of the block's threads to shared memory while the threads move other atoms.
// This takes no registers. Every thread has a place of its own and waits for its own copy alone.
template <class N, class Copies>
class AtomsAhead
{
public:
    // Prefetches, for the round after that of fetch(), the slot of the lane's atom and its group's shape, if there is a group.
    __device__ void fetch_lane(const std::int32_t& slot, const std::int32_t& shape)
    {
        copy(slot_, slot), copy(shape_, shape);
        end_copies();
    }
    __device__ void fetch_none() { slot_[threadIdx.x] = shape_[threadIdx.x] = 0; }
    // Returns what fetch_lane() has prefetched. Requires take() of the previous round.
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
    // Returns the prefetched atom, as load() would return it. Waits for all prefetches of this thread.
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
            // The copy goes through the first-level cache, since another warp often fetches the
            // other half of the sector. No thread stores to data that are prefetched.
            begin_copy_to_shared<at_once>(reinterpret_cast<char*>(to + threadIdx.x) + i,
                                          reinterpret_cast<const char*>(&from) + i);
        }
    }

    PositionCharge<N> xq_[threads];
    VelocityMass<N> v_[threads];
    ForceSlot<N> f_[threads];
    typename Copies::template Ahead<threads> copies_;
    std::int32_t slot_[threads], shape_[threads];
    uchar4 temperature_groups_[threads]; // groups of four neighbouring atoms, as a copy has at least four bytes
};

// The shared memory of a thread block that moves groups of atoms.
template <class N, class Copies>
struct GroupsShared
{
    AtomsAhead<N, Copies> ahead;
    PeriodicBox<N> box;
};

// Returns the force on the atom, kJ/mol/nm. Clears the force in memory if the motion is a step.
template <Motion motion, class N, class Copies>
__device__ Vec3<double> take_force(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, MovingAtom<N, Copies>& atom)
{
    if constexpr (motion == Motion::Mend) { return {}; }
    else
    {
        add_returned_forces(args.copies, atom.slot, atom.copies, atom.f);
        const bool is_step = motion == Motion::LeapFrog || motion == Motion::Stochastic;
        if (is_step && atom.is_there) { state.f[atom.slot] = {}; }
        const Vec3<double> f{from_sum(atom.f.x), from_sum(atom.f.y), from_sum(atom.f.z)};
        // The comparison is negated so that it detects NaN.
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
        const double inverse_mass = motion == Motion::Rest && atom.inverse_mass() > 0 ? 1 : atom.inverse_mass();
        for (int d = 0; d < 3; ++d) { atom.v[d] = fma(kick.keep[d], v[d], kick.push[d] * inverse_mass * f[d]); }
    }
}
template <Motion motion, class N, class Copies>
__device__ GroupKick load_kick(const UpdateArgs<N, Copies>& args, const MovingAtom<N, Copies>& atom)
{
    if constexpr (motion == Motion::Mend) { return {}; }
    else { return args.kick[atom.temperature_group]; }
}

// Returns the mean w of v1 and of v2, the velocity after friction and noise.
template <class N, class Copies>
__device__ Vec3<double> with_friction_and_noise(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, std::int32_t slot,
                                                double inverse_mass, const Vec3<double>& v1)
{
    const StochasticDynamics::Group group = args.friction[state.temperature_group[slot]];
    return 0.5 * (v1 + after_friction_and_noise(group, args.seed, state.scalars->step + args.step_offset,
                                                state.global_of_slot[slot], inverse_mass, v1));
}

// Returns the atom's position after the drift by the velocity atom.v.
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

// Stores the atom. v1: the velocity before friction and noise (Stochastic only). Returns the heat from the bath, kJ/mol.
template <Motion motion, class N, class Copies>
__device__ double store(const UpdateArgs<N, Copies>& args, const GpuView<N>& state, const MovingAtom<N, Copies>& atom,
                        const Vec3<typename N::Fixed>& x, const Vec3<double>& v1)
{
    using Real = typename N::Real;
    if (motion == Motion::Trial || !atom.is_there) { return 0; }
    const auto v = static_cast<Vec3<Real>>(atom.v);
    if constexpr (changes_only_velocities(motion))
    {
        state.v[atom.slot] = {v.x, v.y, v.z, atom.vm.inverse_mass};
        return 0;
    }
    const PositionCharge<N> moved{x.x, x.y, x.z, atom.xq.charge};
    state.xq[atom.slot] = moved;
    store_copies(args.copies, atom.slot, atom.copies, moved);
    if constexpr (motion == Motion::LeapFrog) { state.v[atom.slot] = {v.x, v.y, v.z, atom.vm.inverse_mass}; }
    if constexpr (motion == Motion::Stochastic)
    {
        const auto v2 = static_cast<Vec3<Real>>(2.0 * static_cast<Vec3<double>>(v) - v1);
        state.v[atom.slot] = {v2.x, v2.y, v2.z, atom.vm.inverse_mass};
        const double twice_heat_per_mass = norm2(static_cast<Vec3<double>>(v2)) - norm2(v1);
        return atom.inverse_mass() > 0 ? 0.5 / atom.inverse_mass() * twice_heat_per_mass : 0; // virtual sites have no mass
    }
    return 0;
}

} // namespace parhelion::update_gpu
