// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/patch.hpp"

#include "trace/phases.hpp"

#include <algorithm>
#include <cstring>

namespace parhelion {

namespace {

constexpr std::size_t extent_bytes = 64; // bytes in front of the charges in a message, so that charges are aligned

std::size_t count_of(const mesh::PlaneRange& range) { return static_cast<std::size_t>(range.count); }

} // namespace

mesh::PlaneRange range_of_marked(const std::vector<char>& marked, int more)
{
    const int places = static_cast<int>(marked.size());
    const auto is_marked = [&](int place) { return marked[static_cast<std::size_t>(place % places)] != 0; };
    const int begin = static_cast<int>(std::find(marked.begin(), marked.end(), 1) - marked.begin());
    if (begin == places) { return {}; }
    // The range excludes the longest stretch of places without a mark.
    int longest = 0, behind = begin, length = 0;
    for (int place = begin + 1; place <= begin + places; ++place)
    {
        length = is_marked(place) ? 0 : length + 1;
        if (length > longest) { longest = length, behind = place; }
    }
    const int count = places - longest;
    return {(behind + 1) % places, std::min(places, count + more)};
}

template <class N>
MeshPatch<N>::MeshPatch(const MeshSetup& setup, const mesh::Layout& layout, Communicator& comm, Potentials potentials)
    : cut_(setup.cut), layout_(layout), rank_(comm.rank()),
      charges_(comm, setup.label + " charges", slots(potentials),
               [&](int, int owner) { return charge_bytes(setup.cut, layout, owner); }),
      atoms_(layout, cut_.order, MeshCharges<N>(setup.parameters)), bytes_(cut_.planes.size()), extents_(cut_.planes.size())
{
    if (potentials == Potentials::ComeBack)
    {
        potentials_.emplace(comm, setup.label + " potentials", slots(potentials),
                            [&](int owner, int) { return potential_bytes(setup.cut, layout, owner); });
    }
}

template <class N>
std::size_t MeshPatch<N>::charge_bytes(const MeshCut& cut, const mesh::Layout& layout, int owner)
{
    return extent_bytes + count_of(cut.planes[static_cast<std::size_t>(owner)]) * layout.plane() * sizeof(ChargeSum);
}
template <class N>
std::size_t MeshPatch<N>::potential_bytes(const MeshCut& cut, const mesh::Layout& layout, int owner)
{
    return count_of(cut.planes[static_cast<std::size_t>(owner)]) * layout.plane() * sizeof(Real);
}

template <class N>
std::size_t MeshPatch<N>::payload_bytes(const MeshCut& cut, const mesh::Layout& layout, int rank, Potentials potentials)
{
    std::size_t bytes = 0;
    for (int peer = 0; peer < cut.ranks(); ++peer)
    {
        if (peer == rank) { continue; }
        bytes += static_cast<std::size_t>(slots(potentials)) * PeerMessages::slot_bytes(charge_bytes(cut, layout, rank));
        if (potentials == Potentials::ComeBack) { bytes += PeerMessages::slot_bytes(potential_bytes(cut, layout, peer)); }
    }
    return bytes;
}

template <class N>
void MeshPatch<N>::find_extent(CpuQueue& queue, const ParticleState<N>& state)
{
    const auto planes = static_cast<std::size_t>(layout_.points[0]), rows = static_cast<std::size_t>(layout_.points[1]);
    marks_.resize(static_cast<std::size_t>(queue.threads()));
    queue.run([&](int thread) {
        std::vector<char>& marks = marks_[static_cast<std::size_t>(thread)];
        marks.assign(planes + rows, 0);
        const auto [begin, end] = queue.range(state.home_slots(), cluster_size, thread);
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (atoms_.charges()(state, slot) == 0) { continue; }
            const auto x = state.x.get(slot);
            marks[static_cast<std::size_t>(mesh_place(x.x, static_cast<std::uint32_t>(planes)).point)] = 1;
            marks[planes + static_cast<std::size_t>(mesh_place(x.y, static_cast<std::uint32_t>(rows)).point)] = 1;
        }
    });
    std::vector<char> of_planes(planes), of_rows(rows);
    for (const std::vector<char>& marks : marks_)
    {
        for (std::size_t i = 0; i < planes; ++i) { of_planes[i] |= marks[i]; }
        for (std::size_t i = 0; i < rows; ++i) { of_rows[i] |= marks[planes + i]; }
    }
    extents_[static_cast<std::size_t>(rank_)] = {range_of_marked(of_planes, cut_.order - 1),
                                                 range_of_marked(of_rows, cut_.order - 1)};
}

