// SPDX-License-Identifier: Apache-2.0
#include "interactions/pair/screening.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {

namespace {

using Wide = long double;

const Wide pi = std::acos(Wide{-1});

// -erf(sqrt s) / sqrt s and g(s) = -2 times its derivative; by their series where the closed forms cancel.
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
        sum.force -= 2 * scale * power / (2 * k + 3); // the derivative's term k + 1
        power *= -s / (k + 1);
    }
    return sum;
}

// The polynomial through the values at the Chebyshev points cos(pi (j + 1/2) / n), in powers of t.
template <std::size_t n>
std::array<double, n> interpolated(const std::array<Wide, n>& values)
{
    std::array<Wide, n> result{}, previous{}, current{}; // powers of T_(k-1) and T_k
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

template <std::size_t degree>
ScreeningPolynomial<degree> polynomial(double beta, double cutoff)
{
    std::array<Wide, degree + 1> force, energy;
    for (std::size_t j = 0; j <= degree; ++j)
    {
        const Wide t = std::cos(pi * (static_cast<Wide>(j) + Wide{0.5}) / (degree + 1));
        const Functions f = functions(Wide{beta} * beta * cutoff * cutoff * (t + 1) / 2);
        force[j] = f.force * beta * beta * beta, energy[j] = f.energy * beta;
    }
    return {interpolated(force), interpolated(energy)};
}

// With room for the tight degree.
template <class Real>
auto polynomial_for(const Screening& screening, double cutoff)
{
    if (screening.is_tight<Real>()) { return polynomial<tight_screening_degree<Real>>(screening.beta, cutoff); }
    const auto usual = polynomial<screening_degree<Real>>(screening.beta, cutoff);
    ScreeningPolynomial<tight_screening_degree<Real>> padded;
    std::ranges::copy(usual.force, padded.force.begin());
    std::ranges::copy(usual.energy, padded.energy.begin());
    return padded;
}

} // namespace

Screening make_screening(double beta, double cutoff)
{
    Screening screening;
    screening.beta = beta;
    screening.range = beta * cutoff;
    screening.of_float = polynomial_for<float>(screening, cutoff);
    screening.of_double = polynomial_for<double>(screening, cutoff);
    return screening;
}

} // namespace parhelion
