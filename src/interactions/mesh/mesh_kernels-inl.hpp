// SPDX-License-Identifier: Apache-2.0
// The kernels of mesh_kernels.hpp, one source for every policy and instruction set. Included once per instruction set by
// Highway's foreach_target, from a .cpp per precision.

#if defined(PARHELION_MESH_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_MESH_KERNELS_INL
#undef PARHELION_MESH_KERNELS_INL
#else
#define PARHELION_MESH_KERNELS_INL
#endif

#include "interactions/mesh/line_fft-inl.hpp"
#include "interactions/mesh/mesh_kernels.hpp"
#include "interactions/mesh/spline.hpp"

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>

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
// The half spectrum of a plane between its two transforms, [y][kz], real parts, then imaginary parts.
template <class Real>
Real* plane_in(Real* work, const Layout& layout)
{
    return work + lines_size(layout);
}

// --- transforms of a plane

// Two real lines are transformed as the parts of a complex one: Z = A + i B, and A(k) = (Z(k) + Z*(n - k)) / 2, B(k) = -i (Z(k) -
// Z*(n - k)) / 2. A batch is as many pairs as a vector has lanes; what is missing of the last is its last line again.
template <class Real>
struct Plane
{
    using T = LineTransform<Real>;
    using D = typename T::D;
    using V = typename T::V;
    using DIndex = hn::Rebind<hwy::MakeSigned<Real>, D>;
    using Index = hn::Vec<DIndex>;
    static constexpr std::size_t lanes = T::lanes;

    // Where lines y, y + 1, ... begin, rows apart.
    static HWY_INLINE Index rows_from(int y, int rows, std::size_t row)
    {
        const DIndex d;
        const Index line =
            hn::Min(hn::Iota(d, static_cast<hwy::MakeSigned<Real>>(y)), hn::Set(d, static_cast<hwy::MakeSigned<Real>>(rows - 1)));
        return hn::Mul(line, hn::Set(d, static_cast<hwy::MakeSigned<Real>>(row)));
    }

    static void rows_forward(const Transforms<Real>& t, const Real* grid, Real* work)
    {
        const Layout& l = *t.layout;
        Real *const re = plane_in(work, l), *const im = re + l.kz_plane();
        const D d;
        const V half = hn::Set(d, static_cast<Real>(0.5));
        const auto n = static_cast<std::size_t>(l.points[2]);
        for (int y = 0; y < l.points[1]; y += 2 * static_cast<int>(lanes))
        {
            const int y_b = y + static_cast<int>(lanes);
            Lines<Real> lines = lines_in(work, l);
            const Index from_a = rows_from(y, l.points[1], l.row), from_b = rows_from(y_b, l.points[1], l.row);
            for (std::size_t z = 0; z < n; ++z)
            {
                T::store({hn::GatherIndex(d, grid + z, from_a), hn::GatherIndex(d, grid + z, from_b)}, lines.re, lines.im, z);
            }
            T::forward(*t.fft[2], lines);
            const Index to_a = rows_from(y, l.points[1], l.kz_row), to_b = rows_from(y_b, l.points[1], l.kz_row);
            for (std::size_t k = 0; k < static_cast<std::size_t>(l.kz()); ++k)
            {
                const auto z = T::load(lines.re, lines.im, k), mirror = T::load(lines.re, lines.im, k == 0 ? 0 : n - k);
                hn::ScatterIndex(hn::Mul(half, hn::Add(z.re, mirror.re)), d, re + k, to_a);
                hn::ScatterIndex(hn::Mul(half, hn::Sub(z.im, mirror.im)), d, im + k, to_a);
                hn::ScatterIndex(hn::Mul(half, hn::Add(z.im, mirror.im)), d, re + k, to_b);
                hn::ScatterIndex(hn::Mul(half, hn::Sub(mirror.re, z.re)), d, im + k, to_b);
            }
        }
    }

