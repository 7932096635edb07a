// SPDX-License-Identifier: Apache-2.0
#include "interactions/pair/screening_quotient.hpp"

#include <cmath>
#include <utility>

namespace parhelion {

namespace {

using Wide = long double;
template <std::size_t n>
using Vector = std::array<Wide, n>;

// Solves A x = b for x, by elimination with row pivots.
template <std::size_t n>
Vector<n> solved(std::array<Vector<n>, n> A, Vector<n> b)
{
    for (std::size_t k = 0; k < n; ++k)
    {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < n; ++i) { pivot = std::abs(A[i][k]) > std::abs(A[pivot][k]) ? i : pivot; }
        std::swap(A[k], A[pivot]), std::swap(b[k], b[pivot]);
        for (std::size_t i = k + 1; i < n; ++i)
        {
            const Wide factor = A[i][k] / A[k][k];
            for (std::size_t j = k; j < n; ++j) { A[i][j] -= factor * A[k][j]; }
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;)
    {
        for (std::size_t j = k + 1; j < n; ++j) { b[k] -= A[k][j] * b[j]; }
        b[k] /= A[k][k];
    }
    return b;
}

template <std::size_t n>
Wide value(const std::array<double, n>& coefficients, Wide t)
{
    Wide sum = 0;
    for (std::size_t i = n; i-- > 0;) { sum = sum * t + coefficients[i]; }
    return sum;
}

} // namespace

ScreeningQuotient::ScreeningQuotient(const Screening& screening, double cutoff)
{
    constexpr std::size_t unknowns = 2 * terms - 1; // the denominator's first coefficient is 1
    const Wide pi = std::acos(Wide{-1});
    std::array<Vector<unknowns>, unknowns> A{}; // equations N(y) - F (D(y) - 1) = F, y = (r / rc)^2
    Vector<unknowns> force{};
    for (std::size_t j = 0; j < unknowns; ++j)
    {
        const Wide root = (1 + std::cos(pi * (static_cast<Wide>(j) + Wide{0.5}) / unknowns)) / 2, y = root * root;
        force[j] = value(screening.of_double.force, 2 * y - 1);
        Wide power = 1;
        for (std::size_t i = 0; i < terms; ++i, power *= y)
        {
            A[j][i] = power;
            if (i > 0) { A[j][terms - 1 + i] = -force[j] * power; }
        }
    }
    const Vector<unknowns> x = solved(A, force);
    Wide scale = 1;
    for (std::size_t i = 0; i < terms; ++i, scale /= Wide{cutoff} * cutoff)
    {
        numerator[i] = static_cast<double>(x[i] * scale);
        denominator[i] = i == 0 ? 1 : static_cast<double>(x[terms - 1 + i] * scale);
    }
}

} // namespace parhelion
