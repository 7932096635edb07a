// SPDX-License-Identifier: Apache-2.0
// Declares to mesh.cpp the interface of the vectorised kernels, which are compiled per instruction set and chosen at run time.
//
// The grid of charges, and later of potentials, is [x][y][z], with rows `row` numbers apart. Behind the nz points of a row
// are copies of its first points, so that an atom's points along z are contiguous. A row (x, y) of the transform has kz =
// 0 ... nz / 2 and zeros up to kz_row: first all real parts, then kz_row imaginary parts. Rows may be anywhere in memory.
#pragma once

#include "base/numerics.hpp"
#include "base/vec3.hpp"
#include "interactions/mesh/dispersion_waves.hpp"
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

// G(m) = scale factor_x factor_y factor_z / m^2 is the influence function of Essmann et al. 1995 (eq. 4.7), divided by 4
// pi eps0. Its scale is f / (pi V), and each factor is exp(-pi^2 m_d^2 / beta^2) / B_d. m_d are wave numbers, 1/nm,
// relative to the diagonal of the box. Along z there are kz_row numbers, with factor 0 for each one after the last wave.
//
// In a tilted box a wave is (m_x, m_y - lean_y m_x, m_z - lean_zy m_y - lean_z m_x). Its square
// is no sum over axes, so each factor is 1 / B_d alone, and each wave takes an exponential.
//
// A mesh of dispersion has G(m) = scale factor_x factor_y factor_z f(pi^2 m^2 / beta^2), with f of dispersion_waves.hpp, with
// factors 1 / B_d. Its scale is -pi^(3/2) beta^3 / (3 V) times MeshParameters::factor, and the wave 0 counts.
template <class Real>
struct Influence
{
    Real scale = 0;
    Real inverse_beta2_pi2 = 0; // pi^2 / beta^2, nm^2
    std::array<AlignedVector<Real>, 3> factor, m;
    bool is_tilted = false;
    Real lean_y = 0, lean_z = 0, lean_zy = 0;
    AlignedVector<Real> kz_weight; // 1/2 for numbers whose mirror image -m is in the half spectrum as well, else 1
};

template <class Real>
struct Transforms
{
    const Layout* layout;
    std::array<const LineFft<Real>*, 3> fft;
    const Influence<Real>* influence;
    const DispersionWaves<Real>* of_dispersion = nullptr; // null: of charges
};

// A row y of the spectrum along x. The part of it in plane x is at from[x] + offset.
// The result of this part is stored at to[x] + offset, unless to[x] is null.
template <class Real>
struct SpectrumRow
{
    int y;
    const Real* const* from;
    Real* const* to;
    std::size_t offset;
};

// Energy E and virial -1/2 sum r (x) f of some lines, kJ/mol. The virial has
// the elements xx xy xz yy yz zz, without the part -E / 2 on the diagonal.
struct LineSums
{
    double energy = 0;
    std::array<double, 6> virial{};
};

inline constexpr std::size_t most_lanes = 8; // number of lines that are transformed side by side
// Returns the size of lines, with an extra vector behind the last point, which transposing overwrites.
inline std::size_t lines_size(const Layout& layout)
{
    const auto longest = static_cast<std::size_t>(*std::max_element(layout.points.begin(), layout.points.end()));
    return 4 * most_lanes * (longest + most_lanes);
}
inline std::size_t work_size(const Layout& layout) { return lines_size(layout) + 2 * layout.kz_plane(); }

// These functions use `work`, which is work_size() numbers of the calling thread. forward_plane() transforms the charges
// of a plane along z and y, and stores row y at rows[y]. backward_plane() does the reverse and yields potentials.
// solve() transforms a row along x, multiplies it by G and transforms it back. It adds to `sums` unless that is null.
template <class Real>
void forward_plane(const Transforms<Real>& transforms, const Real* grid, Real* const* rows, Real* work);
template <class Real>
void backward_plane(const Transforms<Real>& transforms, const Real* const* rows, Real* grid, Real* work);
template <class Real>
void solve(const Transforms<Real>& transforms, const SpectrumRow<Real>& row, Real* work, LineSums* sums);

// The atoms that one thread works on.
template <class N>
struct Atoms
{
    const Layout* layout;
    int order;
    PlaneRange planes;              // planes of the grid; the grid begins with the first of these planes
    const typename N::Fixed* x;     // positions in cluster order
    const typename N::Real* charge; // e
    const std::int32_t *slots, *slots_end;
};

// Reproducible policies add charges as multiples of 2^-48 e. Up to 32 768 e may meet on a point.
template <class N>
using ChargeSum = std::conditional_t<N::summation == Summation::Reproducible, std::int64_t, typename N::Real>;
inline constexpr int charge_sum_bits = 48;
inline constexpr double charge_sum_scale = 0x1p48;

// Adds the charges of the atoms to planes first_plane ... end_plane - 1, counted from the first plane of the grid.
template <class N>
void spread(const Atoms<N>& atoms, int first_plane, int end_plane, ChargeSum<N>* grid);
// The factors that convert derivatives by grid steps to forces.
struct GradientScale
{
    Vec3<double> per_spacing, shear; // grid points per nm of the box diagonal; Box::shear()

    // Returns the Cartesian gradient from derivatives along the edges, which are relative to the box diagonal.
    Vec3<double> in_space(Vec3<double> along_edges) const
    {
        along_edges.y -= shear.x * along_edges.x;
        along_edges.z -= shear.y * along_edges.x + shear.z * along_edges.y;
        return along_edges;
    }
};
// Adds the forces of the potentials on the grid's planes, times `weight`, to f, in cluster order.
// Reproducible policies round the part of each plane before it is multiplied by the weight. The result
// therefore depends neither on which grid has a plane nor on how the weight is divided among several calls.
template <class N>
void gather(const Atoms<N>& atoms, const typename N::Real* grid, const GradientScale& scale, int weight, typename N::ForceSum* f);

} // namespace parhelion::mesh