    static void rows_backward(const Transforms<Real>& t, Real* grid, Real* work)
    {
        const Layout& l = *t.layout;
        const Real *const re = plane_in(work, l), *const im = re + l.kz_plane();
        const D d;
        const auto n = static_cast<std::size_t>(l.points[2]);
        for (int y = 0; y < l.points[1]; y += 2 * static_cast<int>(lanes))
        {
            const int y_b = y + static_cast<int>(lanes);
            Lines<Real> lines = lines_in(work, l);
            const Index from_a = rows_from(y, l.points[1], l.kz_row), from_b = rows_from(y_b, l.points[1], l.kz_row);
            for (std::size_t k = 0; k < static_cast<std::size_t>(l.kz()); ++k)
            {
                const V a_re = hn::GatherIndex(d, re + k, from_a), b_re = hn::GatherIndex(d, re + k, from_b);
                V a_im = hn::GatherIndex(d, im + k, from_a), b_im = hn::GatherIndex(d, im + k, from_b);
                // What has no mirror image is real. In a tilted box the influence function is not the same for both signs of the
                // middle wave along x or y, and leaves an imaginary part, which is not the other line's.
                if (t.influence->is_tilted && (k == 0 || 2 * k == n)) { a_im = b_im = hn::Zero(d); }
                T::store({hn::Sub(a_re, b_im), hn::Add(a_im, b_re)}, lines.re, lines.im, k);
                if (k > 0) { T::store({hn::Add(a_re, b_im), hn::Sub(b_re, a_im)}, lines.re, lines.im, n - k); }
            }
            T::backward(*t.fft[2], lines);
            const Index to_a = rows_from(y, l.points[1], l.row), to_b = rows_from(y_b, l.points[1], l.row);
            for (std::size_t z = 0; z < n; ++z)
            {
                const auto value = T::load(lines.re, lines.im, z);
                hn::ScatterIndex(value.re, d, grid + z, to_a), hn::ScatterIndex(value.im, d, grid + z, to_b);
            }
        }
        for (Real* row = grid; row != grid + l.plane(); row += l.row)
        {
            for (std::size_t z = n; z < l.row; ++z) { row[z] = row[z - n]; }
        }
    }

    // Along y, a vector of kz at a time, from the plane in `work` to where its rows go.
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
    // The reverse.
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

// --- along x, and the multiplication by G between the transforms

template <class Real>
struct Solver
{
    using T = LineTransform<Real>;
    using D = typename T::D;
    using V = typename T::V;
    static constexpr std::size_t lanes = T::lanes;

    // Multiplies the transforms of a vector of kz by G.
    template <bool sums_wanted, bool tilted>
    static HWY_INLINE void multiply(const Layout& l, const Influence<Real>& g, std::size_t y, std::size_t k,
                                    const Lines<Real>& lines, [[maybe_unused]] LineSums* sums)
    {
        const D d;
        // m_y and m_z of the row; in a tilted box less lean_y and lean_z times m_x.
        const Real my = g.m[1][y];
        V mz = hn::Load(d, g.m[2].data() + k);
        if constexpr (tilted) { mz = hn::Sub(mz, hn::Set(d, g.lean_zy * my)); }
        const V factor_z = hn::Load(d, g.factor[2].data() + k), mz2 = hn::Mul(mz, mz);
        V energy = hn::Zero(d), h_sum = hn::Zero(d), h_x = hn::Zero(d), h_xx = hn::Zero(d);
        for (std::size_t x = 0; x < static_cast<std::size_t>(l.points[0]); ++x)
        {
            const Real mx = g.m[0][x];
            V m2, numerator = hn::Mul(factor_z, hn::Set(d, g.scale * g.factor[0][x] * g.factor[1][y]));
            if constexpr (tilted)
            {
                const Real y_now = my - g.lean_y * mx;
                const V z_now = hn::Sub(mz, hn::Set(d, g.lean_z * mx));
                m2 = hn::MulAdd(z_now, z_now, hn::Set(d, mx * mx + y_now * y_now));
                numerator = hn::Mul(numerator, hn::Exp(d, hn::Mul(m2, hn::Set(d, -g.inverse_beta2_pi2))));
            }
            else { m2 = hn::Add(mz2, hn::Set(d, mx * mx + my * my)); }
            const V influence = hn::IfThenZeroElse(hn::Eq(m2, hn::Zero(d)), hn::Div(numerator, m2));
            const auto s = T::load(lines.re, lines.im, x);
            const typename T::Complex potential = {hn::Mul(influence, s.re), hn::Mul(influence, s.im)};
            T::store(potential, lines.re, lines.im, x);
            if constexpr (sums_wanted)
            {
                const V e = hn::MulAdd(potential.re, s.re, hn::Mul(potential.im, s.im));
                const V inverse = hn::IfThenZeroElse(hn::Eq(m2, hn::Zero(d)), hn::Div(hn::Set(d, 1), m2));
                const V h = hn::Mul(e, hn::Add(inverse, hn::Set(d, g.inverse_beta2_pi2)));
                energy = hn::Add(energy, e), h_sum = hn::Add(h_sum, h);
                h_x = hn::MulAdd(h, hn::Set(d, mx), h_x), h_xx = hn::MulAdd(h, hn::Set(d, mx * mx), h_xx);
            }
        }
        if constexpr (sums_wanted)
        {
            const V weight = hn::Load(d, g.kz_weight.data() + k);
            const auto sum = [&](V v) { return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Mul(weight, v)))); };
            sums->energy += sum(energy);
            const double yy = my, xx_sum = sum(h_xx), x_sum = sum(h_x);
            double elements[6] = {xx_sum,
                                  x_sum * yy,
                                  sum(hn::Mul(h_x, mz)),
                                  sum(h_sum) * yy * yy,
                                  sum(hn::Mul(h_sum, mz)) * yy,
                                  sum(hn::Mul(h_sum, mz2))};
            if constexpr (tilted) // these were of m_y and m_z of the row
            {
                const double a = g.lean_y, b = g.lean_z, xy = elements[1], xz = elements[2];
                elements[1] -= a * xx_sum;
                elements[2] -= b * xx_sum;
                elements[3] += -2 * a * xy + a * a * xx_sum;
                elements[4] += -b * xy - a * xz + a * b * xx_sum;
                elements[5] += -2 * b * xz + b * b * xx_sum;
            }
            for (std::size_t e = 0; e < 6; ++e) { sums->virial[e] += elements[e]; }
        }
    }

    static void run(const Transforms<Real>& t, const SpectrumRow<Real>& row, Real* work, LineSums* sums)
    {
        const Layout& l = *t.layout;
        const auto points = static_cast<std::size_t>(l.points[0]);
        for (std::size_t k = 0; k < l.kz_row; k += lanes)
        {
            Lines<Real> lines = lines_in(work, l);
            for (std::size_t x = 0; x < points; ++x)
            {
                const Real* const from = row.from[x] + row.offset + k;
                T::store(T::load(from, from + l.kz_row, 0), lines.re, lines.im, x);
            }
            T::forward(*t.fft[0], lines);
            const auto y = static_cast<std::size_t>(row.y);
            const bool tilted = t.influence->is_tilted;
            if (sums != nullptr && tilted) { multiply<true, true>(l, *t.influence, y, k, lines, sums); }
            else if (sums != nullptr) { multiply<true, false>(l, *t.influence, y, k, lines, sums); }
            else if (tilted) { multiply<false, true>(l, *t.influence, y, k, lines, nullptr); }
            else { multiply<false, false>(l, *t.influence, y, k, lines, nullptr); }
            T::backward(*t.fft[0], lines);
            for (std::size_t x = 0; x < points; ++x)
            {
                if (row.to[x] == nullptr) { continue; }
                Real* const to = row.to[x] + row.offset + k;
                T::store(T::load(lines.re, lines.im, x), to, to + l.kz_row, 0);
            }
        }
    }
};

