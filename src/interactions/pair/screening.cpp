// SPDX-License-Identifier: Apache-2.0
#include "interactions/pair/screening.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

using Wide = long double;

const Wide pi = std::acos(Wide{-1});

// -erf(sqrt s) / sqrt s, and g(s) = -2 times its derivative. Series replace the closed forms if these suffer from cancellation.
struct Functions
{
    Wide energy, force;
};
Functions functions(Wide s)
{
    const Wide scale = 2 / std::sqrt(pi);
    if (s > 2)
    {
        const Wide root = std::sqrt(s), erf = std::erf(root);
        return {-erf / root, scale * std::exp(-s) / s - erf / (s * root)};
    }
    Functions sum{0, 0};
    Wide power = 1; // (-s)^k / k!
    for (int k = 0; k < 40; ++k)
    {
        sum.energy -= scale * power / (2 * k + 1);
        sum.force -= 2 * scale * power / (2 * k + 3); // term k + 1 of the derivative
        power *= -s / (k + 1);
    }
    return sum;
}

// The functions E and F of dispersion over beta^6 and beta^8: incomplete gamma functions over powers of s.
Functions dispersion_functions(Wide s)
{
    if (s > 2)
    {
        const Wide two = 1 + s + s * s / 2, three = two + s * s * s / 6;
        return {(1 - std::exp(-s) * two) / (s * s * s), 6 * (1 - std::exp(-s) * three) / (s * s * s * s)};
    }
    Functions sum{0, 0};
    Wide power = 1; // (-s)^k / k!
    for (int k = 0; k < 40; ++k)
    {
        sum.energy += power / (2 * (k + 3)), sum.force += power / (k + 4);
        power *= -s / (k + 1);
    }
    return sum;
}

// Returns the polynomial through the values at the Chebyshev points cos(pi (j + 1/2) / n), in powers of t.
template <std::size_t n>
std::array<double, n> interpolated(const std::array<Wide, n>& values)
{
    std::array<Wide, n> result{}, previous{}, current{}; // previous, current: coefficients of T_(k-1) and T_k
    current[0] = 1;
    for (std::size_t k = 0; k < n; ++k)
    {
        Wide coefficient = 0;
        for (std::size_t j = 0; j < n; ++j)
        {
            coefficient += values[j] * std::cos(pi * static_cast<Wide>(k) * (static_cast<Wide>(j) + Wide{0.5}) / n);
        }
        coefficient *= (k == 0 ? Wide{1} : Wide{2}) / n;
        for (std::size_t i = 0; i < n; ++i) { result[i] += coefficient * current[i]; }
        std::array<Wide, n> next{}; // T_(k+1) = 2 t T_k - T_(k-1), T_1 = t
        for (std::size_t i = 0; i + 1 < n; ++i) { next[i + 1] = (k == 0 ? 1 : 2) * current[i]; }
        for (std::size_t i = 0; i < n; ++i) { next[i] -= k == 0 ? 0 : previous[i]; }
        previous = current, current = next;
    }
    std::array<double, n> rounded{};
    for (std::size_t i = 0; i < n; ++i) { rounded[i] = static_cast<double>(result[i]); }
    return rounded;
}

// Scales `of`, a function of s = (beta r)^2, by the powers of beta that its dimension has.
template <std::size_t degree>
ScreeningPolynomial<degree> polynomial(double beta, double cutoff, Functions (*of)(Wide), int power_of_energy, Wide scale = 1)
{
    Wide energy_scale = scale;
    for (int i = 0; i < power_of_energy; ++i) { energy_scale *= beta; }
    std::array<Wide, degree + 1> force, energy;
    for (std::size_t j = 0; j <= degree; ++j)
    {
        const Wide t = std::cos(pi * (static_cast<Wide>(j) + Wide{0.5}) / (degree + 1));
        const Functions f = of(Wide{beta} * beta * cutoff * cutoff * (t + 1) / 2);
        force[j] = f.force * energy_scale * beta * beta, energy[j] = f.energy * energy_scale;
    }
    return {interpolated(force), interpolated(energy)};
}

