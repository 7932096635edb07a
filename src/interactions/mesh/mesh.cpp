// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/mesh.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parhelion {

namespace {

constexpr std::size_t vector_size = 8; // rows end at multiples of it

std::size_t rounded_up(std::size_t n) { return (n + vector_size - 1) / vector_size * vector_size; }

} // namespace

template <class N>
Mesh<N>::Mesh(const Topology& topology, const RunParameters& run, const Vec3<double>& box)
    : parameters_(mesh_parameters(topology, run, box))
{
    if (!is_used()) { return; }
    layout_.points = parameters_.points;
    layout_.row = rounded_up(static_cast<std::size_t>(layout_.points[2]) + vector_size - 1);
    layout_.kz_row = rounded_up(static_cast<std::size_t>(layout_.kz()));
    for (const int points : layout_.points) { fft_.emplace_back(points); }
    const auto planes = static_cast<std::size_t>(layout_.points[0]);
    grid_.resize(planes * layout_.plane());
    if constexpr (N::summation == Summation::Reproducible) { charges_.resize(grid_.size()); }
    re_.resize(planes * layout_.kz_plane());
    im_.resize(planes * layout_.kz_plane());
    line_sums_.resize(static_cast<std::size_t>(layout_.points[1]));
}

// Wave numbers and the factors of the influence function. Index k is wave k or, in the upper half, k - n: GROMACS, too, takes the
// middle one of an even n as negative.
template <class N>
void Mesh<N>::follow_box(const Vec3<double>& box)
{
    if (box.x == box_.x && box.y == box_.y && box.z == box_.z) { return; }
    box_ = box;
    const double slope = parameters_.slope();
    influence_.scale = static_cast<Real>(parameters_.coulomb_factor / (units::pi * box.x * box.y * box.z));
    influence_.inverse_beta2_pi2 = static_cast<Real>(slope);
    for (int d = 0; d < 3; ++d)
    {
        const auto i = static_cast<std::size_t>(d);
        const int points = layout_.points[i], used = d == 2 ? layout_.kz() : points;
        const std::size_t size = d == 2 ? layout_.kz_row : static_cast<std::size_t>(points);
        influence_.m[i].assign(size, 1);
        influence_.factor[i].assign(size, 0);
        for (int k = 0; k < used; ++k)
        {
            const double m = (2 * k < points ? k : k - points) / box[d];
            influence_.m[i][static_cast<std::size_t>(k)] = static_cast<Real>(m);
            influence_.factor[i][static_cast<std::size_t>(k)] =
                static_cast<Real>(std::exp(-slope * m * m) / parameters_.moduli[i][static_cast<std::size_t>(k)]);
        }
    }
    influence_.kz_weight.assign(layout_.kz_row, 1);
    influence_.kz_weight[0] = static_cast<Real>(0.5);
    if (layout_.points[2] % 2 == 0)
    {
        influence_.kz_weight[static_cast<std::size_t>(layout_.points[2]) / 2] = static_cast<Real>(0.5);
    }
}

// By counting: each thread counts its slots by plane, and knows from the counts of all where its own go.
template <class N>
void Mesh<N>::sort_atoms(CpuQueue& queue, const ParticleState<N>& state)
{
    const auto planes = static_cast<std::size_t>(layout_.points[0]);
    plane_of_slot_.resize(state.home_slots());
    in_plane_.resize(static_cast<std::size_t>(queue.threads()));
    queue.run([&](int thread) {
        std::vector<std::size_t>& count = in_plane_[static_cast<std::size_t>(thread)];
        count.assign(planes, 0);
        const auto [begin, end] = queue.range(state.home_clusters(), 1, thread);
        for (std::size_t slot = begin * cluster_size; slot < end * cluster_size; ++slot)
        {
            plane_of_slot_[slot] = -1;
            if (state.charge[slot] == 0) { continue; }
            plane_of_slot_[slot] = mesh_place(state.x.get(slot).x, static_cast<std::uint32_t>(layout_.points[0])).point;
            ++count[static_cast<std::size_t>(plane_of_slot_[slot])];
        }
    });
    first_of_plane_.assign(planes + 1, 0);
    std::size_t before = 0;
    for (std::size_t plane = 0; plane < planes; ++plane)
    {
        first_of_plane_[plane] = before;
        for (std::vector<std::size_t>& count : in_plane_) { before += std::exchange(count[plane], before); }
    }
    first_of_plane_[planes] = before;
    sorted_.resize(before);
    queue.run([&](int thread) {
        std::vector<std::size_t>& next = in_plane_[static_cast<std::size_t>(thread)];
        const auto [begin, end] = queue.range(state.home_clusters(), 1, thread);
        for (std::size_t slot = begin * cluster_size; slot < end * cluster_size; ++slot)
        {
            if (plane_of_slot_[slot] < 0) { continue; }
            sorted_[next[static_cast<std::size_t>(plane_of_slot_[slot])]++] = static_cast<std::int32_t>(slot);
        }
    });
}

template <class N>
mesh::Atoms<N> Mesh<N>::atoms(const ParticleState<N>& state, std::size_t begin, std::size_t end) const
{
    return {
        &layout_, parameters_.order, state.x.values().data(), state.charge.data(), sorted_.data() + begin, sorted_.data() + end};
}