template <class N>
auto MeshPatch<N>::piece(const Extent& extent, int owner) const -> Piece
{
    const mesh::PlaneRange& owned = cut_.planes[static_cast<std::size_t>(owner)];
    const int points = layout_.points[0];
    Piece result;
    for (int i = 0; i < owned.count; ++i)
    {
        const int of_extent = extent.planes.from_first(owned.plane(i, points), points);
        if (of_extent < extent.planes.count) { result.of_owner.push_back(i), result.of_extent.push_back(of_extent); }
    }
    return result;
}

template <class N>
template <class T>
std::size_t MeshPatch<N>::pack(CpuQueue& queue, const T* grid, const Rows& part, std::byte* to) const
{
    const std::size_t row_bytes = layout_.row * sizeof(T), rows = count_of(part.rows);
    queue.for_range(part.planes.size(), 1, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p)
        {
            const T* const plane = grid + static_cast<std::size_t>(part.planes[p]) * layout_.plane();
            for (std::size_t row = 0; row < rows; ++row)
            {
                const auto y = static_cast<std::size_t>(part.rows.plane(static_cast<int>(row), layout_.points[1]));
                std::memcpy(to + (p * rows + row) * row_bytes, plane + y * layout_.row, row_bytes);
            }
        }
    });
    return part.planes.size() * rows * row_bytes;
}

template <class N>
template <class T>
void MeshPatch<N>::unpack(CpuQueue& queue, const std::byte* from, const Rows& part, T* grid) const
{
    const std::size_t row_bytes = layout_.row * sizeof(T), rows = count_of(part.rows);
    queue.for_range(part.planes.size(), 1, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p)
        {
            T* const plane = grid + static_cast<std::size_t>(part.planes[p]) * layout_.plane();
            for (std::size_t row = 0; row < rows; ++row)
            {
                const auto y = static_cast<std::size_t>(part.rows.plane(static_cast<int>(row), layout_.points[1]));
                std::memcpy(plane + y * layout_.row, from + (p * rows + row) * row_bytes, row_bytes);
            }
        }
    });
}

template <class N>
void MeshPatch<N>::spread(CpuQueue& queue, const ParticleState<N>& state, MeshGrid<N>& grid)
{
    const Extent& here = extents_[static_cast<std::size_t>(rank_)];
    {
        const ScopedPhase span(queue.clock(), Phase::Spread);
        find_extent(queue, state);
        patch_.resize(count_of(here.planes) * layout_.plane());
        atoms_.sort(queue, state, state.home_clusters(), here.planes);
        atoms_.spread(queue, state, patch_.data());
    }
    const ScopedPhase span(queue.clock(), Phase::MeshExchange);
    charges_.begin();
    for (int owner = 0; owner < cut_.ranks(); ++owner)
    {
        if (owner == rank_) { continue; }
        std::byte* const slot = charges_.out(owner);
        std::memcpy(slot, &here, sizeof here);
        const Piece there = piece(here, owner);
        bytes_[static_cast<std::size_t>(owner)] =
            extent_bytes + pack(queue, patch_.data(), {there.of_extent, here.rows}, slot + extent_bytes);
    }
    charges_.publish([&](int owner) { return bytes_[static_cast<std::size_t>(owner)]; });
    charges_.await();
    take_in();
    add_up(queue, grid);
}