// Returns a polynomial with room for the coefficients of the tight degree. `rest`: the last arguments of polynomial().
template <class Real, class AnyScreening, class... Rest>
auto polynomial_for(const AnyScreening& screening, double cutoff, Rest... rest)
{
    const double beta = screening.beta;
    if (screening.template is_tight<Real>()) { return polynomial<tight_screening_degree<Real>>(beta, cutoff, rest...); }
    const auto usual = polynomial<screening_degree<Real>>(beta, cutoff, rest...);
    ScreeningPolynomial<tight_screening_degree<Real>> padded;
    std::ranges::copy(usual.force, padded.force.begin());
    std::ranges::copy(usual.energy, padded.energy.begin());
    return padded;
}

// Returns 3 / rc^2, slightly reduced, so that for no r < rc w is rounded to 4.
double segments_per_r2(double cutoff) { return 3 * (1 - 1e-6) / (cutoff * cutoff); }

// Returns the polynomial of t in [-1, 1] as a polynomial of x = `half` (t + 1).
template <std::size_t n>
std::array<double, n> from_begin(const std::array<double, n>& of_t, double half)
{
    std::array<double, n> result{};
    for (std::size_t i = n; i-- > 0;) // Horner's rule: times t = x / half - 1, plus the next coefficient
    {
        for (std::size_t k = n - 1; k > 0; --k) { result[k] = result[k - 1] / half - result[k]; }
        result[0] = of_t[i] - result[0];
    }
    return result;
}

template <std::size_t segments, std::size_t degree>
ScreeningSegments<segments, degree> by_segments(double beta, double cutoff)
{
    ScreeningSegments<segments, degree> result;
    const double per_r2 = segments_per_r2(cutoff);
    for (std::size_t segment = 0; segment < segments; ++segment)
    {
        const std::size_t in_octave = segment % (segments / 2);
        const double octave = segment < segments / 2 ? 2 : 1, half = octave / static_cast<double>(segments);
        const double middle = octave + half * static_cast<double>(2 * in_octave + 1);
        std::array<Wide, degree + 1> values;
        for (std::size_t j = 0; j <= degree; ++j)
        {
            const Wide t = std::cos(pi * (static_cast<Wide>(j) + Wide{0.5}) / (degree + 1));
            values[j] = functions(Wide{beta} * beta * (middle + half * t - 1) / per_r2).force * beta * beta * beta;
        }
        const std::array<double, degree + 1> coefficients = from_begin(interpolated(values), half);
        for (std::size_t i = 0; i <= degree; ++i) { result.force[i][segment] = static_cast<float>(coefficients[i]); }
    }
    return result;
}

} // namespace

Screening make_screening(double beta, double cutoff)
{
    Screening screening;
    screening.beta = beta;
    screening.range = beta * cutoff;
    screening.of_float = polynomial_for<float>(screening, cutoff, functions, 1);
    screening.of_double = polynomial_for<double>(screening, cutoff, functions, 1);
    screening.segments_per_r2 = static_cast<float>(segments_per_r2(cutoff));
    screening.eight_segments = by_segments<8, 5>(beta, cutoff);
    screening.sixteen_segments = by_segments<16, 4>(beta, cutoff);
    return screening;
}

DispersionScreening make_dispersion_screening(double beta, double cutoff)
{
    DispersionScreening screening;
    screening.beta = beta;
    screening.range = beta * cutoff;
    screening.cutoff = cutoff;
    const Wide sixth = Wide{1} / 6;
    screening.of_float = polynomial_for<float>(screening, cutoff, dispersion_functions, 6, sixth);
    screening.of_double = polynomial_for<double>(screening, cutoff, dispersion_functions, 6, sixth);
    return screening;
}

} // namespace parhelion
