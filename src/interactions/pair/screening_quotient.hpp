// SPDX-License-Identifier: Apache-2.0
// The force of screening.hpp as a quotient of two polynomials in r^2. It serves GPUs,
// where a reciprocal is one instruction: a pair takes 13 instructions instead of 17.
//
// F(r) = N(r^2) / D(r^2), with D(0) = 1 and D > 0 for all r. It interpolates where sqrt(r / rc) is a
// Chebyshev point of [0, 1], so that errors are similar over the whole range. Relative to F(0) they are
// 2e-9, 9e-9, 4e-8 and 1e-7 for an ewald-rtol of 1e-4, 1e-5, 1e-6 and 1e-7. Rounding of floats adds 1.5e-7.
#pragma once

#include "interactions/pair/screening.hpp"

namespace parhelion {

struct ScreeningQuotient
{
    static constexpr std::size_t terms = 6; // polynomials of degree 5

    std::array<double, terms> numerator{}, denominator{}; // coefficients of r^(2 i): nm^(-3 - 2 i) and nm^(-2 i)

    ScreeningQuotient() = default;                                // makes an empty object, for a run without PME
    ScreeningQuotient(const Screening& screening, double cutoff); // nm
};

} // namespace parhelion
