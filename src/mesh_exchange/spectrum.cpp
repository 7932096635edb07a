// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/spectrum.hpp"

#include "trace/phases.hpp"

#include <algorithm>
#include <cstring>

namespace parhelion {

namespace {

constexpr std::size_t header_bytes = 128; // bytes before the spectrum in a message: the flag Charges, padded for alignment

std::size_t range_size(const mesh::PlaneRange& range) { return static_cast<std::size_t>(range.count); }

} // namespace

template <class Real>
MeshSpectrum<Real>::MeshSpectrum(const MeshCut& cut, const mesh::Layout& layout, Communicator& comm, const std::string& label)
    : cut_(cut), layout_(layout), rank_(comm.rank()),
      there_(
          comm, label + " spectrum there", 1,
          [&](int source, int destination) { return message_bytes(cut, layout, source, destination); }, cut.first_mesh_rank),
      back_(
          comm, label + " spectrum back", 1,
          [&](int source, int destination) { return message_bytes(cut, layout, destination, source); }, cut.first_mesh_rank)
{
    const auto here = static_cast<std::size_t>(rank_);
    own_.resize(range_size(cut.planes[here]) * range_size(cut.rows[here]) * layout.spectrum_row());
    planes_.resize(range_size(cut.planes[here]) * static_cast<std::size_t>(layout.points[1]));
    from_.resize(static_cast<std::size_t>(layout.points[0]));
    to_.resize(from_.size());
}

template <class Real>
std::size_t MeshSpectrum<Real>::message_bytes(const MeshCut& cut, const mesh::Layout& layout, int has_planes, int has_rows)
{
    return header_bytes + range_size(cut.planes[static_cast<std::size_t>(has_planes)]) *
                              range_size(cut.rows[static_cast<std::size_t>(has_rows)]) * layout.spectrum_row() * sizeof(Real);
}

template <class Real>
template <class Block>
void MeshSpectrum<Real>::place_planes(Block&& block)
{
    const std::size_t rows_of_plane = static_cast<std::size_t>(layout_.points[1]);
    for (int rank = cut_.first_mesh_rank; rank < cut_.ranks(); ++rank)
    {
        const mesh::PlaneRange& rows = cut_.rows[static_cast<std::size_t>(rank)];
        Real* next = block(rank);
        for (std::size_t plane = 0; plane < range_size(cut_.planes[static_cast<std::size_t>(rank_)]); ++plane)
        {
            for (int row = 0; row < rows.count; ++row, next += layout_.spectrum_row())
            {
                planes_[plane * rows_of_plane + static_cast<std::size_t>(rows.first + row)] = next;
            }
        }
    }
}

template <class Real>
template <class Block>
void MeshSpectrum<Real>::place_rows(Block&& block, std::vector<Real*>& parts) const
{
    const std::size_t of_plane = range_size(cut_.rows[static_cast<std::size_t>(rank_)]) * layout_.spectrum_row();
    for (int rank = cut_.first_mesh_rank; rank < cut_.ranks(); ++rank)
    {
        const mesh::PlaneRange& planes = cut_.planes[static_cast<std::size_t>(rank)];
        Real* next = block(rank);
        for (int plane = 0; plane < planes.count; ++plane, next += of_plane)
        {
            parts[static_cast<std::size_t>(planes.plane(plane, layout_.points[0]))] = next;
        }
    }
}

template <class Real>
std::size_t MeshSpectrum<Real>::payload_bytes(const MeshCut& cut, const mesh::Layout& layout, int rank)
{
    std::size_t bytes = 0;
    for (int peer = cut.first_mesh_rank; peer < cut.ranks(); ++peer)
    {
        if (peer == rank) { continue; }
        bytes += PeerMessages::slot_bytes(message_bytes(cut, layout, peer, rank)) +
                 PeerMessages::slot_bytes(message_bytes(cut, layout, rank, peer));
    }
    return bytes;
}

template <class Real>
Real* MeshSpectrum<Real>::block(int rank, std::byte* slot)
{
    return rank == rank_ ? own_.data() : reinterpret_cast<Real*>(slot + header_bytes);
}

template <class Real>
bool MeshSpectrum<Real>::are_missing_anywhere(Charges here) const
{
    bool are_missing = here == Charges::Missing;
    for (int rank = cut_.first_mesh_rank; rank < cut_.ranks(); ++rank)
    {
        if (rank == rank_) { continue; }
        Charges there;
        std::memcpy(&there, there_.in(rank), sizeof there);
        are_missing = are_missing || there == Charges::Missing;
    }
    return are_missing;
}

template <class Real>
bool MeshSpectrum<Real>::find_potentials(CpuQueue& queue, MeshTransforms<Real>& transforms, Charges charges, Real* grid,
                                         Compute compute)
{
    const auto exchange = [&](PeerMessages& messages, auto&& bytes) {
        const ScopedPhase span(queue.clock(), Phase::MeshExchange);
        messages.publish(bytes);
        messages.await();
    };
    there_.begin();
    for (int rank = cut_.first_mesh_rank; rank < cut_.ranks(); ++rank)
    {
        if (rank != rank_) { std::memcpy(there_.out(rank), &charges, sizeof charges); }
    }
    if (charges == Charges::Here)
    {
        place_planes([&](int rank) { return block(rank, there_.out(rank)); });
        transforms.forward(queue, grid, planes_);
    }
    exchange(there_,
             [&](int rank) { return charges == Charges::Here ? message_bytes(cut_, layout_, rank_, rank) : header_bytes; });
    if (are_missing_anywhere(charges)) { return false; }

    back_.begin();
    place_rows([&](int rank) { return block(rank, there_.in(rank)); }, from_);
    place_rows([&](int rank) { return block(rank, back_.out(rank)); }, to_);
    const auto here = static_cast<std::size_t>(rank_);
    transforms.solve(queue, {cut_.rows[here], cut_.sums[here], {from_.data(), from_.size()}, to_}, compute);
    exchange(back_, [&](int rank) { return message_bytes(cut_, layout_, rank, rank_); });
    place_planes([&](int rank) { return block(rank, back_.in(rank)); });
    transforms.backward(queue, planes_, grid);
    return true;
}

template class MeshSpectrum<float>;
template class MeshSpectrum<double>;

} // namespace parhelion
