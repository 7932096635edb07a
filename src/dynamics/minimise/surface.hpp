// SPDX-License-Identifier: Apache-2.0
// The energy of a system as a function of its positions, as minimisers see it. Positions and forces stay where they are, on a CPU
// or on GPUs: a minimiser gets single numbers, and asks for moves and for sums of whole vectors.
//
// The idea: there are a base point and the present point. A move goes from the base along the vector `search`. If the present
// point turns out to be better, it becomes the base. Vectors have three components per atom, in units of force.
#pragma once

#include <cstdint>
#include <optional>

namespace parhelion {

// The vectors that every surface has. Others follow, as many as the minimiser asks for.
namespace minimiser_vector {
inline constexpr int search = 0;    // the direction of moves
inline constexpr int force = 1;     // the forces at the base
inline constexpr int new_force = 2; // the forces at the point that was evaluated last
inline constexpr int first_of_minimiser = 3;
} // namespace minimiser_vector

// A point of the surface. Forces are those that constraints and frozen atoms leave free, with equal masses.
struct SurfacePoint
{
    double potential = 0;                // kJ/mol; not finite if the energy is not, or if the move broke constraints
    double largest_force = 0;            // kJ/mol/nm
    std::int64_t largest_force_atom = 0; // global atom
    bool has_moved = true;               // false: no position differs from that of the base
};

class EnergySurface
{
public:
    virtual ~EnergySurface() = default;

    // Computes energy and forces at the present point. Returns nothing if the evaluation failed and the run must end.
    virtual std::optional<SurfacePoint> evaluate() = 0;
    // Makes the point that was evaluated last the base, and its forces the vector `force`. The first call must follow the
    // first evaluation, whose point has finite energy and forces.
    virtual void accept() = 0;
    // Goes to the point base + factor * search, on the constraints.
    virtual void move(double factor) = 0;
    virtual void return_to_base() = 0;

    struct Term
    {
        int vector;
        double factor;
    };
    // Sets the vector `into`, which may be one of the terms' vectors, to the sum of two terms. A vector whose factor is 0 is not
    // read.
    virtual void combine(int into, const Term& a, const Term& b) = 0;
    void copy(int into, const Term& term) { combine(into, term, {term.vector, 0}); }
    // Returns the scalar product of two vectors.
    virtual double product(int a, int b) = 0;
    // Returns the largest norm of an atom's three components.
    virtual double largest(int vector) = 0;
};

} // namespace parhelion
