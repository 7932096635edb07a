// SPDX-License-Identifier: Apache-2.0
// The real-space part of PME's Coulomb interaction, as polynomials, so
// that pair kernels need neither an exponential nor an error function.
//
//   force / r = q q (1/r^3 + F(t)),  F = beta^3 g(beta^2 r^2),  g(s) = 2 exp(-s) / (sqrt(pi) s) - erf(sqrt s) / s^(3/2)
//   energy    = q q (1/r + E(t)),    E = -erf(beta r) / r
//
// F and E are smooth functions of r^2, and so of t = 2 (r / rc)^2 - 1 in [-1, 1], with Chebyshev interpolation. Errors depend
// on ewald-rtol alone, as beta rc does. Relative to the largest value they are as follows (rounding adds 1.5e-7 or 3e-16):
//
//   ewald-rtol   1e-5     1e-6     1e-7     1e-8     1e-12    1e-16
//   degree 14    2e-9     2e-8     9e-8     4e-7     2e-5     2e-4
//   degree 22    2e-16    2e-15    5e-14    6e-13    6e-10    3e-8
//   degree 38                                        3e-16    3e-16
//
// So there are two degrees: a usual one, and a higher one for kernels with a tight ewald-rtol.
// If a vector can look up eight or more floats at once, F consists of short polynomials
// (ScreeningSegments). Powers of t are as good as Chebyshev polynomials here: the derivatives
// of F and E alternate in sign, so nothing cancels at t = -1, where F and E are largest.
#pragma once

#include <array>
#include <cstddef>

namespace parhelion {

template <class Real>
inline constexpr std::size_t screening_degree = sizeof(Real) == sizeof(float) ? 14 : 22;
template <class Real>
inline constexpr std::size_t tight_screening_degree = sizeof(Real) == sizeof(float) ? 22 : 38;

// The largest beta rc for which the usual degree is exact to rounding: an ewald-rtol of 1e-7 (float) or 1e-6 (double).
template <class Real>
inline constexpr double usual_screening_range = sizeof(Real) == sizeof(float) ? 3.77 : 3.46;

template <std::size_t degree>
struct ScreeningPolynomial
{
    std::array<double, degree + 1> force{}, energy{}; // coefficients of t^i, nm^-3 and nm^-1
};

// F by segments. w = 1 + per_r2 r^2 is in [1, 4). Each of the ranges [1, 2) and [2, 4) has `segments` / 2 segments of
// equal length. In each segment F is a polynomial of w minus the segment's begin. A segment's number consists of the
// leading bits of w's mantissa and the last bit of its exponent, which puts [2, 4) first because its exponent is even.
//
//   ewald-rtol              1e-4     1e-5     1e-6     1e-7
//   16 segments, degree 4   4e-8     7e-8     1e-7     2e-7     relative to F(0)
//   8 segments, degree 5    4e-8     9e-8     1e-7     2e-7
template <std::size_t segments, std::size_t degree>
struct ScreeningSegments
{
    static constexpr std::size_t count = segments, terms = degree + 1;
    alignas(64) std::array<std::array<float, segments>, terms> force{}; // coefficients of each power, for all segments, nm^-3
};

struct Screening
{
    double beta = 0;  // 1/nm; 0: the run has no PME
    double range = 0; // beta times the cut-off
    // The polynomials have the usual degree, and then 0 for higher powers, or the tight degree.
    ScreeningPolynomial<tight_screening_degree<float>> of_float;
    ScreeningPolynomial<tight_screening_degree<double>> of_double;
    // The members below are set only if polynomials of the usual degree suffice.
    float segments_per_r2 = 0; // nm^-2
    ScreeningSegments<8, 5> eight_segments;
    ScreeningSegments<16, 4> sixteen_segments;

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

// The dispersion that LJ-PME's mesh has within the cut-off, and that pairs lose again, as polynomials of the same kind:
//
//   energy    = c6 E(t),   E = (1 - exp(-x) (1 + x + x^2/2)) / r^6,              x = (beta r)^2
//   force / r = c6 F(t),   F = 6 (1 - exp(-x) (1 + x + x^2/2 + x^3/6)) / r^8
//
// Errors, relative to the largest value, by ewald-rtol-lj:
//
//   ewald-rtol-lj   1e-2     1e-3     1e-4     1e-6     1e-8     1e-12
//   degree 14       7e-10    2e-8     2e-7
//   degree 22       7e-15    8e-15    9e-14    2e-11    6e-10    6e-8
//   degree 38                                  4e-15    4e-15    4e-15
struct DispersionScreening
{
    double beta = 0;                                             // 1/nm; 0: the run has no LJ-PME
    double range = 0;                                            // beta times the cut-off of Lennard-Jones forces
    double cutoff = 0;                                           // nm
    ScreeningPolynomial<tight_screening_degree<float>> of_float; // for c6 times 6: coefficients in nm^-8 and nm^-6
    ScreeningPolynomial<tight_screening_degree<double>> of_double;

    bool is_used() const { return beta > 0; }
    // The largest range for which the usual degree is exact to rounding: an ewald-rtol-lj of 1e-3.
    template <class Real>
    bool is_tight() const
    {
        return range > 3.4;
    }
    template <class Real>
    const auto& polynomial() const
    {
        if constexpr (sizeof(Real) == sizeof(float)) { return of_float; }
        else { return of_double; }
    }
};

// Returns the polynomials. beta: 1/nm; cutoff: nm. beta rc may be up to 5.9, an ewald-rtol-lj of 1e-12.
DispersionScreening make_dispersion_screening(double beta, double cutoff);

// Returns the polynomials. beta: 1/nm; cutoff: nm. beta rc may be up to 5.9, an ewald-rtol of 1e-16, the resolution of a double.
Screening make_screening(double beta, double cutoff);

} // namespace parhelion
