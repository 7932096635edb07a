// SPDX-License-Identifier: Apache-2.0
// Spectra from the ranks that have planes to those that solve rows, and back: the two halves of a transposition, each a message
// to every other rank.
//
// Transforms store straight into the messages, and are read from them: a message from one rank to another is the sender's planes
// of the receiver's rows, [plane][row], each row as in mesh_kernels.hpp; back it is the same. What stays on a rank lies in an
// array of the same shape. Only ranks that have a part of the mesh make one.
#pragma once

#include "interactions/mesh/mesh_transforms.hpp"
#include "mesh_exchange/mesh_cut.hpp"
#include "mesh_exchange/peer_messages.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// Does a rank have the charges of its planes?
enum class Charges : std::uint8_t
{
    Here,
    Missing
};

template <class Real>
class MeshSpectrum
{
public:
    MeshSpectrum(const MeshCut& cut, const mesh::Layout& layout, Communicator& comm);

    // From charges on this rank's planes, in `grid`, to potentials there. If charges are missing on any rank, all return false
    // with nothing done; another exchange than this one must then come before the next call. Collective.
    bool find_potentials(CpuQueue& queue, MeshTransforms<Real>& transforms, Charges charges, Real* grid, Compute compute);

    // Of what others send to one rank: bytes of all slots in its arena.
    static std::size_t payload_bytes(const MeshCut& cut, const mesh::Layout& layout, int rank);

private:
    // Bytes of the messages between one who has planes and one who solves rows, either way.
    static std::size_t message_bytes(const MeshCut& cut, const mesh::Layout& layout, int has_planes, int has_rows);
    // Where the spectrum of this rank's planes is, and of the rows that it solves, with the blocks of other ranks wherever
    // `block` says: (rank) -> first number.
    template <class Block>
    void place_planes(Block&& block);
    template <class Block>
    void place_rows(Block&& block, std::vector<Real*>& parts) const;
    // The first number of the block from or to a rank.
    Real* block(int rank, std::byte* slot);
    bool are_missing_anywhere(Charges here) const;

    MeshCut cut_;
    mesh::Layout layout_;
    int rank_;
    PeerMessages there_, back_;
    AlignedVector<Real> own_;      // [plane][row] of this rank's planes and rows
    std::vector<Real*> planes_;    // [plane][y]
    std::vector<Real*> from_, to_; // [x]
};

} // namespace parhelion
