// SPDX-License-Identifier: Apache-2.0
// The influence function of LJ-PME's mesh (Essmann et al., J. Chem. Phys. 103, 8577 (1995), section 5), without its constants:
//
//   f(x) = (1 - 2 x) exp(-x) + 2 sqrt(pi) x^(3/2) erfc(sqrt x),   x = pi^2 m^2 / beta^2
//   f'(x) = exp(-x) d(sqrt x),   d(b) = 3 (sqrt(pi) b exp(b^2) erfc(b) - 1),   and so f(x) = exp(-x) + 2 x f'(x) / 3
//
// d is smooth, -3 at 0 and 0 at infinity. It is a sum of Chebyshev polynomials of u = (b - 3) / (b + 3). Times exp(-x) the errors
// are 7e-9 (float) and 5e-15 (double). Powers of u would cancel.
#pragma once

#include <array>
#include <cstddef>

namespace parhelion::mesh {

template <class Real>
struct DispersionWaves
{
    static constexpr std::size_t terms = sizeof(Real) == sizeof(float) ? 13 : 25;
    static constexpr Real middle = 3; // b at u = 0

    std::array<Real, terms> chebyshev; // coefficients of the polynomials; the first one is halved

    DispersionWaves();
};

} // namespace parhelion::mesh
