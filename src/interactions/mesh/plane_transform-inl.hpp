// SPDX-License-Identifier: Apache-2.0
// The transforms of a plane of the grid along z and y, and back. Highway includes this file once per instruction set.

#if defined(PARHELION_PLANE_TRANSFORM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_PLANE_TRANSFORM_INL
#undef PARHELION_PLANE_TRANSFORM_INL
#else
#define PARHELION_PLANE_TRANSFORM_INL
#endif

#include "interactions/mesh/line_fft-inl.hpp"
#include "interactions/mesh/mesh_kernels.hpp"
#include "interactions/mesh/transpose-inl.hpp"

#include "hwy/highway.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace parhelion::mesh {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Real>
Lines<Real> lines_in(Real* work, const Layout& layout)
{
    const std::size_t size = lines_size(layout) / 4;
    return {work, work + size, work + 2 * size, work + 3 * size};
}
// Returns where in `work` the half spectrum of a plane is between its two transforms: [y][kz], real parts, then imaginary parts.
template <class Real>
Real* plane_in(Real* work, const Layout& layout)
{
    return work + lines_size(layout);
}

// Two real lines A and B are transformed as one complex line Z = A + i B. Then A(k) = (Z(k) + Z*(n - k)) / 2 and B(k) = -i
// (Z(k) - Z*(n - k)) / 2. A batch has as many such pairs as a vector has lanes. Copies of the last line fill up the last batch.
template <class Real>
struct Plane
{
    using T = LineTransform<Real>;
    using D = typename T::D;
    using V = typename T::V;
    static constexpr std::size_t lanes = T::lanes;

    // A square of numbers: lines as many as a vector has lanes. Each vector has one line or, transposed, each lane has one line.
    struct Square
    {
        V v[lanes];
    };
    // Returns lines y, y + 1, ... of `from`, which are `row` numbers apart. After the last line come copies of it.
    static HWY_INLINE Square load_lines(const Real* from, int y, int lines, std::size_t row)
    {
        Square s;
        for (std::size_t i = 0; i < lanes; ++i)
        {
            const int line = std::min(y + static_cast<int>(i), lines - 1);
            s.v[i] = hn::LoadU(D(), from + static_cast<std::size_t>(line) * row);
        }
        transpose(D(), s.v);
        return s;
    }
    // Stores the lines at their places. Copies of the last line all go to the place of that line.
    static HWY_INLINE void store_lines(Square s, Real* to, int y, int lines, std::size_t row)
    {
        transpose(D(), s.v);
        for (std::size_t i = 0; i < lanes; ++i)
        {
            const int line = std::min(y + static_cast<int>(i), lines - 1);
            hn::StoreU(s.v[i], D(), to + static_cast<std::size_t>(line) * row);
        }
    }

    static void rows_forward(const Transforms<Real>& t, const Real* grid, Real* work)
    {
        const Layout& l = *t.layout;
        Real *const re = plane_in(work, l), *const im = re + l.kz_plane();
        const auto n = static_cast<std::size_t>(l.points[2]), kz = static_cast<std::size_t>(l.kz());
        const int rows = l.points[1];
        for (int y = 0; y < rows; y += 2 * static_cast<int>(lanes))
        {
            const int y_b = y + static_cast<int>(lanes);
            Lines<Real> lines = lines_in(work, l);
            for (std::size_t z = 0; z < n; z += lanes) // also loads points behind the last, for which lines have space
            {
                const Square a = load_lines(grid + z, y, rows, l.row), b = load_lines(grid + z, y_b, rows, l.row);
                for (std::size_t i = 0; i < lanes; ++i) { T::store({a.v[i], b.v[i]}, lines.re, lines.im, z + i); }
            }
            T::forward(*t.fft[2], lines);
            for (std::size_t k0 = 0; k0 < l.kz_row; k0 += lanes)
            {
                Square re_a, im_a, re_b, im_b;
                for (std::size_t i = 0; i < lanes; ++i)
                {
                    const std::size_t k = std::min(k0 + i, kz - 1);
                    const V half = hn::Set(D(), static_cast<Real>(k0 + i < kz ? 0.5 : 0));
                    const auto z = T::load(lines.re, lines.im, k), mirror = T::load(lines.re, lines.im, k == 0 ? 0 : n - k);
                    re_a.v[i] = hn::Mul(half, hn::Add(z.re, mirror.re)), im_a.v[i] = hn::Mul(half, hn::Sub(z.im, mirror.im));
                    re_b.v[i] = hn::Mul(half, hn::Add(z.im, mirror.im)), im_b.v[i] = hn::Mul(half, hn::Sub(mirror.re, z.re));
                }
                store_lines(re_a, re + k0, y, rows, l.kz_row), store_lines(im_a, im + k0, y, rows, l.kz_row);
                store_lines(re_b, re + k0, y_b, rows, l.kz_row), store_lines(im_b, im + k0, y_b, rows, l.kz_row);
            }
        }
    }

