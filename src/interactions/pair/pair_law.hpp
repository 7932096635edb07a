// SPDX-License-Identifier: Apache-2.0
// The constants of the pair law, and the law for a single pair of atoms in double precision: what the kernels are tested against.
#pragma once

#include "interactions/pair/nonbonded.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

// What is the same for all pairs; [0] dispersion, [1] repulsion, whose parameters are 6 c6 and 12 c12.
template <class Real>
struct PairConstants
{
    Real cutoff2, two_k, k, c, lj_switch;
    Real shift[2], a[2], b[2], a_energy[2], b_energy[2];

    PairConstants() = default;
    explicit PairConstants(const NonbondedParameters& p)
        : cutoff2(static_cast<Real>(p.cutoff * p.cutoff)), two_k(static_cast<Real>(2 * p.reaction_field_k)),
          k(static_cast<Real>(p.reaction_field_k)), c(static_cast<Real>(p.reaction_field_c)),
          lj_switch(static_cast<Real>(p.lj_switch))
    {
        for (int m = 0; m < 2; ++m)
        {
            const LjModifierTerm& term = m == 0 ? p.dispersion : p.repulsion;
            const double scale = m == 0 ? 1.0 / 6 : 1.0 / 12;
            shift[m] = static_cast<Real>(scale * term.constant);
            a[m] = static_cast<Real>(scale * term.a), b[m] = static_cast<Real>(scale * term.b);
            a_energy[m] = static_cast<Real>(scale * term.a / 3), b_energy[m] = static_cast<Real>(scale * term.b / 4);
        }
    }
};

namespace pair_law {

struct Numbers
{
    using Real = double;
    using V = double;
    static double set(double x) { return x; }
    static double add(double x, double y) { return x + y; }
    static double mul(double x, double y) { return x * y; }
    static double mul_add(double x, double y, double z) { return std::fma(x, y, z); }
    static double mul_sub(double x, double y, double z) { return std::fma(x, y, -z); }
    static double max(double x, double y) { return std::max(x, y); }
};

#define PARHELION_PAIR_LAW inline
#include "interactions/pair/pair_law-inl.hpp"
#undef PARHELION_PAIR_LAW

} // namespace pair_law

struct PairForce
{
    double force_over_r = 0, lj = 0, coulomb = 0; // kJ/mol/nm^2, kJ/mol, kJ/mol
};

// Of two atoms at distance r < cutoff with c6 and c12, qq being f times the product of their charges. Excluded pairs feel the
// reaction field alone.
inline PairForce pair_force(const NonbondedParameters& p, double c6, double c12, double qq, double r, bool excluded)
{
    using namespace pair_law;
    const PairConstants<double> k(p);
    const double rinv = excluded ? 0 : 1 / r;
    PairForce result;
    result.force_over_r = ReactionField<Numbers>::force(k.two_k, qq, rinv, rinv * rinv);
    result.coulomb = ReactionField<Numbers>::energy(k, qq, rinv, r * r);
    if (!excluded)
    {
        // Without a switch t is 0 up to the cut-off.
        LennardJones<Numbers, true, true>::add(k, 6 * c6, 12 * c12, r * r, rinv, rinv * rinv, result.force_over_r, result.lj);
    }
    return result;
}

} // namespace parhelion
