// SPDX-License-Identifier: Apache-2.0
// LINCS for a star (update_blocks.hpp) whose atoms are on neighbouring lanes of a warp, an atom each: the centre on the first
// lane of the group, outer ends and their constraints on those that follow.
//
// The method, the symbols and the settings are those of lincs.hpp. Every lane keeps its own constraint and what it must know of
// the others', so that a solution costs two exchanges; the series is summed once, as a matrix of which a lane has its row. Sums
// run over constraints in their order, whatever lanes the group is on. Differs from lincs() by rounding. Cost: 250 instructions
// for three constraints and one iteration.
#pragma once

#include "device/gpu/warp.cuh"
#include "dynamics/fused.hpp"
#include "dynamics/update_blocks.hpp"

#include <cmath>

namespace parhelion {

constexpr int lanes_of(int atoms) { return atoms <= 1 ? 1 : atoms <= 2 ? 2 : atoms <= 4 ? 4 : 8; }

// Lanes of a warp that hold the atoms of an update group; all groups of a warp have as many. What takes values from other lanes
// is for all lanes of the warp at once.
template <int atoms>
class GroupLanes
{
public:
    static constexpr int count = lanes_of(atoms);
    static_assert(atoms <= count);

    __device__ GroupLanes() : atom_(static_cast<int>(threadIdx.x) % count), first_(static_cast<int>(threadIdx.x) % 32 - atom_) {}

    __device__ int atom() const { return atom_; } // of the group; there may be more lanes than atoms
    template <class T>
    __device__ T of(T value, int atom) const
    {
        return from_lane(value, first_ + atom);
    }
    template <class T>
    __device__ Vec3<T> of(const Vec3<T>& value, int atom) const
    {
        return {of(value.x, atom), of(value.y, atom), of(value.z, atom)};
    }
    __device__ bool any(bool condition) const // of the group
    {
        return ((lanes_where(condition) >> first_) & ((1u << count) - 1)) != 0;
    }
    __device__ static bool any_of_warp(bool condition) { return any_lane(condition); }

private:
    int atom_, first_;
};

// What a lane knows of its group's shape.
template <int n>
struct StarLane
{
    int own;                                            // constraint; lanes without one have another's
    bool has_bond;                                      // it is this lane's
    double length, own_weight, inverse_mass, of_centre; // the latter: its inverse mass
    double weight[n];
    int series_order;

    __device__ StarLane(const StarShape& shape, int atom)
        : own(atom >= 1 && atom <= n ? atom - 1 : 0), has_bond(own == atom - 1), length(shape.length[own]),
          own_weight(shape.weight[own]), inverse_mass(shape.inverse_mass[own + 1]), of_centre(shape.inverse_mass[0]),
          series_order(shape.series_order)
    {
        for (int i = 0; i < n; ++i) { weight[i] = shape.weight[i]; }
    }
};

struct LincsLimits
{
    int iterations;     // LincsSettings::iterations
    double warn_cosine; // of the largest angle by which a bond may turn in a step
};

// What constraint forces do to a lane's atom.
struct Push
{
    Vec3<double> move;       // nm
    Vec3<double> impulse;    // its mass times that, u nm; unless it is the group's first
    bool holds;              // false: its bond is off by more than LincsSettings::tolerance, or has turned too far
    bool has_turned = false; // its bond, too far
    double length2 = 0;      // of the bond, nm^2
};

// The matrix that makes multipliers of mismatches, sum over powers of A between weights: the row of a lane's constraint.
template <int n>
__device__ void star_row(const StarLane<n>& star, const Vec3<double> (&direction)[n], double (&row)[n])
{
    double a[n][n];
    for (int i = 0; i < n; ++i)
    {
        row[i] = i == star.own ? 1 : 0;
        for (int j = 0; j < i; ++j)
        {
            a[i][j] = a[j][i] = -star.weight[i] * star.weight[j] * star.of_centre * fused::dot(direction[i], direction[j]);
        }
    }
#pragma unroll 1
    for (int power = 1; n > 1 && power <= star.series_order; ++power)
    {
        double next[n];
        for (int i = 0; i < n; ++i)
        {
            next[i] = i == star.own ? 1 : 0;
            for (int j = 0; j < n; ++j) { next[i] = j != i ? fma(row[j], a[j][i], next[i]) : next[i]; }
        }
        for (int i = 0; i < n; ++i) { row[i] = next[i]; }
    }
    for (int i = 0; i < n; ++i) { row[i] *= star.own_weight * star.weight[i]; }
}

// One star, of which a lane's atom is one.
template <int n>
class StarConstraints
{
public:
    // bond: from the centre to this lane's atom before the step, nm.
    __device__ StarConstraints(const GroupLanes<n + 1>& lanes, const StarLane<n>& star, const Vec3<double>& bond)
        : lanes_(lanes), star_(star), bond_(bond), own_direction_(rsqrt(fused::norm2(bond)) * bond)
    {
        for (int i = 0; i < n; ++i) { direction_[i] = lanes.of(own_direction_, i + 1); }
        star_row<n>(star, direction_, row_);
    }