template <class N>
void Mesh<N>::spread(CpuQueue& queue, const ParticleState<N>& state)
{
    const ScopedPhase span(queue.clock(), Phase::Spread);
    sort_atoms(queue, state);
    const int planes = layout_.points[0];
    queue.for_range(static_cast<std::size_t>(planes), 1, [&](int, std::size_t begin, std::size_t end) {
        ChargeSum* charges;
        if constexpr (N::summation == Summation::Reproducible) { charges = charges_.data(); }
        else { charges = grid_.data(); }
        std::fill(charges + begin * layout_.plane(), charges + end * layout_.plane(), ChargeSum{});
        // Atoms of these planes and of the order - 1 before reach them; no plane twice.
        const int first = static_cast<int>(begin), last = static_cast<int>(end), own = last - first;
        const int ahead = std::min(parameters_.order - 1, planes - own);
        const auto spread_range = [&](int from, int to) {
            mesh::spread<N>(
                atoms(state, first_of_plane_[static_cast<std::size_t>(from)], first_of_plane_[static_cast<std::size_t>(to)]),
                first, last, charges);
        };
        if (first - ahead < 0) { spread_range(first - ahead + planes, planes); }
        spread_range(std::max(0, first - ahead), last);
        // What fell behind the end of a row belongs to its beginning.
        for (ChargeSum* row = charges + begin * layout_.plane(); row != charges + end * layout_.plane(); row += layout_.row)
        {
            const auto points = static_cast<std::size_t>(layout_.points[2]);
            for (std::size_t z = layout_.row - 1; z >= points; --z) { row[z - points] += row[z]; }
        }
        if constexpr (N::summation == Summation::Reproducible)
        {
            for (std::size_t i = begin * layout_.plane(); i < end * layout_.plane(); ++i)
            {
                grid_[i] = static_cast<Real>(static_cast<double>(charges[i]) * (1 / mesh::charge_sum_scale));
            }
        }
    });
}

template <class N>
void Mesh<N>::transform(CpuQueue& queue, Compute compute)
{
    const mesh::Transforms<Real> transforms{&layout_,  {&fft_[0], &fft_[1], &fft_[2]}, &influence_, grid_.data(), re_.data(),
                                            im_.data()};
    work_.resize(static_cast<std::size_t>(queue.threads()));
    const auto work = [&](int thread) {
        AlignedVector<Real>& scratch = work_[static_cast<std::size_t>(thread)];
        scratch.resize(mesh::work_size(layout_));
        return scratch.data();
    };
    const auto for_planes = [&](auto&& body) {
        const ScopedPhase span(queue.clock(), Phase::Fft);
        queue.for_range(static_cast<std::size_t>(layout_.points[0]), 1, [&](int thread, std::size_t begin, std::size_t end) {
            for (std::size_t x = begin; x < end; ++x) { body(static_cast<int>(x), work(thread)); }
        });
    };
    for_planes([&](int x, Real* scratch) { mesh::forward_plane(transforms, x, scratch); });
    {
        const ScopedPhase span(queue.clock(), Phase::Solve);
        queue.for_range(line_sums_.size(), 1, [&](int thread, std::size_t begin, std::size_t end) {
            for (std::size_t y = begin; y < end; ++y)
            {
                line_sums_[y] = {};
                mesh::solve(transforms, static_cast<int>(y), work(thread),
                            compute == Compute::ForcesEnergiesVirial ? &line_sums_[y] : nullptr);
            }
        });
    }
    for_planes([&](int x, Real* scratch) { mesh::backward_plane(transforms, x, scratch); });
}

template <class N>
void Mesh<N>::gather(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers)
{
    const ScopedPhase span(queue.clock(), Phase::Gather);
    std::array<double, 3> per_spacing{};
    for (int d = 0; d < 3; ++d)
    {
        per_spacing[static_cast<std::size_t>(d)] = layout_.points[static_cast<std::size_t>(d)] / box_[d];
    }
    queue.for_range(sorted_.size(), cluster_size, [&](int thread, std::size_t begin, std::size_t end) {
        mesh::gather<N>(atoms(state, begin, end), grid_.data(), per_spacing,
                        buffers.forces[static_cast<std::size_t>(thread)].values().data());
    });
}

// E = 1/2 sum_m G |S|^2, its virial, and those of the uniform background of a net charge.
template <class N>
void Mesh<N>::add_energy(EnergySums<N>& energies) const
{
    mesh::LineSums total;
    for (const mesh::LineSums& sums : line_sums_)
    {
        total.energy += sums.energy;
        for (std::size_t e = 0; e < total.virial.size(); ++e) { total.virial[e] += sums.virial[e]; }
    }
    const double background = parameters_.background() / (box_.x * box_.y * box_.z);
    energies.add(EnergyTerm::CoulombReciprocal, total.energy + background);
    constexpr std::size_t element_of[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    for (std::size_t k = 0; k < 9; ++k)
    {
        const double diagonal = k % 4 == 0 ? -0.5 * (total.energy + background) : 0;
        energies.virial[k] += to_sum<ScalarSum<N>>(total.virial[element_of[k]] + diagonal);
    }
}

template <class N>
void Mesh<N>::compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute)
{
    PARHELION_EXPECTS(state.slots() == state.home_slots());
    follow_box(state.box.length());
    spread(queue, state);
    transform(queue, compute);
    gather(queue, state, buffers);
    if (compute == Compute::ForcesEnergiesVirial) { add_energy(buffers.energies[0]); }
}

#define PARHELION_INSTANTIATE(N) template class Mesh<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
