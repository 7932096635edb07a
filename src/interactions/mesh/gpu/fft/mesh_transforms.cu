// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/gpu/fft/mesh_transforms.cuh"

#include <algorithm>

namespace parhelion {

namespace {

int parts_of(int count, int at_most) { return (count + at_most - 1) / at_most; }

constexpr std::size_t bytes_besides = 4096; // shared memory of the kernels besides lines and roots, bytes

// Returns how many of `count` lines a block transforms at a time: at most eight numbers a thread, in parts of similar size.
int lines_at_a_time(int count, int points, int threads)
{
    const int at_most = std::clamp(8 * threads / points, 1, threads);
    return parts_of(count, parts_of(count, at_most));
}

MeshLines lines_of(const std::array<int, 3>& points, int multiprocessors)
{
    MeshLines lines{points, points[2] / 2 + 1};
    const auto [nx, ny, nz] = points;
    // Divides each row into parts, so that each multiprocessor has a part.
    const int of_row = parts_of(lines.kz, parts_of(multiprocessors, ny));
    using namespace mesh_transforms;
    lines.at_a_time = {lines_at_a_time(of_row, nx, row_threads), lines_at_a_time(lines.kz, ny, plane_threads),
                       lines_at_a_time(parts_of(ny, 2), nz, plane_threads)};
    lines.plane_pitch = lines.kz | 1; // an odd pitch, so that accesses along rows and along columns have no bank conflicts
    const auto [x, y, z] = lines.at_a_time;
    lines.row_work = (x | 1) * nx, lines.plane_work = std::max((y | 1) * ny, (z | 1) * nz);
    return lines;
}

} // namespace

template <class N>
void GpuMeshTransforms<N>::plan_two_passes(GpuQueue& queue)
{
    using namespace mesh_transforms;
    const auto [nx, ny, nz] = lines_.points;
    const int kz = lines_.kz, pairs = parts_of(ny, 2), warp = 32;
    const auto bytes = [](int numbers) { return sizeof(GpuComplex<Real>) * static_cast<std::size_t>(numbers); };
    const auto whole_warps = [&](int threads) { return parts_of(threads, warp) * warp; };
    for (std::size_t d = 0; d < 3; ++d) { two_passes_[d] = GpuTwoPassFft<Real>(queue, lines_.points[d]); }
    const TwoPassFft<Real>&x = two_passes_[0].view(), &y = two_passes_[1].view(), &z = two_passes_[2].view();
    if (two_passes_[1].exists() && two_passes_[2].exists())
    {
        TwoPassPlane plane;
        plane.pair_pitch = nz + 8; // neighbouring lines of 64 or 128 points begin half of the memory banks apart
        plane.work_pitch = nz + z.second;
        plane.plane = std::max(pairs * plane.pair_pitch, ny * lines_.plane_pitch);
        plane.bytes = bytes(ny + nz + plane.plane + std::max(pairs * plane.work_pitch, ny * lines_.plane_pitch));
        plane.threads = std::min(most_plane_threads, whole_warps(std::max(pairs * z.second, kz * y.second)));
        if (plane.bytes + bytes_besides <= queue.shared_bytes_of_block()) { two_pass_plane_ = plane; }
    }
    if (two_passes_[0].exists())
    {
        TwoPassRow& row = two_pass_row_;
        row.parts = parts_of(kz, most_row_threads / x.second), row.lines = parts_of(kz, row.parts);
        row.threads = whole_warps(row.lines * x.second);
        row.bytes = bytes(2 * nx + row.lines + 1 + 2 * nx * (row.lines | 1));
    }
}

template <class N>
bool GpuMeshTransforms<N>::has_radices_up_to(int most) const
{
    return two_pass_plane_.threads > 0 && std::ranges::all_of(two_passes_, [&](const GpuTwoPassFft<Real>& fft) {
               return fft.exists() && fft.view().first <= most && fft.view().second <= most;
           });
}

template <class N>
GpuMeshTransforms<N>::GpuMeshTransforms(GpuQueue& queue, const MeshParameters& parameters, int planes)
    : lines_(lines_of(parameters.points, queue.multiprocessors())), planes_(planes), slope_(parameters.slope()),
      coulomb_factor_(parameters.factor), background_(parameters.background()),
      dispersion_scale_(parameters.is_of_dispersion() ? parameters.dispersion_scale() : 0)
{
    queue.make_current();
    std::vector<double> inverse;
    for (std::size_t d = 0; d < 3; ++d)
    {
        fft_[d] = GpuLineFft<Real>(queue, parameters.points[d]);
        for (const double b : parameters.moduli[d]) { inverse.push_back(1 / b); }
    }
    inverse_moduli_.upload(queue, inverse);
    queue.synchronize(); // the table on the host may be destroyed afterwards

    if constexpr (has_two_passes) { plan_two_passes(queue); }
    constexpr std::size_t size = sizeof(GpuComplex<Real>);
    const auto numbers = [](auto... n) { return (static_cast<std::size_t>(n) + ...); };
    const std::size_t plane = numbers(lines_.plane_pitch) * static_cast<std::size_t>(lines_.points[1]);
    plane_bytes_ = size * numbers(fft_[1].view().roots, fft_[2].view().roots, 2 * lines_.plane_work);
    row_bytes_ = size * numbers(fft_[0].view().roots, lines_.points[0], lines_.at_a_time[0] + 1, 2 * lines_.row_work);
    lines_.plane_is_shared = plane_bytes_ + size * plane + bytes_besides <= queue.shared_bytes_of_block();
    if (lines_.plane_is_shared) { plane_bytes_ += size * plane; }
    else { in_global_memory_.resize(static_cast<std::size_t>(planes) * plane); }
    PARHELION_EXPECTS(std::max(plane_bytes_, row_bytes_) + bytes_besides <= queue.shared_bytes_of_block());
}

#define PARHELION_INSTANTIATE(N) template class GpuMeshTransforms<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
