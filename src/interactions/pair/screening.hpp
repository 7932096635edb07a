// SPDX-License-Identifier: Apache-2.0
// What is left of Coulomb's law in real space under PME, as polynomials: no exponential and no error function in the pair
// kernels.
//
//   force / r = q q (1/r^3 + F(t)),  F = beta^3 g(beta^2 r^2),  g(s) = 2 exp(-s) / (sqrt(pi) s) - erf(sqrt s) / s^(3/2)
//   energy    = q q (1/r + E(t)),    E = -erf(beta r) / r
//
// both smooth functions of r^2, and so of t = 2 (r / rc)^2 - 1 in [-1, 1]: Chebyshev interpolation there. As beta rc depends on
// ewald-rtol alone, so do the errors, here relative to the largest value; rounding adds 1.5e-7 in floats, 3e-16 in doubles:
//
//   ewald-rtol   1e-5     1e-6     1e-7     1e-8     1e-12    1e-16
//   degree 14    2e-9     2e-8     9e-8     4e-7     2e-5     2e-4
//   degree 22    2e-16    2e-15    5e-14    6e-13    6e-10    3e-8
//   degree 38                                        3e-16    3e-16
//
// So there are two degrees: the usual one, and another for kernels that a tight ewald-rtol calls for. Powers of t are as good as
// Chebyshev's polynomials here: as derivatives of both functions alternate in sign, nothing cancels at t = -1, where they are
// largest.
#pragma once

#include <array>
#include <cstddef>

namespace parhelion {

template <class Real>
inline constexpr std::size_t screening_degree = sizeof(Real) == sizeof(float) ? 14 : 22;
template <class Real>
inline constexpr std::size_t tight_screening_degree = sizeof(Real) == sizeof(float) ? 22 : 38;

// The largest beta rc for which the usual degree is exact to rounding: an ewald-rtol of 1e-7 and 1e-6.
template <class Real>
inline constexpr double usual_screening_range = sizeof(Real) == sizeof(float) ? 3.77 : 3.46;

template <std::size_t degree>
struct ScreeningPolynomial
{
    std::array<double, degree + 1> force{}, energy{}; // coefficients of t^i, nm^-3 and nm^-1
};

struct Screening
{
    double beta = 0;  // 1/nm; 0: no PME
    double range = 0; // beta rc
    // Of the usual degree, and 0 beyond, or of the tight one.
    ScreeningPolynomial<tight_screening_degree<float>> of_float;
    ScreeningPolynomial<tight_screening_degree<double>> of_double;

    bool is_used() const { return beta > 0; }
    template <class Real>
    bool is_tight() const
    {
        return range > usual_screening_range<Real>;
    }
    template <class Real>
    const auto& polynomial() const
    {
        if constexpr (sizeof(Real) == sizeof(float)) { return of_float; }
        else { return of_double; }
    }
};

// beta: 1/nm; cutoff: nm. Up to a beta rc of 5.9, an ewald-rtol of 1e-16, which no double tells from 0.
Screening make_screening(double beta, double cutoff);

} // namespace parhelion