template <class Real>
void run_solve(const Transforms<Real>& transforms, const SpectrumRow<Real>& row, Real* work, LineSums* sums)
{
    Solver<Real>::run(transforms, row, work, sums);
}

// --- atoms

// Splines of a batch of atoms, an atom in each lane of a compiler vector, then point by point for one atom after another.
template <class N, int order>
struct AtomBatch
{
    using Real = typename N::Real;
    static constexpr int batch = 8;
    using Lanes __attribute__((vector_size(batch * sizeof(Real)))) = Real;
    static constexpr int z_lanes = order <= 4 ? 4 : 8; // numbers along z that are worked on at a time
    using D = hn::CappedTag<Real, z_lanes>;
    static constexpr int vectors = z_lanes / static_cast<int>(hn::MaxLanes(D()));

    std::int32_t slot[batch], point[3][batch];
    Real charge[batch];
    Lanes weight[3][z_lanes] = {}, derivative[3][z_lanes] = {}; // of points behind the last, 0

    HWY_INLINE void load(const Atoms<N>& atoms, const std::int32_t* slots, int count)
    {
        Lanes offset[3];
        for (int a = 0; a < batch; ++a)
        {
            slot[a] = slots[std::min(a, count - 1)];
            const auto s = static_cast<std::size_t>(slot[a]);
            charge[a] = atoms.charge[s];
            const typename N::Fixed* x = atoms.x + s / cluster_size * 3 * cluster_size + s % cluster_size;
            for (int d = 0; d < 3; ++d)
            {
                const auto place = mesh_place(x[d * cluster_size],
                                              static_cast<std::uint32_t>(atoms.layout->points[static_cast<std::size_t>(d)]));
                point[d][a] = place.point, offset[d][a] = place.offset;
            }
            point[0][a] = atoms.planes.from_first(point[0][a], atoms.layout->points[0]);
        }
        for (int d = 0; d < 3; ++d)
        {
            Lanes w[order], dw[order];
            spline_weights<order, Real>(offset[d], w, dw);
            for (int j = 0; j < order; ++j) { weight[d][j] = w[j], derivative[d][j] = dw[j]; }
        }
    }
    // An atom's weights along z, or their derivatives, those of vector v.
    HWY_INLINE hn::Vec<D> along_z(const Lanes (&of_axis)[3][z_lanes], int a, int v) const
    {
        const hn::Rebind<hwy::MakeSigned<Real>, D> index;
        const auto stride = static_cast<hwy::MakeSigned<Real>>(batch);
        const Real* const first = reinterpret_cast<const Real*>(of_axis[2]) + v * static_cast<int>(hn::MaxLanes(D())) * batch + a;
        return hn::GatherIndex(D(), first, hn::Mul(hn::Iota(index, 0), hn::Set(index, stride)));
    }
    // Where the atom's rows begin in its planes.
    HWY_INLINE void rows(const Layout& layout, int a, std::size_t (&row)[order]) const
    {
        for (int j = 0; j < order; ++j)
        {
            int y = point[1][a] + j;
            y -= y >= layout.points[1] ? layout.points[1] : 0;
            row[j] = static_cast<std::size_t>(y) * layout.row + static_cast<std::size_t>(point[2][a]);
        }
    }
    // Counted from the first of the grid's planes.
    HWY_INLINE std::size_t plane(const Layout& layout, int a, int j) const
    {
        const int x = point[0][a] + j;
        return static_cast<std::size_t>(x >= layout.points[0] ? x - layout.points[0] : x);
    }
};

