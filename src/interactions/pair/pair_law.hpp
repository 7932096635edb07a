// SPDX-License-Identifier: Apache-2.0
// The constants of the pair law, and the law for one pair of atoms in double precision, against which kernels are tested.
#pragma once

#include "interactions/pair/nonbonded.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace parhelion {

enum class Electrostatics
{
    ReactionField,
    Screened // real-space part of PME
};

// How Lennard-Jones forces are switched off. It is fixed at compile time: the most frequent kernel has no instruction to spare.
enum class Switching
{
    Never,
    Force,
    ForceIfAsked, // force switch if the PairConstants ask for it
    IfAsked       // force or potential switch
};

// Numbers that are the same for all pairs. Index 0 is dispersion (its parameter is 6 c6), index 1 repulsion (12 c12).
template <class Real>
struct PairConstants
{
    Real cutoff2, two_k, k, c, lj_switch;
    Real shift[2], a[2], b[2], a_energy[2], b_energy[2];
    Real lj_cutoff2;
    Real u[3], u_slope[3]; // coefficients of the potential switch
    bool is_screened, is_tightly_screened, lj_is_shorter, lj_is_switched, lj_potential_is_switched;
    Real per_r2; // t = per_r2 r^2 - 1; for PME only, like the polynomials
    Real screened_force[tight_screening_degree<Real> + 1], screened_energy[tight_screening_degree<Real> + 1];

    PairConstants() = default;
    explicit PairConstants(const NonbondedParameters& p)
        : cutoff2(static_cast<Real>(p.cutoff * p.cutoff)), two_k(static_cast<Real>(2 * p.reaction_field_k)),
          k(static_cast<Real>(p.reaction_field_k)), c(static_cast<Real>(p.reaction_field_c)),
          lj_switch(static_cast<Real>(p.lj_switch)), lj_cutoff2(static_cast<Real>(p.lj_cutoff * p.lj_cutoff)),
          is_screened(p.screening.is_used()), is_tightly_screened(p.screening.template is_tight<Real>()),
          lj_is_shorter(p.lj_cutoff < p.cutoff), lj_is_switched(p.lj_switch < p.lj_cutoff),
          lj_potential_is_switched(p.switches_potential), per_r2(static_cast<Real>(2 / (p.cutoff * p.cutoff)))
    {
        for (int m = 0; m < 2; ++m)
        {
            const LjModifierTerm& term = m == 0 ? p.dispersion : p.repulsion;
            const double scale = m == 0 ? 1.0 / 6 : 1.0 / 12;
            shift[m] = static_cast<Real>(scale * term.constant);
            a[m] = static_cast<Real>(scale * term.a), b[m] = static_cast<Real>(scale * term.b);
            a_energy[m] = static_cast<Real>(scale * term.a / 3), b_energy[m] = static_cast<Real>(scale * term.b / 4);
        }
        for (int i = 0; i < 3; ++i)
        {
            u[i] = static_cast<Real>(lj_is_switched ? potential_switch(i, p.lj_switch, p.lj_cutoff) : 0);
            u_slope[i] = static_cast<Real>(lj_is_switched ? (3 + i) * potential_switch(i, p.lj_switch, p.lj_cutoff) : 0);
        }
        const auto& polynomial = p.screening.template polynomial<Real>();
        for (std::size_t i = 0; i <= tight_screening_degree<Real>; ++i)
        {
            screened_force[i] = static_cast<Real>(polynomial.force[i]);
            screened_energy[i] = static_cast<Real>(polynomial.energy[i]);
        }
    }
};

// Numbers for the dispersion on LJ-PME's mesh.
template <class Real>
struct DispersionConstants
{
    Real per_r2 = 0; // t = per_r2 r^2 - 1
    Real shift = 0;  // potential shift of a pair with 6 c6 = 1
    Real force[tight_screening_degree<Real> + 1] = {}, energy[tight_screening_degree<Real> + 1] = {};
    bool is_tight = false;

