// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/mesh_transforms.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "trace/phases.hpp"

#include <cmath>

namespace parhelion {

namespace {

constexpr std::size_t vector_size = 8; // rows end at multiples of this number of elements

std::size_t rounded_up(std::size_t n) { return (n + vector_size - 1) / vector_size * vector_size; }

// Adds the energy and virial of a line. In reproducible policies the order of rows does not matter.
template <class N>
void add_line_sums(EnergySums<N>& energies, EnergyTerm term, const mesh::LineSums& sums)
{
    energies.add(term, sums.energy);
    constexpr std::size_t element_of[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    for (std::size_t k = 0; k < 9; ++k)
    {
        const double diagonal = k % 4 == 0 ? -0.5 * sums.energy : 0;
        energies.virial[k] += to_sum<ScalarSum<N>>(sums.virial[element_of[k]] + diagonal);
    }
}

} // namespace

template <class Real>
MeshTransforms<Real>::MeshTransforms(const MeshParameters& parameters) : parameters_(parameters)
{
    PARHELION_EXPECTS(parameters.order > 0);
    layout_.points = parameters_.points;
    layout_.row = rounded_up(static_cast<std::size_t>(layout_.points[2]) + vector_size - 1);
    layout_.kz_row = rounded_up(static_cast<std::size_t>(layout_.kz()));
    for (const int points : layout_.points) { fft_.emplace_back(points); }
    sums_.resize(static_cast<std::size_t>(layout_.points[1]));
}

// Computes wave numbers and the factors of the influence function. Index k is wave k or, in the upper half, k - n.
// As in GROMACS, the middle wave of an even n is negative, but positive along z. This matters only in a tilted box.
template <class Real>
void MeshTransforms<Real>::follow_box(const Box<double>& box)
{
    if (box == box_) { return; }
    box_ = box;
    const Vec3<double>& edge = box.diagonal();
    const double slope = parameters_.slope();
    const bool of_dispersion = parameters_.is_of_dispersion();
    const double volume = edge.x * edge.y * edge.z;
    influence_.scale =
        static_cast<Real>(of_dispersion ? parameters_.dispersion_scale() / volume : parameters_.factor / (units::pi * volume));
    influence_.inverse_beta2_pi2 = static_cast<Real>(slope);
    influence_.is_tilted = !box.is_rectangular();
    const Vec3<double> shear = box.shear();
    influence_.lean_y = static_cast<Real>(shear.x), influence_.lean_zy = static_cast<Real>(shear.z);
    influence_.lean_z = static_cast<Real>(shear.y - shear.z * shear.x);
    for (int d = 0; d < 3; ++d)
    {
        const auto i = static_cast<std::size_t>(d);
        const int points = layout_.points[i], used = d == 2 ? layout_.kz() : points;
        const std::size_t size = d == 2 ? layout_.kz_row : static_cast<std::size_t>(points);
        influence_.m[i].assign(size, 1);
        influence_.factor[i].assign(size, 0);
        for (int k = 0; k < used; ++k)
        {
            const bool is_folded = 2 * k >= points && !(influence_.is_tilted && d == 2);
            const double m = (is_folded ? k - points : k) / edge[d];
            influence_.m[i][static_cast<std::size_t>(k)] = static_cast<Real>(m);
            influence_.factor[i][static_cast<std::size_t>(k)] =
                static_cast<Real>((influence_.is_tilted || of_dispersion ? 1 : std::exp(-slope * m * m)) /
                                  parameters_.moduli[i][static_cast<std::size_t>(k)]);
        }
    }
    influence_.kz_weight.assign(layout_.kz_row, 1);
    influence_.kz_weight[0] = static_cast<Real>(0.5);
    if (layout_.points[2] % 2 == 0)
    {
        influence_.kz_weight[static_cast<std::size_t>(layout_.points[2]) / 2] = static_cast<Real>(0.5);
    }
}

template <class Real>
Real* MeshTransforms<Real>::work(int thread)
{
    AlignedVector<Real>& scratch = work_[static_cast<std::size_t>(thread)];
    scratch.resize(mesh::work_size(layout_));
    return scratch.data();
}

template <class Real>
mesh::Transforms<Real> MeshTransforms<Real>::transforms() const
{
    return {&layout_, {&fft_[0], &fft_[1], &fft_[2]}, &influence_, parameters_.is_of_dispersion() ? &waves_ : nullptr};
}

template <class Real>
void MeshTransforms<Real>::forward(CpuQueue& queue, const Real* charges, std::span<Real* const> rows)
{
    const ScopedPhase span(queue.clock(), Phase::Fft);
    work_.resize(static_cast<std::size_t>(queue.threads()));
    const auto rows_of_plane = static_cast<std::size_t>(layout_.points[1]);
    queue.for_range(rows.size() / rows_of_plane, 1, [&](int thread, std::size_t begin, std::size_t end) {
        for (std::size_t x = begin; x < end; ++x)
        {
            mesh::forward_plane(transforms(), charges + x * layout_.plane(), rows.data() + x * rows_of_plane, work(thread));
        }
    });
}

template <class Real>
void MeshTransforms<Real>::backward(CpuQueue& queue, std::span<Real* const> rows, Real* potentials)
{
    const ScopedPhase span(queue.clock(), Phase::Fft);
    work_.resize(static_cast<std::size_t>(queue.threads()));
    const auto rows_of_plane = static_cast<std::size_t>(layout_.points[1]);
    queue.for_range(rows.size() / rows_of_plane, 1, [&](int thread, std::size_t begin, std::size_t end) {
        for (std::size_t x = begin; x < end; ++x)
        {
            const Real* const* const from = rows.data() + x * rows_of_plane;
            mesh::backward_plane(transforms(), from, potentials + x * layout_.plane(), work(thread));
        }
    });
}

template <class Real>
void MeshTransforms<Real>::solve(CpuQueue& queue, const Rows& rows, Compute compute)
{
    const ScopedPhase span(queue.clock(), Phase::Solve);
    work_.resize(static_cast<std::size_t>(queue.threads()));
    std::fill(sums_.begin(), sums_.end(), mesh::LineSums{});
    queue.for_range(static_cast<std::size_t>(rows.rows.count), 1, [&](int thread, std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row)
        {
            const int y = rows.rows.first + static_cast<int>(row);
            const bool is_summed = compute == Compute::ForcesEnergiesVirial && rows.summed.contains(y, layout_.points[1]);
            mesh::solve(transforms(), mesh::SpectrumRow<Real>{y, rows.from.data(), rows.to.data(), row * layout_.spectrum_row()},
                        work(thread), is_summed ? &sums_[static_cast<std::size_t>(y)] : nullptr);
        }
    });
}

template <class Real>
template <class N>
void MeshTransforms<Real>::add_energies(EnergySums<N>& energies) const
{
    const EnergyTerm term = parameters_.is_of_dispersion() ? EnergyTerm::LjReciprocal : EnergyTerm::CoulombReciprocal;
    for (const mesh::LineSums& sums : sums_) { add_line_sums(energies, term, sums); }
}

template <class Real>
template <class N>
void MeshTransforms<Real>::add_background(EnergySums<N>& energies) const
{
    if (parameters_.is_of_dispersion()) { return; }
    add_line_sums(energies, EnergyTerm::CoulombReciprocal, {.energy = parameters_.background() / box_.volume()});
}

template class MeshTransforms<float>;
template class MeshTransforms<double>;
#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void MeshTransforms<typename N::Real>::add_energies<N>(EnergySums<N>&) const;                                       \
    template void MeshTransforms<typename N::Real>::add_background<N>(EnergySums<N>&) const;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
