// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms along grid lines, of any length: S(k) = sum_j a(j) exp(-2 pi i j k / n), not normalised.
//
// Lines are transformed several at a time, one in each lane of a vector: no shuffles, and each line gets the same bits
// whatever its neighbours are. The passes are Stockham's (auto-sorting; Van Loan, Computational Frameworks for the FFT, section
// 1.7), with butterflies for 2, 3, 4, 5, 7 and 8 and a sum of products for other prime factors. Work is allocated by the caller.
// Cost: about 5 n log2 n operations a line.
#pragma once

#include <cstddef>
#include <vector>

namespace parhelion {

// Factors and roots of unity for lines of n points, made once.
template <class Real>
class LineFft
{
public:
    explicit LineFft(int points); // > 0

    struct Pass
    {
        int radix;
        int length;           // of the transforms that are left: radix * the rest
        int stride;           // of what is done: points / length
        std::size_t twiddles; // where roots()[] of this pass begin: exp(-2 pi i p k / length) at 2 * (p * (radix - 1) + k - 1)
    };
    static constexpr int largest_butterfly = 8;

    int points() const { return points_; }
    const std::vector<Pass>& passes() const { return passes_; }
    const std::vector<Real>& roots() const { return roots_; } // all that follow
    const Real* twiddles(const Pass& pass) const { return roots_.data() + pass.twiddles; }
    // exp(-2 pi i k / radix), k = 0 ... radix - 1, of a pass without a butterfly of its own.
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
