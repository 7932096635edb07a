// SPDX-License-Identifier: Apache-2.0
// The pair law of two atoms against the published formulas. Kernels are compared with this law (nonbonded_test.cpp).
#include "interactions/pair/pair_law.hpp"

#include "base/units.hpp"
#include "support/pair_systems.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct EnergyForce
{
    double energy = 0, force = 0; // force: -dV/dr
};

// c / r^p with the modifiers: from the published force S(r) = p / r^(p+1) + A t^2 + B t^3, A and B from S(rc) = S'(rc) = 0 by
// solving the two linear equations, and the energy by exact integration of S from r to rc.
EnergyForce dispersion_like(int p, double r, const RunParameters& run)
{
    const double rc = run.lj_cutoff;
    if (r >= rc) { return {}; }
    EnergyForce result{std::pow(r, -p), p * std::pow(r, -p - 1)};
    if (run.lj_modifier == LjModifier::PotentialShift) { result.energy -= std::pow(rc, -p); }
    if (run.lj_modifier == LjModifier::ForceSwitch)
    {
        const double d = rc - run.lj_switch, t = std::max(0.0, r - run.lj_switch);
        const double f = p * std::pow(rc, -p - 1), df = -p * (p + 1) * std::pow(rc, -p - 2);
        const double b = (2 * f - d * df) / (d * d * d), a = -f / (d * d) - b * d;
        result.force += a * t * t + b * t * t * t;
        result.energy =
            std::pow(r, -p) - std::pow(rc, -p) + a * (d * d * d - t * t * t) / 3 + b * (d * d * d * d - t * t * t * t) / 4;
    }
    if (run.lj_modifier == LjModifier::PotentialSwitch)
    {
        // V S with S = 1 - 10 x^3 + 15 x^4 - 6 x^5, x = (r - r1) / (rc - r1).
        const double d = rc - run.lj_switch, x = std::max(0.0, r - run.lj_switch) / d;
        const double s = 1 - 10 * std::pow(x, 3) + 15 * std::pow(x, 4) - 6 * std::pow(x, 5);
        const double ds = (-30 * std::pow(x, 2) + 60 * std::pow(x, 3) - 30 * std::pow(x, 4)) / d;
        result.force = result.force * s - result.energy * ds;
        result.energy *= s;
    }
    return result;
}

// PME, of charges whose product, times f, is 1: erfc(beta r) / r, and for excluded pairs -erf(beta r) / r, without a shift.
EnergyForce screened_at(double r, bool excluded, const RunParameters& run)
{
    const double beta = ewald_beta(run), rc = run.coulomb_cutoff;
    const double slope = 2 * beta / std::sqrt(units::pi) * std::exp(-beta * beta * r * r); // of erf(beta r)
    if (excluded) { return {-std::erf(beta * r) / r, slope / r - std::erf(beta * r) / (r * r)}; }
    const double shift = run.coulomb_potential_shift ? std::erfc(beta * rc) / rc : 0;
    return {std::erfc(beta * r) / r - shift, slope / r + std::erfc(beta * r) / (r * r)};
}
// Of charges whose product, times f, is 1.
EnergyForce coulomb_at(double r, bool excluded, const RunParameters& run)
{
    if (run.coulomb == CoulombKind::Pme) { return screened_at(r, excluded, run); }
    const double rc = run.coulomb_cutoff;
    double k = 0, c = run.coulomb_potential_shift ? 1 / rc : 0;
    if (run.coulomb == CoulombKind::ReactionField)
    {
        const double e_rf = run.epsilon_rf == 0 ? 1e30 : run.epsilon_rf;
        k = (e_rf - run.epsilon_r) / (2 * e_rf + run.epsilon_r) / (rc * rc * rc);
        c = 1 / rc + k * rc * rc;
    }
    return {(excluded ? 0 : 1 / r) + k * r * r - c, (excluded ? 0 : 1 / (r * r)) - 2 * k * r};
}

} // namespace

