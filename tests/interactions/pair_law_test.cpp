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