    explicit DispersionConstants(const NonbondedParameters& p)
    {
        const DispersionScreening& screening = p.mesh_dispersion;
        if (!screening.is_used()) { return; }
        per_r2 = static_cast<Real>(2 / (screening.cutoff * screening.cutoff));
        shift = static_cast<Real>(p.mesh_dispersion_shift / 6);
        is_tight = screening.template is_tight<Real>();
        const auto& polynomial = screening.template polynomial<Real>();
        for (std::size_t i = 0; i <= tight_screening_degree<Real>; ++i)
        {
            force[i] = static_cast<Real>(polynomial.force[i]), energy[i] = static_cast<Real>(polynomial.energy[i]);
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
    static double sub(double x, double y) { return x - y; }
    static double mul(double x, double y) { return x * y; }
    static double mul_add(double x, double y, double z) { return std::fma(x, y, z); }
    static double mul_sub(double x, double y, double z) { return std::fma(x, y, -z); }
    static double max(double x, double y) { return std::max(x, y); }
    static double if_less(double x, double y, double z) { return x < y ? z : 0; }
};

#define PARHELION_PAIR_LAW inline
#include "interactions/pair/pair_law-inl.hpp"
#undef PARHELION_PAIR_LAW

} // namespace pair_law

struct PairForce
{
    double force_over_r = 0, lj = 0, coulomb = 0; // kJ/mol/nm^2, kJ/mol, kJ/mol
};

// Returns the force between two atoms at distance r < cutoff with c6 and c12. qq is f times the product of their
// charges. An excluded pair has only the reaction field or, with PME, the force that cancels the force of the mesh.
// mesh_c6: c6 of the pair on LJ-PME's mesh.
inline PairForce pair_force(const NonbondedParameters& p, double c6, double c12, double qq, double r, bool excluded,
                            double mesh_c6 = 0)
{
    using namespace pair_law;
    using Lj = LennardJones<Numbers, Switching::IfAsked, true>;
    const PairConstants<double> k(p);
    const double r2 = r * r, rinv = excluded ? 0 : 1 / r, rinv2 = rinv * rinv;
    PairForce result;
    const auto screen = [&](auto law) {
        using Coulomb = decltype(law);
        const double t = Coulomb::t(k, r2);
        result.force_over_r = Coulomb::force(k, qq, rinv, rinv2, t);
        result.coulomb = qq * Coulomb::potential(k, rinv, t, excluded ? 0 : k.c);
    };
    if (k.is_screened && k.is_tightly_screened) { screen(ScreenedCoulomb<Numbers, true>()); }
    else if (k.is_screened) { screen(ScreenedCoulomb<Numbers>()); }
    else
    {
        result.force_over_r = ReactionField<Numbers>::force(k.two_k, qq, rinv, rinv2);
        result.coulomb = qq * ReactionField<Numbers>::potential(k, rinv, r2);
    }
    if (!excluded)
    {
        c6 *= 6, c12 *= 12;
        if (k.lj_is_shorter) { Lj::cut(k, r2, c6, c12); }
        Lj::add(k, c6, c12, r2, rinv, rinv2, result.force_over_r, result.lj);
    }
    if (p.mesh_dispersion.is_used())
    {
        const DispersionConstants<double> of_mesh(p);
        const auto lose = [&](auto law) {
            using Law = decltype(law);
            const double t = Law::t(of_mesh, r2);
            result.force_over_r = Law::force(of_mesh, 6 * mesh_c6, t, result.force_over_r);
            result.lj = Law::energy(of_mesh, 6 * mesh_c6, t, excluded ? 0 : of_mesh.shift, result.lj);
        };
        if (of_mesh.is_tight) { lose(MeshDispersion<Numbers, true>()); }
        else { lose(MeshDispersion<Numbers>()); }
    }
    return result;
}

} // namespace parhelion