// The dispersion on LJ-PME's mesh, which a pair loses: c6 (1 - g) / r^6, less its value at the cut-off unless it is excluded.
TEST(PairLaw, of_lj_pme_loses_what_the_mesh_has)
{
    for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12})
    {
        const System system = random_liquid({2.1, 2.6, 2.3}, 3, 2, 7);
        RunParameters run = pme(0.9);
        const NonbondedParameters plain = make_nonbonded(system.topology, run);
        run.has_lj_mesh = true, run.lj_ewald_tolerance = tolerance;
        const NonbondedParameters parameters = make_nonbonded(system.topology, run);
        const double beta = lj_ewald_beta(run), rc = run.lj_cutoff;
        EXPECT_NEAR(direct_dispersion(beta * rc * beta * rc), tolerance, 1e-13 * tolerance + 1e-16);
        const auto of_mesh = [&](double r) {
            const long double s = beta * beta * r * r, r6 = std::pow(static_cast<long double>(r), 6);
            const long double gauss = std::exp(-s), g = gauss * (1 + s + s * s / 2), slope = gauss * s * s * s;
            return std::pair(static_cast<double>((1 - g) / r6), static_cast<double>((6 * (1 - g) - slope) / (r6 * r)));
        };
        for (double r = 0.25; r < 0.9; r += 0.013) // nearer 1 - g cancels
        {
            for (const bool excluded : {false, true})
            {
                const double c6 = 2e-3, c12 = 3e-6, qq = -70, mesh = 1.7e-3;
                const PairForce with = pair_force(parameters, c6, c12, qq, r, excluded, mesh),
                                without = pair_force(plain, c6, c12, qq, r, excluded);
                const auto [energy, force] = of_mesh(r);
                const double scale = std::abs(without.lj) + std::abs(without.force_over_r) + mesh * std::pow(beta, 8);
                EXPECT_NEAR(with.lj - without.lj, mesh * (energy - (excluded ? 0 : of_mesh(rc).first)), 1e-13 * scale) << r;
                EXPECT_NEAR(with.force_over_r - without.force_over_r, mesh * force / r, 1e-13 * scale) << r;
                EXPECT_EQ(with.coulomb, without.coulomb);
            }
        }
    }
}

TEST(PairLaw, is_that_of_the_published_formulas)
{
    for (const NonbondedVariant& variant : nonbonded_variants)
    {
        SCOPED_TRACE(variant.name);
        System system = random_liquid({2.1, 2.6, 2.3}, 3, 2, 7, variant.rule);
        RunParameters run = reaction_field(0.9);
        variant.change(system, run);
        const NonbondedParameters parameters = make_nonbonded(system.topology, run);
        EXPECT_DOUBLE_EQ(parameters.coulomb_factor, units::coulomb / run.epsilon_r);
        for (double r = 0.1; r < 0.9; r += 0.013)
        {
            for (const bool excluded : {false, true})
            {
                const double c6 = 2e-3, c12 = 3e-6, qq = -70;
                const EnergyForce v6 = dispersion_like(6, r, run), v12 = dispersion_like(12, r, run),
                                  v1 = coulomb_at(r, excluded, run);
                const PairForce pair = pair_force(parameters, c6, c12, qq, r, excluded);
                const double lj = excluded ? 0 : c12 * v12.energy - c6 * v6.energy;
                const double force = qq * v1.force + (excluded ? 0 : c12 * v12.force - c6 * v6.force);
                // Terms cancel: relative to the largest of them.
                const double scale = std::abs(qq / r) + c12 * std::pow(r, -12);
                EXPECT_NEAR(pair.lj, lj, 1e-13 * scale) << r;
                EXPECT_NEAR(pair.coulomb, qq * v1.energy, 1e-13 * scale) << r;
                EXPECT_NEAR(pair.force_over_r * r, force, 1e-12 * scale / r) << r;
            }
        }
    }
}