template <class N, int order>
void spread_atoms(const Atoms<N>& atoms, int first_plane, int end_plane, ChargeSum<N>* grid)
{
    using Batch = AtomBatch<N, order>;
    using Real = typename N::Real;
    const Layout& layout = *atoms.layout;
    const typename Batch::D d;
    constexpr std::size_t lanes = hn::MaxLanes(typename Batch::D());
    Batch b;
    for (const std::int32_t* slots = atoms.slots; slots < atoms.slots_end; slots += Batch::batch)
    {
        const int count = static_cast<int>(std::min<std::ptrdiff_t>(Batch::batch, atoms.slots_end - slots));
        b.load(atoms, slots, count);
        for (int a = 0; a < count; ++a)
        {
            std::size_t row[order];
            b.rows(layout, a, row);
            hn::Vec<typename Batch::D> z_weight[Batch::vectors];
            for (int v = 0; v < Batch::vectors; ++v) { z_weight[v] = b.along_z(b.weight, a, v); }
            for (int jx = 0; jx < order; ++jx)
            {
                const std::size_t x = b.plane(layout, a, jx);
                if (static_cast<int>(x) < first_plane || static_cast<int>(x) >= end_plane) { continue; }
                ChargeSum<N>* const plane = grid + x * layout.plane();
                const Real qx = b.charge[a] * b.weight[0][jx][a];
                for (int jy = 0; jy < order; ++jy)
                {
                    const Real q = qx * b.weight[1][jy][a];
                    ChargeSum<N>* const to = plane + row[jy];
                    if constexpr (N::summation == Summation::Reproducible)
                    {
                        for (int jz = 0; jz < order; ++jz)
                        {
                            to[jz] += std::llrint(charge_sum_scale * static_cast<double>(q * b.weight[2][jz][a]));
                        }
                    }
                    else
                    {
                        for (int v = 0; v < Batch::vectors; ++v)
                        {
                            Real* const at = to + static_cast<std::size_t>(v) * lanes;
                            hn::StoreU(hn::MulAdd(hn::Set(d, q), z_weight[v], hn::LoadU(d, at)), d, at);
                        }
                    }
                }
            }
        }
    }
}

// Sums over an atom's points on one plane, or several, that are left to be added up along z: with the derivative along x, with
// that along y, with neither.
template <class V, int vectors>
struct GradientLines
{
    V by_x[vectors], by_y[vectors], by_z[vectors];
};

