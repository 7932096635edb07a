// SPDX-License-Identifier: Apache-2.0
// The kernels of mesh_kernels.hpp, one source for every policy and instruction set. One .cpp
// per precision includes this file, once per instruction set, through Highway's foreach_target.

#if defined(PARHELION_MESH_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_MESH_KERNELS_INL
#undef PARHELION_MESH_KERNELS_INL
#else
#define PARHELION_MESH_KERNELS_INL
#endif

#include "interactions/mesh/line_fft-inl.hpp"
#include "interactions/mesh/mesh_kernels.hpp"
#include "interactions/mesh/plane_transform-inl.hpp"
#include "interactions/mesh/spline.hpp"

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace parhelion::mesh {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// --- transforms along x, and the multiplication by G between them

template <class Real>
struct Solver
{
    using T = LineTransform<Real>;
    using D = typename T::D;
    using V = typename T::V;
    static constexpr std::size_t lanes = T::lanes;

    // Returns d(sqrt x) of dispersion_waves.hpp, which is f'(x) / exp(-x), by Clenshaw's recurrence.
    static HWY_INLINE V dispersion_slope(const DispersionWaves<Real>& waves, V x)
    {
        const D d;
        const V b = hn::Sqrt(x), middle = hn::Set(d, DispersionWaves<Real>::middle);
        const V u = hn::Div(hn::Sub(b, middle), hn::Add(b, middle)), twice = hn::Add(u, u);
        V next = hn::Zero(d), sum = hn::Zero(d);
        for (std::size_t i = DispersionWaves<Real>::terms; i-- > 1;)
        {
            const V term = hn::MulAdd(twice, sum, hn::Sub(hn::Set(d, waves.chebyshev[i]), next));
            next = sum, sum = term;
        }
        return hn::MulAdd(u, sum, hn::Sub(hn::Set(d, waves.chebyshev[0]), next));
    }

    // Multiplies transforms at a vector of kz by the influence function G.
    template <bool sums_wanted, bool tilted, bool of_dispersion>
    static HWY_INLINE void multiply(const Transforms<Real>& t, std::size_t y, std::size_t k, const Lines<Real>& lines,
                                    [[maybe_unused]] LineSums* sums)
    {
        const D d;
        const Layout& l = *t.layout;
        const Influence<Real>& g = *t.influence;
        // my and mz are m_y and m_z of the row. In a tilted box lean_y and lean_z, each times m_x, are subtracted from them.
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
            }
            else { m2 = hn::Add(mz2, hn::Set(d, mx * mx + my * my)); }
            if constexpr (tilted || of_dispersion)
            {
                numerator = hn::Mul(numerator, hn::Exp(d, hn::Mul(m2, hn::Set(d, -g.inverse_beta2_pi2))));
            }
            V influence;
            [[maybe_unused]] V slope; // of_dispersion: factors times f'
            if constexpr (of_dispersion)
            {
                const V x2 = hn::Mul(m2, hn::Set(d, g.inverse_beta2_pi2));
                slope = hn::Mul(numerator, dispersion_slope(*t.of_dispersion, x2));
                influence = hn::MulAdd(hn::Mul(x2, hn::Set(d, static_cast<Real>(2.0 / 3))), slope, numerator);
            }
            else { influence = hn::IfThenZeroElse(hn::Eq(m2, hn::Zero(d)), hn::Div(numerator, m2)); }
            const auto s = T::load(lines.re, lines.im, x);
            const typename T::Complex potential = {hn::Mul(influence, s.re), hn::Mul(influence, s.im)};
            T::store(potential, lines.re, lines.im, x);
            if constexpr (sums_wanted)
            {
                const V e = hn::MulAdd(potential.re, s.re, hn::Mul(potential.im, s.im));
                V h;
                if constexpr (of_dispersion)
                {
                    const V s2 = hn::MulAdd(s.re, s.re, hn::Mul(s.im, s.im));
                    h = hn::Mul(hn::Mul(s2, slope), hn::Set(d, -g.inverse_beta2_pi2));
                }
                else
                {
                    const V inverse = hn::IfThenZeroElse(hn::Eq(m2, hn::Zero(d)), hn::Div(hn::Set(d, 1), m2));
                    h = hn::Mul(e, hn::Add(inverse, hn::Set(d, g.inverse_beta2_pi2)));
                }
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
            if constexpr (tilted) // my and mz are still m_y and m_z
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

    template <bool of_dispersion>
    static HWY_INLINE void multiply_all(const Transforms<Real>& t, std::size_t y, std::size_t k, const Lines<Real>& lines,
                                        LineSums* sums)
    {
        const bool tilted = t.influence->is_tilted;
        if (sums != nullptr && tilted) { multiply<true, true, of_dispersion>(t, y, k, lines, sums); }
        else if (sums != nullptr) { multiply<true, false, of_dispersion>(t, y, k, lines, sums); }
        else if (tilted) { multiply<false, true, of_dispersion>(t, y, k, lines, nullptr); }
        else { multiply<false, false, of_dispersion>(t, y, k, lines, nullptr); }
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
            if (t.of_dispersion != nullptr) { multiply_all<true>(t, y, k, lines, sums); }
            else { multiply_all<false>(t, y, k, lines, sums); }
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

// The splines of a batch of atoms, one atom in each lane of a compiler vector. The atoms' points are then processed in turn.
template <class N, int order>
struct AtomBatch
{
    using Real = typename N::Real;
    static constexpr int batch = 8;
    using Lanes __attribute__((vector_size(batch * sizeof(Real)))) = Real;
    static constexpr int z_lanes = order <= 4 ? 4 : 8; // numbers along z that are processed at a time
    using D = hn::CappedTag<Real, z_lanes>;
    static constexpr int vectors = z_lanes / static_cast<int>(hn::MaxLanes(D()));

    std::int32_t slot[batch], point[3][batch];
    Real charge[batch];
    Lanes weight[3][z_lanes] = {}, derivative[3][z_lanes] = {}; // 0 for points behind the last one

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
    // Returns the weights of atom a along z, or their derivatives, for its vector v.
    HWY_INLINE hn::Vec<D> along_z(const Lanes (&of_axis)[3][z_lanes], int a, int v) const
    {
        const hn::Rebind<hwy::MakeSigned<Real>, D> index;
        const auto stride = static_cast<hwy::MakeSigned<Real>>(batch);
        const Real* const first = reinterpret_cast<const Real*>(of_axis[2]) + v * static_cast<int>(hn::MaxLanes(D())) * batch + a;
        return hn::GatherIndex(D(), first, hn::Mul(hn::Iota(index, 0), hn::Set(index, stride)));
    }
    // Finds where the rows of atom a begin in its planes.
    HWY_INLINE void rows(const Layout& layout, int a, std::size_t (&row)[order]) const
    {
        for (int j = 0; j < order; ++j)
        {
            int y = point[1][a] + j;
            y -= y >= layout.points[1] ? layout.points[1] : 0;
            row[j] = static_cast<std::size_t>(y) * layout.row + static_cast<std::size_t>(point[2][a]);
        }
    }
    // Returns the index of the plane of the atom's point j, counted from the first plane of the grid.
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

// Sums over an atom's points on one or several planes, for each z. Three sums are kept:
// with the derivative along x, with the derivative along y, and without a derivative.
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
                V value[Batch::vectors], slope[Batch::vectors]; // sums along y, for each z
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

#endif // end of the include guard, which is per instruction set