    // move: of this lane's atom in the step, without constraints, nm. Lanes without a constraint get what makes no sense, but for
    // the move of the centre.
    __device__ Push constrain(const Vec3<double>& move, const LincsLimits& limits) const
    {
        const Vec3<double> moved = bond_ + (move - lanes_.of(move, 0));
        const double length = star_.length, d2 = length * length;
        double multiplier = 0;  // displacements are -+ inverse mass * multiplier * direction, - at the outer end
        Vec3<double> of_centre; // its displacement
        Vec3<double> bond;      // by the multipliers so far
        const auto correct = [&](double mismatch) {
            double more = 0;
            for (int i = 0; i < n; ++i) { more = fma(row_[i], lanes_.of(mismatch, i + 1), more); }
            multiplier += more;
            for (int i = 0; i < n; ++i)
            {
                of_centre = fused::multiply_add(star_.of_centre * lanes_.of(more, i + 1), direction_[i], of_centre);
            }
            bond = fused::multiply_add(-star_.inverse_mass * multiplier, own_direction_, moved - of_centre);
        };
        correct(fused::dot(own_direction_, moved) - length);
        for (int iteration = 0;; ++iteration)
        {
            const int extra = iteration - limits.iterations;
            const double projection2 = 2 * d2 - fused::norm2(bond);
            const bool is_off = star_.has_bond && extra < LincsSettings::max_extra_iterations &&
                                fabs(projection2 - d2) > 2 * LincsSettings::tolerance * d2;
            const bool goes_on = extra < 0 || lanes_.any(is_off);
            if (!lanes_.any_of_warp(goes_on)) { break; }
            // A group that is done stays where it is, whatever its neighbours do.
            correct(!goes_on ? 0 : length - (projection2 > 0 ? projection2 * rsqrt(projection2) : 0));
        }
        const Vec3<double> impulse = -multiplier * own_direction_;
        // |cosine| cosine: as the cosine itself, without roots.
        const double along = fused::dot(own_direction_, bond), length2 = fused::norm2(bond);
        // Written so that what is not a number has turned, and does not hold.
        const bool has_turned = !(along * fabs(along) >= limits.warn_cosine * fabs(limits.warn_cosine) * length2);
        const bool holds = fabs(length2 - d2) <= 2 * LincsSettings::tolerance * d2 && !has_turned;
        return {lanes_.atom() == 0 ? of_centre : star_.inverse_mass * impulse, impulse, !star_.has_bond || holds, has_turned,
                length2};
    }

private:
    const GroupLanes<n + 1>& lanes_;
    const StarLane<n>& star_;
    const Vec3<double>& bond_;
    Vec3<double> own_direction_, direction_[n];
    double row_[n];
};

} // namespace parhelion