template <class N, int order>
HWY_INLINE void add_force(const AtomBatch<N, order>& b, int a,
                          const GradientLines<hn::Vec<typename AtomBatch<N, order>::D>, AtomBatch<N, order>::vectors>& lines,
                          const GradientScale& scale, int weight, typename N::ForceSum* f)
{
    using Batch = AtomBatch<N, order>;
    using Sum = typename N::ForceSum;
    const typename Batch::D d;
    hn::Vec<typename Batch::D> gradient[3] = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (int v = 0; v < Batch::vectors; ++v)
    {
        const auto wz = b.along_z(b.weight, a, v), dz = b.along_z(b.derivative, a, v);
        gradient[0] = hn::MulAdd(lines.by_x[v], wz, gradient[0]);
        gradient[1] = hn::MulAdd(lines.by_y[v], wz, gradient[1]);
        gradient[2] = hn::MulAdd(lines.by_z[v], dz, gradient[2]);
    }
    const auto s = static_cast<std::size_t>(b.slot[a]);
    Sum* const force = f + s / cluster_size * 3 * cluster_size + s % cluster_size;
    Vec3<double> once;
    for (int dim = 0; dim < 3; ++dim)
    {
        const auto sum = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, gradient[dim])));
        once[dim] = -static_cast<double>(b.charge[a]) * scale.per_spacing[dim] * sum;
    }
    once = scale.in_space(once);
    for (int dim = 0; dim < 3; ++dim) { force[dim * cluster_size] += static_cast<Sum>(weight) * to_sum<Sum>(once[dim]); }
}

template <class N, int order>
void gather_atoms(const Atoms<N>& atoms, const typename N::Real* grid, const GradientScale& scale, int weight,
                  typename N::ForceSum* f)
{
    using Batch = AtomBatch<N, order>;
    using V = hn::Vec<typename Batch::D>;
    const Layout& layout = *atoms.layout;
    const typename Batch::D d;
    constexpr std::size_t lanes = hn::MaxLanes(typename Batch::D());
    constexpr bool by_plane = N::summation == Summation::Reproducible;
    Batch b;
    for (const std::int32_t* slots = atoms.slots; slots < atoms.slots_end; slots += Batch::batch)
    {
        const int count = static_cast<int>(std::min<std::ptrdiff_t>(Batch::batch, atoms.slots_end - slots));
        b.load(atoms, slots, count);
        for (int a = 0; a < count; ++a)
        {
            std::size_t row[order];
            b.rows(layout, a, row);
            GradientLines<V, Batch::vectors> lines;
            const auto clear = [&] {
                for (int v = 0; v < Batch::vectors; ++v) { lines.by_x[v] = lines.by_y[v] = lines.by_z[v] = hn::Zero(d); }
            };
            clear();
            for (int jx = 0; jx < order; ++jx)
            {
                const std::size_t x = b.plane(layout, a, jx);
                if (x >= static_cast<std::size_t>(atoms.planes.count)) { continue; }
                const typename N::Real* const plane = grid + x * layout.plane();
                V value[Batch::vectors], slope[Batch::vectors]; // along y, of each z
                for (int v = 0; v < Batch::vectors; ++v) { value[v] = slope[v] = hn::Zero(d); }
                for (int jy = 0; jy < order; ++jy)
                {
                    const V wy = hn::Set(d, b.weight[1][jy][a]), dy = hn::Set(d, b.derivative[1][jy][a]);
                    for (int v = 0; v < Batch::vectors; ++v)
                    {
                        const V potential = hn::LoadU(d, plane + row[jy] + static_cast<std::size_t>(v) * lanes);
                        value[v] = hn::MulAdd(wy, potential, value[v]), slope[v] = hn::MulAdd(dy, potential, slope[v]);
                    }
                }
                const V wx = hn::Set(d, b.weight[0][jx][a]), dx = hn::Set(d, b.derivative[0][jx][a]);
                for (int v = 0; v < Batch::vectors; ++v)
                {
                    lines.by_x[v] = hn::MulAdd(dx, value[v], lines.by_x[v]);
                    lines.by_y[v] = hn::MulAdd(wx, slope[v], lines.by_y[v]);
                    lines.by_z[v] = hn::MulAdd(wx, value[v], lines.by_z[v]);
                }
                if constexpr (by_plane)
                {
                    add_force<N, order>(b, a, lines, scale, weight, f);
                    clear();
                }
            }
            if constexpr (!by_plane) { add_force<N, order>(b, a, lines, scale, weight, f); }
        }
    }
}

template <class N>
void run_spread(const Atoms<N>& atoms, int first_plane, int end_plane, ChargeSum<N>* grid)
{
    with_order(atoms.order, [&](auto order) { spread_atoms<N, order>(atoms, first_plane, end_plane, grid); });
}
template <class N>
void run_gather(const Atoms<N>& atoms, const typename N::Real* grid, const GradientScale& scale, int weight,
                typename N::ForceSum* f)
{
    with_order(atoms.order, [&](auto order) { gather_atoms<N, order>(atoms, grid, scale, weight, f); });
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::mesh
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
