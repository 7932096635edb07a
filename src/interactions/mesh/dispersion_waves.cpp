// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/dispersion_waves.hpp"

#include <cmath>

namespace parhelion::mesh {

namespace {

using Wide = long double;

Wide slope(Wide b)
{
    const Wide root_pi = std::sqrt(std::acos(Wide{-1}));
    if (b < 20) { return 3 * (root_pi * b * std::exp(b * b) * std::erfc(b) - 1); }
    Wide term = -1 / (2 * b * b), sum = term; // the asymptotic series of exp(b^2) erfc(b)
    for (int k = 2; k < 12; ++k) { sum += term *= -static_cast<Wide>(2 * k - 1) / (2 * b * b); }
    return 3 * sum;
}

} // namespace

template <class Real>
DispersionWaves<Real>::DispersionWaves()
{
    const Wide pi = std::acos(Wide{-1});
    for (std::size_t k = 0; k < terms; ++k)
    {
        Wide sum = 0;
        for (std::size_t j = 0; j < terms; ++j)
        {
            const Wide angle = pi * (static_cast<Wide>(j) + Wide{0.5}) / terms, u = std::cos(angle);
            sum += slope(middle * (1 + u) / (1 - u)) * std::cos(static_cast<Wide>(k) * angle);
        }
        chebyshev[k] = static_cast<Real>(sum * (k == 0 ? 1 : 2) / terms);
    }
}

template struct DispersionWaves<float>;
template struct DispersionWaves<double>;

} // namespace parhelion::mesh
