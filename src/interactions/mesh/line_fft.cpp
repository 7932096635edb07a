// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/line_fft.hpp"

#include "base/error.hpp"
#include "base/units.hpp"

#include <cmath>
#include <cstdint>

namespace parhelion {

namespace {

// Returns the radix of the next pass. Large butterflies come first: they need fewer passes over the line.
int next_radix(int length)
{
    for (const int radix : {8, 4, 5, 3, 2, 7})
    {
        if (length % radix == 0) { return radix; }
    }
    int prime = 11;
    while (length % prime != 0) { prime += 2; }
    return prime;
}

template <class Real>
void push_root(std::vector<Real>& roots, std::int64_t numerator, int denominator)
{
    const long double angle =
        -2 * 3.141592653589793238462643383279502884L * static_cast<long double>(numerator % denominator) / denominator;
    roots.push_back(static_cast<Real>(std::cos(angle)));
    roots.push_back(static_cast<Real>(std::sin(angle)));
}

} // namespace

template <class Real>
LineFft<Real>::LineFft(int points) : points_(points)
{
    PARHELION_EXPECTS(points > 0);
    for (int length = points; length > 1;)
    {
        const int radix = next_radix(length), rest = length / radix;
        passes_.push_back({radix, length, points / length, roots_.size()});
        for (std::int64_t p = 0; p < rest; ++p)
        {
            for (int k = 1; k < radix; ++k) { push_root(roots_, p * k, length); }
        }
        length = rest;
    }
    for (const Pass& pass : passes_)
    {
        if (pass.radix <= largest_butterfly || (!radix_roots_.empty() && radix_roots_.back().radix == pass.radix)) { continue; }
        radix_roots_.push_back({pass.radix, roots_.size()});
        for (int k = 0; k < pass.radix; ++k) { push_root(roots_, k, pass.radix); }
    }
}

template <class Real>
const Real* LineFft<Real>::radix_roots(int radix) const
{
    for (const RadixRoots& roots : radix_roots_)
    {
        if (roots.radix == radix) { return roots_.data() + roots.first; }
    }
    throw ContractError("a radix that the length does not have");
}

template class LineFft<float>;
template class LineFft<double>;

} // namespace parhelion
