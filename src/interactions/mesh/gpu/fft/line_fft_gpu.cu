// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/gpu/fft/line_fft_gpu.hpp"

#include <cmath>
#include <vector>

namespace parhelion {

template <class Real>
GpuLineFft<Real>::GpuLineFft(GpuQueue& queue, int points)
{
    const LineFft<Real> fft(points);
    PARHELION_EXPECTS(fft.passes().size() <= LineFftView<Real>::most_passes);
    const std::vector<Real>& numbers = fft.roots();
    roots_.upload(queue, {reinterpret_cast<const GpuComplex<Real>*>(numbers.data()), numbers.size() / 2});
    queue.synchronize(); // the table on the host may be destroyed afterwards
    const auto place = [&](const Real* of) { return static_cast<std::int32_t>((of - numbers.data()) / 2); };
    view_.points = points, view_.roots = static_cast<std::int32_t>(roots_.size()), view_.root = roots_.data();
    for (const typename LineFft<Real>::Pass& pass : fft.passes())
    {
        view_.pass[view_.passes++] = {pass.radix, pass.length / pass.radix, SmallDivisor(pass.stride), place(fft.twiddles(pass)),
                                      pass.radix > LineFft<Real>::largest_butterfly ? place(fft.radix_roots(pass.radix)) : 0};
    }
}

template <class Real>
GpuTwoPassFft<Real>::GpuTwoPassFft(GpuQueue& queue, int points)
{
    constexpr int radices[] = {4, 5, 6, 7, 8, 9, 10, 12, 16}; // the radices for which with_radix() has code
    for (const int first : radices)
    {
        for (const int second : radices)
        {
            if (second > first || first * second != points || exists()) { continue; }
            view_.first = first, view_.second = second;
        }
    }
    if (!exists()) { return; }
    std::vector<GpuComplex<Real>> roots;
    for (int k = 0; k < points; ++k)
    {
        const long double angle = -2 * 3.141592653589793238462643383279502884L * k / points;
        roots.push_back({static_cast<Real>(std::cos(angle)), static_cast<Real>(std::sin(angle))});
    }
    roots_.upload(queue, roots);
    queue.synchronize(); // the table on the host may be destroyed afterwards
    view_.points = points, view_.root = roots_.data();
    view_.by_first = SmallDivisor(view_.first), view_.by_second = SmallDivisor(view_.second);
}

template class GpuTwoPassFft<float>;
template class GpuTwoPassFft<double>;
template class GpuLineFft<float>;
template class GpuLineFft<double>;

} // namespace parhelion