    static void rows_backward(const Transforms<Real>& t, Real* grid, Real* work)
    {
        const Layout& l = *t.layout;
        const Real *const re = plane_in(work, l), *const im = re + l.kz_plane();
        const auto n = static_cast<std::size_t>(l.points[2]);
        const int rows = l.points[1];
        for (int y = 0; y < rows; y += 2 * static_cast<int>(lanes))
        {
            const int y_b = y + static_cast<int>(lanes);
            Lines<Real> lines = lines_in(work, l);
            // The loop goes from the highest k down. Mirror images, which come later, overwrite numbers beyond the half spectrum.
            for (std::size_t end = l.kz_row; end > 0; end -= lanes)
            {
                const std::size_t k0 = end - lanes;
                const Square re_a = load_lines(re + k0, y, rows, l.kz_row), re_b = load_lines(re + k0, y_b, rows, l.kz_row);
                const Square im_a = load_lines(im + k0, y, rows, l.kz_row), im_b = load_lines(im + k0, y_b, rows, l.kz_row);
                for (std::size_t i = lanes; i-- > 0;)
                {
                    // A number that is its own mirror image is real. In a tilted box the influence function differs for
                    // the signs of the middle wave along x or y. This leaves an imaginary part that is not the other line's.
                    const std::size_t k = k0 + i;
                    const bool is_real = t.influence->is_tilted && (k == 0 || 2 * k == n);
                    const V a_im = is_real ? hn::Zero(D()) : im_a.v[i], b_im = is_real ? hn::Zero(D()) : im_b.v[i];
                    const std::size_t mirror = k == 0 || k > n ? n : n - k; // point n is behind the last one
                    T::store({hn::Sub(re_a.v[i], b_im), hn::Add(a_im, re_b.v[i])}, lines.re, lines.im, k);
                    T::store({hn::Add(re_a.v[i], b_im), hn::Sub(re_b.v[i], a_im)}, lines.re, lines.im, mirror);
                }
            }
            T::backward(*t.fft[2], lines);
            for (std::size_t z = 0; z < n; z += lanes)
            {
                Square a, b;
                for (std::size_t i = 0; i < lanes; ++i)
                {
                    const auto value = T::load(lines.re, lines.im, z + i);
                    a.v[i] = value.re, b.v[i] = value.im;
                }
                store_lines(a, grid + z, y, rows, l.row), store_lines(b, grid + z, y_b, rows, l.row);
            }
        }
        for (Real* row = grid; row != grid + l.plane(); row += l.row)
        {
            for (std::size_t z = n; z < l.row; ++z) { row[z] = row[z - n]; }
        }
    }

    // Transforms a plane along y, a vector of kz at a time, from `work` to the places of its rows.
    static void columns_forward(const Transforms<Real>& t, Real* const* rows, Real* work)
    {
        const Layout& l = *t.layout;
        const Real *const re = plane_in(work, l), *const im = re + l.kz_plane();
        const D d;
        for (std::size_t k = 0; k < l.kz_row; k += lanes)
        {
            Lines<Real> lines = lines_in(work, l);
            for (std::size_t y = 0; y < static_cast<std::size_t>(l.points[1]); ++y)
            {
                T::store({hn::Load(d, re + y * l.kz_row + k), hn::Load(d, im + y * l.kz_row + k)}, lines.re, lines.im, y);
            }
            T::forward(*t.fft[1], lines);
            for (std::size_t y = 0; y < static_cast<std::size_t>(l.points[1]); ++y)
            {
                T::store(T::load(lines.re, lines.im, y), rows[y] + k, rows[y] + l.kz_row + k, 0);
            }
        }
    }
    // Transforms a plane along y in the reverse direction, from its rows to `work`.
    static void columns_backward(const Transforms<Real>& t, const Real* const* rows, Real* work)
    {
        const Layout& l = *t.layout;
        Real *const re = plane_in(work, l), *const im = re + l.kz_plane();
        for (std::size_t k = 0; k < l.kz_row; k += lanes)
        {
            Lines<Real> lines = lines_in(work, l);
            for (std::size_t y = 0; y < static_cast<std::size_t>(l.points[1]); ++y)
            {
                T::store(T::load(rows[y] + k, rows[y] + l.kz_row + k, 0), lines.re, lines.im, y);
            }
            T::backward(*t.fft[1], lines);
            for (std::size_t y = 0; y < static_cast<std::size_t>(l.points[1]); ++y)
            {
                T::store(T::load(lines.re, lines.im, y), re + y * l.kz_row + k, im + y * l.kz_row + k, 0);
            }
        }
    }
};

template <class Real>
void run_forward_plane(const Transforms<Real>& transforms, const Real* grid, Real* const* rows, Real* work)
{
    Plane<Real>::rows_forward(transforms, grid, work);
    Plane<Real>::columns_forward(transforms, rows, work);
}
template <class Real>
void run_backward_plane(const Transforms<Real>& transforms, const Real* const* rows, Real* grid, Real* work)
{
    Plane<Real>::columns_backward(transforms, rows, work);
    Plane<Real>::rows_backward(transforms, grid, work);
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::mesh
HWY_AFTER_NAMESPACE();

#endif // end of the include guard, which is per instruction set