// Sums the charges of this rank's planes, which are in messages and in its own patch.
template <class N>
void MeshPatch<N>::take_in()
{
    pieces_.assign(count_of(cut_.planes[static_cast<std::size_t>(rank_)]), std::vector<const ChargeSum*>(cut_.planes.size()));
    for (int rank = 0; rank < cut_.ranks(); ++rank)
    {
        const auto r = static_cast<std::size_t>(rank);
        const std::byte* const message = rank == rank_ ? nullptr : charges_.in(rank);
        if (message != nullptr) { std::memcpy(&extents_[r], message, sizeof(Extent)); }
        const Piece here = piece(extents_[r], rank_);
        for (std::size_t p = 0; p < here.of_owner.size(); ++p)
        {
            pieces_[static_cast<std::size_t>(here.of_owner[p])][r] =
                message == nullptr
                    ? patch_.data() + static_cast<std::size_t>(here.of_extent[p]) * layout_.plane()
                    : reinterpret_cast<const ChargeSum*>(message + extent_bytes) + p * count_of(extents_[r].rows) * layout_.row;
        }
    }
}

template <class N>
void MeshPatch<N>::add_up(CpuQueue& queue, MeshGrid<N>& grid) const
{
    ChargeSum* const charges = grid.charges();
    queue.for_range(pieces_.size(), 1, [&](int, std::size_t begin, std::size_t end) {
        std::fill(charges + begin * layout_.plane(), charges + end * layout_.plane(), ChargeSum{});
        for (std::size_t plane = begin; plane < end; ++plane)
        {
            ChargeSum* const to = charges + plane * layout_.plane();
            for (std::size_t r = 0; r < cut_.planes.size(); ++r)
            {
                const ChargeSum* const from = pieces_[plane][r];
                if (from == nullptr) { continue; }
                for (int row = 0; row < extents_[r].rows.count; ++row)
                {
                    const auto y = static_cast<std::size_t>(extents_[r].rows.plane(row, layout_.points[1]));
                    // This rank's patch has all rows of the plane. A message has only the rows of its extent.
                    const ChargeSum* const of_row =
                        from + (static_cast<int>(r) == rank_ ? y : static_cast<std::size_t>(row)) * layout_.row;
                    for (std::size_t z = 0; z < layout_.row; ++z) { to[y * layout_.row + z] += of_row[z]; }
                }
            }
        }
        grid.finish_charges(begin * layout_.plane(), end * layout_.plane());
    });
}

template <class N>
void MeshPatch<N>::gather(CpuQueue& queue, const ParticleState<N>& state, const Real* potentials, int weight,
                          ForceBuffers<N>& buffers)
{
    const Extent& here = extents_[static_cast<std::size_t>(rank_)];
    {
        const ScopedPhase span(queue.clock(), Phase::MeshExchange);
        potentials_->begin();
        for (int rank = 0; rank < cut_.ranks(); ++rank)
        {
            if (rank == rank_) { continue; }
            const auto r = static_cast<std::size_t>(rank);
            const Piece there = piece(extents_[r], rank_);
            bytes_[r] = pack(queue, potentials, {there.of_owner, extents_[r].rows}, potentials_->out(rank));
        }
        potentials_->publish([&](int rank) { return bytes_[static_cast<std::size_t>(rank)]; });
        patch_potentials_.resize(patch_.size());
        const Piece own = piece(here, rank_);
        for (std::size_t p = 0; p < own.of_owner.size(); ++p)
        {
            const Real* const plane = potentials + static_cast<std::size_t>(own.of_owner[p]) * layout_.plane();
            std::copy(plane, plane + layout_.plane(),
                      patch_potentials_.begin() +
                          static_cast<std::ptrdiff_t>(own.of_extent[p]) * static_cast<std::ptrdiff_t>(layout_.plane()));
        }
        potentials_->await();
        for (int owner = 0; owner < cut_.ranks(); ++owner)
        {
            if (owner == rank_) { continue; }
            unpack(queue, potentials_->in(owner), {piece(here, owner).of_extent, here.rows}, patch_potentials_.data());
        }
    }
    const ScopedPhase span(queue.clock(), Phase::Gather);
    atoms_.gather(queue, state, patch_potentials_.data(), weight, buffers);
}

template <class N>
void MeshPatch<N>::gather_again(CpuQueue& queue, int weight, ParticleState<N>& state) const
{
    const ScopedPhase span(queue.clock(), Phase::Gather);
    atoms_.gather(queue, state, patch_potentials_.data(), weight, state.f);
}

#define PARHELION_INSTANTIATE(N) template class MeshPatch<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
