// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms along grid lines, of any length: S(k) = sum_j a(j) exp(-2 pi i j k / n), not normalised.
//
// Several lines are transformed at a time, one in each lane of a vector. This needs no shuffles, and a line's
// result has the same bits whatever the other lines are. The passes are Stockham's, which sort by themselves (Van
// Loan, Computational Frameworks for the FFT, section 1.7). Factors 2, 3, 4, 5, 7 and 8 have butterflies; other
// prime factors take sums of products. The caller allocates work areas. Cost: about 5 n log2 n operations a line.
#pragma once

#include <cstddef>
#include <vector>

namespace parhelion {

// The factors and roots of unity for lines of n points, made once.
template <class Real>
class LineFft
{
public:
    explicit LineFft(int points); // requires points > 0

    struct Pass
    {
        int radix;
        int length;           // length of the transforms that remain before this pass: radix times the rest
        int stride;           // product of the radices of earlier passes: points / length
        std::size_t twiddles; // this pass's first root in roots(): exp(-2 pi i p k / length) at 2 * (p * (radix - 1) + k - 1)
    };
    static constexpr int largest_butterfly = 8;

    int points() const { return points_; }
    const std::vector<Pass>& passes() const { return passes_; }
    const std::vector<Real>& roots() const { return roots_; } // twiddles of all passes, roots of odd radices
    const Real* twiddles(const Pass& pass) const { return roots_.data() + pass.twiddles; }
    // Returns exp(-2 pi i k / radix), k = 0 ... radix - 1, for a pass that has no butterfly.
    const Real* radix_roots(int radix) const;

private:
    int points_;
    std::vector<Pass> passes_;
    std::vector<Real> roots_;
    struct RadixRoots
    {
        int radix;
        std::size_t first;
    };
    std::vector<RadixRoots> radix_roots_;
};

} // namespace parhelion
