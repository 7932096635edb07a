// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/gpu/line_fft_gpu.hpp"

namespace parhelion {

template <class Real>
GpuLineFft<Real>::GpuLineFft(GpuQueue& queue, int points)
{
    const LineFft<Real> fft(points);
    PARHELION_EXPECTS(fft.passes().size() <= LineFftView<Real>::most_passes);
    const std::vector<Real>& numbers = fft.roots();
    roots_.upload(queue, {reinterpret_cast<const GpuComplex<Real>*>(numbers.data()), numbers.size() / 2});
    queue.synchronize(); // the host's table goes
    const auto place = [&](const Real* of) { return static_cast<std::int32_t>((of - numbers.data()) / 2); };
    view_.points = points, view_.roots = static_cast<std::int32_t>(roots_.size()), view_.root = roots_.data();
    for (const typename LineFft<Real>::Pass& pass : fft.passes())
    {
        view_.pass[view_.passes++] = {pass.radix, pass.length / pass.radix, SmallDivisor(pass.stride), place(fft.twiddles(pass)),
                                      pass.radix > LineFft<Real>::largest_butterfly ? place(fft.radix_roots(pass.radix)) : 0};
    }
}

template class GpuLineFft<float>;
template class GpuLineFft<double>;

} // namespace parhelion
