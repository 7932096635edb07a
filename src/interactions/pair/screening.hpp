// SPDX-License-Identifier: Apache-2.0
// What is left of Coulomb's law in real space under PME, as polynomials: no exponential and no error function in the pair
// kernels.
//
//   force / r = q q (1/r^3 + F(t)),  F = beta^3 g(beta^2 r^2),  g(s) = 2 exp(-s) / (sqrt(pi) s) - erf(sqrt s) / s^(3/2)
//   energy    = q q (1/r + E(t)),    E = -erf(beta r) / r
//
// both smooth functions of r^2, and so of t = 2 (r / rc)^2 - 1 in [-1, 1]: Chebyshev interpolation there. As beta rc depends on
// ewald-rtol alone, so do the errors: for 1e-5 and degree 14 about 1e-9 of the largest value, below the rounding of floats; for
// degree 22 about 1e-15.
#pragma once

#include <array>
#include <cstddef>

namespace parhelion {

template <class Real>
inline constexpr std::size_t screening_degree = sizeof(Real) == sizeof(float) ? 14 : 22;

template <std::size_t degree>
struct ScreeningPolynomial
{
    std::array<double, degree + 1> force{}, energy{}; // coefficients of t^i, nm^-3 and nm^-1
};

struct Screening
{
    double beta = 0; // 1/nm; 0: no PME
    ScreeningPolynomial<screening_degree<float>> of_float;
    ScreeningPolynomial<screening_degree<double>> of_double;

    bool is_used() const { return beta > 0; }
    template <class Real>
    const auto& polynomial() const
    {
        if constexpr (sizeof(Real) == sizeof(float)) { return of_float; }
        else { return of_double; }
    }
};

// beta: 1/nm; cutoff: nm.
Screening make_screening(double beta, double cutoff);

} // namespace parhelion
