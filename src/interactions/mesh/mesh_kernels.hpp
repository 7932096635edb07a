// SPDX-License-Identifier: Apache-2.0
// What mesh.cpp hands to the vectorised kernels, which are compiled for several instruction sets and chosen at run time.
//
// The grid of charges, later of potentials, is [x][y][z], with rows that are `row` numbers apart: behind the nz points of a row
// stand copies of its first ones, so that an atom's points along z are neighbours. A row (x, y) of its transform is kz = 0 ...
// nz / 2, zero up to kz_row, real parts first, then kz_row imaginary parts; rows may lie anywhere.
#pragma once

#include "base/numerics.hpp"
#include "base/vec3.hpp"
#include "interactions/mesh/line_fft.hpp"
#include "interactions/mesh/plane_range.hpp"
#include "interactions/mesh/spline.hpp"
#include "state/cluster_array.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace parhelion::mesh {

struct Layout
{
    std::array<int, 3> points{}; // along x, y, z
    std::size_t row = 0, kz_row = 0;

    int kz() const { return points[2] / 2 + 1; }
    std::size_t plane() const { return static_cast<std::size_t>(points[1]) * row; }
    std::size_t kz_plane() const { return static_cast<std::size_t>(points[1]) * kz_row; }
    std::size_t spectrum_row() const { return 2 * kz_row; }
};

// G(m) = scale factor_x factor_y factor_z / m^2, the influence function of Essmann et al. 1995 (eq. 4.7) times 4 pi eps0's
// inverse: scale = f / (pi V), factor = exp(-pi^2 m_d^2 / beta^2) / B_d. m_d: wave numbers over the diagonal of the box, 1/nm. Of
// z, for kz_row numbers, with factors 0 behind the last.
//
// In a tilted box a wave is (m_x, m_y - lean_y m_x, m_z - lean_zy m_y - lean_z m_x), and its square has no parts by axis: factor
// is 1 / B_d alone, and each wave has an exponential.
template <class Real>
struct Influence
{
    Real scale = 0;
    Real inverse_beta2_pi2 = 0; // pi^2 / beta^2, nm^2
    std::array<AlignedVector<Real>, 3> factor, m;
    bool is_tilted = false;
    Real lean_y = 0, lean_z = 0, lean_zy = 0;
    AlignedVector<Real> kz_weight; // 1/2 for what has no mirror image in the half spectrum, else 1
};

template <class Real>
struct Transforms
{
    const Layout* layout;
    std::array<const LineFft<Real>*, 3> fft;
    const Influence<Real>* influence;
};

// A row y of the spectrum along x: from[x] + offset is where its part of plane x is, to[x] + offset where the result goes; null:
// nobody wants it.
template <class Real>
struct SpectrumRow
{
    int y;
    const Real* const* from;
    Real* const* to;
    std::size_t offset;
};

// Energy and virial -1/2 sum r (x) f of some lines, kJ/mol: E, and the part of each xx xy xz yy yz zz without -E / 2 on the
// diagonal.
struct LineSums
{
    double energy = 0;
    std::array<double, 6> virial{};
};

inline constexpr std::size_t most_lanes = 8; // lines that are transformed side by side
inline std::size_t lines_size(const Layout& layout)
{
    return 4 * most_lanes * static_cast<std::size_t>(*std::max_element(layout.points.begin(), layout.points.end()));
}
inline std::size_t work_size(const Layout& layout) { return lines_size(layout) + 2 * layout.kz_plane(); }

// `work`: work_size() numbers of the calling thread. forward_plane: charges of a plane to their transform along z and y, row y to
// rows[y]. backward_plane: the reverse, to potentials. solve: transforms a row along x, multiplies by G, transforms back; adds to
// `sums` unless it is null.
template <class Real>
void forward_plane(const Transforms<Real>& transforms, const Real* grid, Real* const* rows, Real* work);
template <class Real>
void backward_plane(const Transforms<Real>& transforms, const Real* const* rows, Real* grid, Real* work);
template <class Real>
void solve(const Transforms<Real>& transforms, const SpectrumRow<Real>& row, Real* work, LineSums* sums);

// One thread's atoms.
template <class N>
struct Atoms
{
    const Layout* layout;
    int order;
    PlaneRange planes;              // that the grid has; it begins with the first of them
    const typename N::Fixed* x;     // positions, in clusters
    const typename N::Real* charge; // e
    const std::int32_t *slots, *slots_end;
};

// In reproducible policies charges are added as multiples of 2^-48 e: up to 32 768 e may meet on a point.
template <class N>
using ChargeSum = std::conditional_t<N::summation == Summation::Reproducible, std::int64_t, typename N::Real>;
inline constexpr int charge_sum_bits = 48;
inline constexpr double charge_sum_scale = 0x1p48;

// Adds the charges of atoms to planes first_plane ... end_plane - 1, counted from the grid's first.
template <class N>
void spread(const Atoms<N>& atoms, int first_plane, int end_plane, ChargeSum<N>* grid);
// How derivatives by grid points become forces.
struct GradientScale
{
    Vec3<double> per_spacing, shear; // grid points per nm of the box' diagonal; Box::shear()

    // Of derivatives along the edges, over the diagonal.
    Vec3<double> in_space(Vec3<double> along_edges) const
    {
        along_edges.y -= shear.x * along_edges.x;
        along_edges.z -= shear.y * along_edges.x + shear.z * along_edges.y;
        return along_edges;
    }
};
// Adds the forces of the potentials on the grid's planes, `weight` times, to f, in clusters. Reproducible policies round what
// each plane contributes by itself, and before it is multiplied: it does not matter in which grid the plane is, nor in how many
// parts the weight comes.
template <class N>
void gather(const Atoms<N>& atoms, const typename N::Real* grid, const GradientScale& scale, int weight, typename N::ForceSum* f);

} // namespace parhelion::mesh
