// SPDX-License-Identifier: Apache-2.0
// LINCS for a star (update_blocks.hpp) whose atoms are on neighbouring lanes of a warp. The
// group's first lane has the centre. Each of the next lanes has an outer atom and its constraint.
//
// Method, symbols and settings are those of lincs.hpp. Every lane keeps its own constraint and the data that
// it needs of the other constraints, so a solution costs two exchanges. The series is summed once, as a
// matrix. A lane has one row of this matrix. Sums run over constraints in their order, on all lanes alike.
// Results differ from lincs() by rounding. Cost: 250 instructions for three constraints and one iteration.
#pragma once

#include "device/gpu/warp.cuh"
#include "dynamics/fused.hpp"
#include "dynamics/update_blocks.hpp"

#include <cmath>

namespace parhelion {

constexpr int lanes_of(int atoms) { return atoms <= 1 ? 1 : atoms <= 2 ? 2 : atoms <= 4 ? 4 : 8; }

// The lanes of a warp that have the atoms of an update group. All groups of a warp have equally many
// lanes. Functions that take values from other lanes must be called by all lanes of the warp together.
template <int atoms>
class GroupLanes
{
public:
    static constexpr int count = lanes_of(atoms);
    static_assert(atoms <= count);

    __device__ GroupLanes() : atom_(static_cast<int>(threadIdx.x) % count), first_(static_cast<int>(threadIdx.x) % 32 - atom_) {}

    __device__ int atom() const { return atom_; } // index in the group; may exceed the number of atoms
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
    __device__ bool any(bool condition) const // returns whether it is true on any lane of the group
    {
        return ((lanes_where(condition) >> first_) & ((1u << count) - 1)) != 0;
    }
    __device__ static bool any_of_warp(bool condition) { return any_lane(condition); }

private:
    int atom_, first_;
};

// The part of the group's shape that one lane needs.
template <int n>
struct StarLane
{
    int own;                                            // index of the lane's constraint, or, if it has none, of another lane's
    bool has_bond;                                      // true if the constraint `own` is this lane's
    double length, own_weight, inverse_mass, of_centre; // of_centre: inverse mass of the centre
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
    double warn_cosine; // cosine of the largest angle by which a bond may turn in a step
};

// The effect of constraint forces on a lane's atom.
struct Push
{
    Vec3<double> move;       // displacement, nm
    Vec3<double> impulse;    // mass times `move`, u nm; not valid for the first atom of the group
    bool holds;              // false if the bond is off by more than LincsSettings::tolerance, or has turned too far
    bool has_turned = false; // true if the bond has turned too far
    double length2 = 0;      // squared length of the bond, nm^2
};

// Computes a lane's row of the matrix from mismatches to multipliers: the sum over powers of A, times weights on both sides.
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

// The constraints of one star, seen from the lane of one of its atoms.
template <int n>
class StarConstraints
{
public:
    // `bond` is the vector from the centre to this lane's atom before the step, nm.
    __device__ StarConstraints(const GroupLanes<n + 1>& lanes, const StarLane<n>& star, const Vec3<double>& bond)
        : lanes_(lanes), star_(star), bond_(bond), own_direction_(rsqrt(fused::norm2(bond)) * bond)
    {
        for (int i = 0; i < n; ++i) { direction_[i] = lanes.of(own_direction_, i + 1); }
        star_row<n>(star, direction_, row_);
    }

    // Returns the effect of the constraints on this lane's atom, whose displacement in the step is `move`,
    // nm. In lanes without a constraint the result is undefined, but the move of the centre is valid.
    __device__ Push constrain(const Vec3<double>& move, const LincsLimits& limits) const
    {
        const Vec3<double> moved = bond_ + (move - lanes_.of(move, 0));
        const double length = star_.length, d2 = length * length;
        double multiplier = 0;  // displacement: -+ inverse mass * multiplier * direction, - at the outer atom
        Vec3<double> of_centre; // displacement of the centre, nm
        Vec3<double> bond;      // after displacement by all multipliers so far
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
            // A group whose bonds are right does not move, even if other groups of the warp do.
            correct(!goes_on ? 0 : length - (projection2 > 0 ? projection2 * rsqrt(projection2) : 0));
        }
        const Vec3<double> impulse = -multiplier * own_direction_;
        // Compares cosine |cosine| instead of the cosine, which saves square roots.
        const double along = fused::dot(own_direction_, bond), length2 = fused::norm2(bond);
        // The comparison is negated, so that with NaN the bond counts as turned and does not hold.
        const bool has_turned = !(along * fabs(along) >= limits.warn_cosine * fabs(limits.warn_cosine) * length2);
        const bool holds = fabs(length2 - d2) <= 2 * LincsSettings::tolerance * d2 && !has_turned;
        return {lanes_.atom() == 0 ? of_centre : star_.inverse_mass * impulse, impulse, !star_.has_bond || holds, has_turned,
                length2};
    }

    // Returns the change of this lane's `move` that leaves no part of it which changes a constrained distance to first order.
    __device__ Push project(const Vec3<double>& move) const
    {
        constexpr int most_refinements = 30;
        const Vec3<double> moved = move - lanes_.of(move, 0);
        double multiplier = 0;
        Vec3<double> of_centre;
        for (int refinement = 0; refinement < most_refinements; ++refinement)
        {
            const Vec3<double> now = fused::multiply_add(-star_.inverse_mass * multiplier, own_direction_, moved - of_centre);
            const double along = fused::dot(own_direction_, now);
            const bool goes_on = lanes_.any(star_.has_bond && along * along > 1e-28 * fused::norm2(moved));
            if (!lanes_.any_of_warp(goes_on)) { break; }
            double more = 0;
            for (int i = 0; i < n; ++i) { more = fma(row_[i], lanes_.of(goes_on ? along : 0, i + 1), more); }
            multiplier += more;
            for (int i = 0; i < n; ++i)
            {
                of_centre = fused::multiply_add(star_.of_centre * lanes_.of(more, i + 1), direction_[i], of_centre);
            }
        }
        const Vec3<double> impulse = -multiplier * own_direction_;
        return {lanes_.atom() == 0 ? of_centre : star_.inverse_mass * impulse, impulse, true};
    }

private:
    const GroupLanes<n + 1>& lanes_;
    const StarLane<n>& star_;
    const Vec3<double>& bond_;
    Vec3<double> own_direction_, direction_[n];
    double row_[n];
};

} // namespace parhelion
