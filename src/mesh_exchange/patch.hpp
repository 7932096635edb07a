// SPDX-License-Identifier: Apache-2.0
// Charges from the ranks that have atoms to those that have planes of the grid, and potentials back.
//
// A rank spreads its home atoms on a patch of its own: the planes and rows that they reach, with all points along z. Of this it
// sends every owner of planes the piece that is there, and an owner adds what it gets in the order of ranks. Potentials of the
// same pieces come back. How ranks divide the box and where atoms have strayed does not matter. Cost: a grid as large as the
// patch, and a pass over each piece on either side.
#pragma once

#include "interactions/mesh/mesh.hpp"
#include "mesh_exchange/mesh_cut.hpp"
#include "mesh_exchange/peer_messages.hpp"

#include <optional>
#include <vector>

namespace parhelion {

// The shortest range around `marked.size()` places that holds all marked ones, and `more` places behind; none marked: empty.
mesh::PlaneRange range_of_marked(const std::vector<char>& marked, int more);

enum class Potentials : std::uint8_t
{
    StayThere, // every rank has all planes
    ComeBack
};

template <class N>
class MeshPatch
{
public:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    MeshPatch(const MeshCut& cut, const mesh::Layout& layout, Communicator& comm, Potentials potentials);

    // Spreads home atoms, and adds up the charges of this rank's planes, those of all ranks, in `grid`. Collective.
    void spread(CpuQueue& queue, const ParticleState<N>& state, MeshGrid<N>& grid);
    // Forces of home atoms, `weight` times, from the potentials that all ranks have on their planes. Collective, after spread().
    void gather(CpuQueue& queue, const ParticleState<N>& state, const Real* potentials, int weight, ForceBuffers<N>& buffers);
    // The same forces once more, added to state.f, from the potentials that gather() has brought.
    void gather_again(CpuQueue& queue, int weight, ParticleState<N>& state) const;

    // Of what others send to one rank: bytes of all slots in its arena.
    static std::size_t payload_bytes(const MeshCut& cut, const mesh::Layout& layout, int rank, Potentials potentials);

private:
    // Which part of a patch a message is about.
    struct Extent
    {
        mesh::PlaneRange planes, rows;
    };
    // The planes that an extent has of an owner's: counted as the owner does, and as the extent does.
    struct Piece
    {
        std::vector<int> of_owner, of_extent;
    };
    // A part of a grid [plane][y][row]: what a message holds of it, [plane][row of the extent][row].
    struct Rows
    {
        const std::vector<int>& planes;
        const mesh::PlaneRange& rows;
    };

    static int slots(Potentials potentials) { return potentials == Potentials::StayThere ? 2 : 1; }
    static std::size_t charge_bytes(const MeshCut& cut, const mesh::Layout& layout, int owner);
    static std::size_t potential_bytes(const MeshCut& cut, const mesh::Layout& layout, int owner);
    void find_extent(CpuQueue& queue, const ParticleState<N>& state);
    Piece piece(const Extent& extent, int owner) const;
    template <class T>
    std::size_t pack(CpuQueue& queue, const T* grid, const Rows& part, std::byte* to) const;
    template <class T>
    void unpack(CpuQueue& queue, const std::byte* from, const Rows& part, T* grid) const;
    void take_in();
    void add_up(CpuQueue& queue, MeshGrid<N>& grid) const;

    MeshCut cut_;
    mesh::Layout layout_;
    int rank_;
    PeerMessages charges_;
    std::optional<PeerMessages> potentials_;
    MeshAtoms<N> atoms_;
    AlignedVector<ChargeSum> patch_;                    // [plane][y][row]
    AlignedVector<Real> patch_potentials_;              // likewise
    std::vector<std::vector<char>> marks_;              // [thread]: planes, then rows
    std::vector<std::size_t> bytes_;                    // by rank, of the messages to it
    std::vector<Extent> extents_;                       // by rank
    std::vector<std::vector<const ChargeSum*>> pieces_; // [plane of this rank][rank]: the first of its rows; null: none
};

} // namespace parhelion
