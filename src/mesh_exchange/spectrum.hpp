// SPDX-License-Identifier: Apache-2.0
// Sends spectra from the ranks with planes to the ranks that solve rows, and back. These are the
// two halves of a transposition. In each half every rank sends a message to every other rank.
//
// Transforms write directly into the messages and read from them. A message from one rank to another holds the sender's
// planes of the receiver's rows, [plane][row], with rows as in mesh_kernels.hpp. The message back has the same layout.
// The part that stays on a rank is in an array of this shape. Only ranks with a part of the mesh construct this object.
#pragma once

#include "interactions/mesh/mesh_transforms.hpp"
#include "mesh_exchange/mesh_cut.hpp"
#include "mesh_exchange/peer_messages.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace parhelion {

// Says whether a rank has all charges of its planes.
enum class Charges : std::uint8_t
{
    Here,
    Missing
};

template <class Real>
class MeshSpectrum
{
public:
    // label: of the mesh, unique among the meshes of a run
    MeshSpectrum(const MeshCut& cut, const mesh::Layout& layout, Communicator& comm, const std::string& label);

    // Replaces the charges on this rank's planes, in `grid`, by potentials. If charges are missing on any rank, all
    // ranks return false and nothing is done; an exchange of another kind must then precede the next call. Collective.
    bool find_potentials(CpuQueue& queue, MeshTransforms<Real>& transforms, Charges charges, Real* grid, Compute compute);

    // Returns the bytes that the slots of all messages to `rank` take in its arena.
    static std::size_t payload_bytes(const MeshCut& cut, const mesh::Layout& layout, int rank);

private:
    // Returns the bytes of a message between a rank with planes and a rank that solves rows; both directions have the same.
    static std::size_t message_bytes(const MeshCut& cut, const mesh::Layout& layout, int has_planes, int has_rows);
    // Set the addresses of the rows of this rank's planes, and of the rows that it solves.
    // block(rank) returns the address of the first number of another rank's block.
    template <class Block>
    void place_planes(Block&& block);
    template <class Block>
    void place_rows(Block&& block, std::vector<Real*>& parts) const;
    // Returns the address of the first number of the block that is sent to, or received from, a rank.
    Real* block(int rank, std::byte* slot);
    bool are_missing_anywhere(Charges here) const;

    MeshCut cut_;
    mesh::Layout layout_;
    int rank_;
    PeerMessages there_, back_;
    AlignedVector<Real> own_;      // the part that stays here: [plane][row] of this rank's planes and rows
    std::vector<Real*> planes_;    // [plane][y]: address of each row
    std::vector<Real*> from_, to_; // [x]: solved rows in received messages, in messages back
};

} // namespace parhelion
